"""`manage.py mcp_prune`: remove old rows of the log (contract A07)."""

import dataclasses
from typing import Any

from django.core.management.base import CommandParser

from mcp_server.management.base import ToolkitCommand, counted, whole_number
from mcp_server.policy.retention import Pruning, Retention

RETENTION = ("keep_days", "keep_failed_days", "max_rows")
MOST_DAYS = 36_500
MOST_ROWS = 10**12


class Command(ToolkitCommand):
    help = (
        "Remove code runs and tool calls that are past their age, and the oldest above a number of rows. Without options "
        "the ages are those of MCP_SERVER['LOG'], and of the admin for an endpoint that has its own."
    )
    examples = """  manage.py mcp_prune --dry-run
  manage.py mcp_prune --days 7 --failed-days 60
  manage.py mcp_prune --max-rows 1000000 --json
"""

    def add_arguments(self, parser: CommandParser) -> None:
        days, rows = whole_number(0, MOST_DAYS), whole_number(0, MOST_ROWS)
        parser.add_argument(
            "--days", type=days, dest="keep_days", metavar="DAYS", help="age of successes, in days"
        )
        parser.add_argument(
            "--failed-days",
            type=days,
            dest="keep_failed_days",
            metavar="DAYS",
            help="age of everything else, in days",
        )
        parser.add_argument(
            "--max-rows",
            type=rows,
            dest="max_rows",
            metavar="ROWS",
            help="newest rows kept, of runs and of calls each",
        )
        parser.add_argument(
            "--batch",
            type=whole_number(1, MOST_ROWS),
            default=1000,
            metavar="ROWS",
            help="rows removed by one statement (1000)",
        )
        parser.add_argument("--dry-run", action="store_true", help="only say how many rows would go")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, batch: int, dry_run: bool, **options: Any) -> None:
        given = {name: options[name] for name in RETENTION if options[name] is not None}
        retention = dataclasses.replace(Retention.from_settings(), **given)
        pruning = Pruning(retention=retention, batch=batch)
        pruned = pruning.count() if dry_run else pruning.run()
        if options["json"]:
            self.write_json({"runs": pruned.runs, "calls": pruned.calls, "dry_run": dry_run})
        else:
            verb = "Would remove" if dry_run else "Removed"
            runs, calls = counted(pruned.runs, "code run"), counted(pruned.calls, "tool call")
            self.stdout.write(f"{verb} {runs} and {calls}.")
