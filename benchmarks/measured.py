"""Writes docs/measured.md: what each benchmark printed, in one run on one machine, without that machine's own times.

    python -m benchmarks.measured [WORDS]

With words, only the benchmarks whose command holds one of them are run again; the others keep what the page says.
"""

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "measured.md"
SECTIONS = (
    (
        "One program in place of many calls",
        "round_trips",
        "The demo's task of reminding everybody who is late.",
    ),
    ("Tokens", "catalog", "What a model reads before it does anything, as a plain list and in Code Mode."),
    (
        "Runs of code",
        "sandbox",
        "What a run, an inner call and a large value cost, beside Python doing the same.",
    ),
    (
        "Many tools",
        "tools",
        "Listing and calling at 10, 100 and 500 tools, as ratios to a plain Django view.",
    ),
    ("The log", "log cost", "Calls per second of the processor with the log, of those without."),
    (
        "Several processes",
        "scale",
        "Programs per second of one web process and of three behind a balancer, eight clients.",
    ),
    ("The wire", "protocol --seconds 1 --rounds 2", "Requests per second, as ratios to a plain Django view."),
)
OF_THE_MACHINE = {"found", "ms at the server", "1 process", "3 processes"}
"""Columns that hold times and rates, which mean nothing on another machine."""
HEAD = """<!-- Written by `python -m benchmarks.measured`. -->

# What we measured

Ratios only: times belong to a machine, and the commands print yours. All numbers of one table come from one run, on two
cores. What is called a target is our own promise; those that are missed say so here, and stand in `tests/contract/Q.txt`.
"""


def run(command: str) -> str:
    """Return what a benchmark printed."""
    print(command, flush=True)
    done = subprocess.run(
        [sys.executable, "-m", *f"benchmarks.{command}".split()],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return without_times(done.stdout.strip())


def without_times(text: str) -> str:
    """Return the text without the columns of its tables, and the remarks in brackets, that hold times."""
    lines, kept_columns = [], []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if cells and not kept_columns:
            kept_columns = [number for number, cell in enumerate(cells) if cell not in OF_THE_MACHINE]
        if not cells:
            kept_columns = []
        shown = [cells[number] for number in kept_columns]
        # A row that had nothing but a time.
        if not cells or len(shown) < 3 or any(shown[1:]):
            lines.append(f"| {' | '.join(shown)} |" if cells else line)
    return re.sub(r" \([\d.]+ m?s( here)?\)", "", "\n".join(lines))


def kept() -> dict[str, str]:
    """Return what the page says now, by command."""
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    return dict(re.findall(r"```console\npython -m benchmarks\.(.+)\n```\n\n```text\n((?:.*\n)*?)```", text))


def main() -> None:
    """Run the chosen benchmarks and write the page."""
    old, parts = kept(), [HEAD]
    for title, command, sentence in SECTIONS:
        chosen = not sys.argv[1:] or any(word in command for word in sys.argv[1:])
        said = run(command) if chosen else old.get(command, "").strip()
        if said:
            shown = f"```console\npython -m benchmarks.{command}\n```\n\n```text\n{said}\n```"
            parts.append(f"## {title}\n\n{sentence}\n\n{shown}\n")
    PAGE.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
