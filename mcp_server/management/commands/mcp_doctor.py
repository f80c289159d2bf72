"""`manage.py mcp_doctor`: look at all that MCP needs here, and try one call and one run."""

import dataclasses
from typing import Any

from django.core.management.base import CommandError, CommandParser

from mcp_server.management.base import FAILED, ToolkitCommand
from mcp_server.management.doctor import EXAMINATIONS, Examination, Finding

MARKS = {"ok": "ok", "note": "note", "warning": "WARNING", "problem": "PROBLEM"}


class Command(ToolkitCommand):
    help = (
        "Look at settings, database, cache, channel layer, sandbox and more, and try one call and one run."
        " Exit code 3: there is a problem, or with --strict a warning."
    )
    examples = """  manage.py mcp_doctor
  manage.py mcp_doctor --strict --json
"""
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--strict", action="store_true", help="count warnings as problems")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, strict: bool, **options: Any) -> None:
        findings = [finding for examine in EXAMINATIONS for finding in _findings(examine)]
        if options["json"]:
            self.write_json([dataclasses.asdict(finding) for finding in findings])
        else:
            for finding in findings:
                self._write(finding)
        grave = {"problem", "warning"} if strict else {"problem"}
        count = sum(finding.level in grave for finding in findings)
        if count:
            raise CommandError(f"{count} to mend.", returncode=FAILED)
        if not options["json"]:
            self.stdout.write("Nothing to mend.")

    def _write(self, finding: Finding) -> None:
        self.stdout.write(f"{MARKS[finding.level]:<8} {finding.subject:<14} {finding.text}")
        if finding.advice:
            self.stdout.write(f"{'':<24}{finding.advice}")


def _findings(examine: Examination) -> list[Finding]:
    try:
        return list(examine())
    except Exception as error:  # noqa: BLE001 - one part that is broken, such as a missing table, hides no other
        subject = examine.__name__.partition("_")[2].replace("_", " ")
        return [Finding("problem", subject, f"cannot be examined: {type(error).__name__}: {error}")]
