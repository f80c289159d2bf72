"""What a run of code costs: through MCP, in one process beside the dispatcher, and over thousands of runs (contract Q01-Q04, Q07).

    python -m benchmarks.sandbox              every number beside its target
    python -m benchmarks.sandbox --check      and an exit of 1 where one is missed by more than the noise allowance
    python -m benchmarks.sandbox --runs 5000  and a soak of so many runs of mixed kinds at 8 clients

The tools of these runs do next to nothing, so that what is measured is ours: the process boundary, V8 and the wire.
"""

import argparse
import asyncio
import os
import sys
import tempfile

from benchmarks.sandbox_runs import measure_runs, settle
from benchmarks.sandbox_served import measure_served
from benchmarks.sandbox_soak import soak
from benchmarks.served import make_database
from benchmarks.targets import Report


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=0, help="runs of the soak")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each rate is measured")
    parser.add_argument("--check", action="store_true", help="exit with 1 when a target is missed")
    given = parser.parse_args()
    report = Report()
    print(f"Load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", file=sys.stderr)
    measure_served(report, given.seconds)
    with tempfile.TemporaryDirectory() as folder:
        settle(make_database(folder))
        asyncio.run(measure_runs(report))
        if given.runs:
            asyncio.run(soak(given.runs))
    print(f"\nMissed: {'; '.join(report.missed) or 'none'}.")
    print(f"Load after: {os.getloadavg()[0]:.1f}", file=sys.stderr)
    return 1 if given.check and report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
