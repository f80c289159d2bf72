"""`manage.py mcp_prune`: remove old rows of the log (contract A07)."""

import dataclasses
import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from mcp_server.management.base import ToolkitCommand
from mcp_server.policy.retention import Pruning, Retention


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
        parser.add_argument("--days", type=int, dest="keep_days", help="age of successes, in days")
        parser.add_argument(
            "--failed-days", type=int, dest="keep_failed_days", help="age of everything else, in days"
        )
        parser.add_argument(
            "--max-rows", type=int, dest="max_rows", help="newest rows kept, of runs and of calls each"
        )
        parser.add_argument("--batch", type=int, default=1000, help="rows removed by one statement (1000)")
        parser.add_argument("--dry-run", action="store_true", help="only say how many rows would go")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, batch: int, dry_run: bool, json: bool, **options: Any) -> None:
        given = {
            name: options[name]
            for name in ("keep_days", "keep_failed_days", "max_rows")
            if options[name] is not None
        }
        if batch < 1 or any(value < 0 for value in given.values()):
            raise CommandError("Ages and numbers of rows cannot be negative, and --batch must be at least 1.")
        retention = dataclasses.replace(Retention.from_settings(), **given)
        pruning = Pruning(retention=retention, batch=batch)
        pruned = pruning.count() if dry_run else pruning.run()
        self.stdout.write(self._described(pruned, dry_run=dry_run, as_json=json))

    def _described(self, pruned: Any, *, dry_run: bool, as_json: bool) -> str:
        if as_json:
            return json.dumps({"runs": pruned.runs, "calls": pruned.calls, "dry_run": dry_run})
        verb = "Would remove" if dry_run else "Removed"
        return f"{verb} {pruned.runs} code runs and {pruned.calls} tool calls."
