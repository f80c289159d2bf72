"""`manage.py mcp_run`: run a program as a user, as the `code` tool would."""

import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from mcp_server import codemode
from mcp_server.codemode.result import ProgramResult
from mcp_server.management.base import FAILED, ToolkitCommand, counted, find_user, require_endpoint


class Command(ToolkitCommand):
    help = (
        "Run a program as a user and print its value; console and cost go to stderr. Exit code 3: it failed."
    )
    examples = """  manage.py mcp_run -c 'return (await codemode.list_users()).length' --user ada
  manage.py mcp_run report.ts --user ada --endpoint code --json
  cat report.js | manage.py mcp_run - --user ada
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", nargs="?", help="a file with the program, or - to read it from stdin")
        parser.add_argument("-c", "--code", help="the program itself")
        self.add_caller_arguments(parser)

    def handle(self, *args: Any, file: str | None, code: str | None, **options: Any) -> None:
        endpoint = require_endpoint(options["endpoint"])
        result = codemode.run(_read(file, code), user=find_user(options["user"]), endpoint=endpoint)
        codemode.shutdown()
        if options["json"]:
            self.write_json(_described(result))
        else:
            self._write(result)
        if not result.ok:
            raise CommandError(_explain(result), returncode=FAILED)

    def _write(self, result: ProgramResult) -> None:
        for entry in result.logs:
            self.stderr.write(f"{entry.level}: {entry.text}")
        for warning in result.warnings:
            self.stderr.write(f"warning: {warning}")
        calls = result.succeeded.total() + result.failed.total()
        self.stderr.write(
            f"{counted(calls, 'call')}, {result.wall_ms:.0f} ms, of them {result.cpu_ms:.0f} ms on the processor,"
            f" {result.peak_memory_mb:.0f} MB at most"
        )
        if result.value is not None:
            self.stdout.write(json.dumps(json.loads(result.value), indent=2, ensure_ascii=False))


def _read(file: str | None, code: str | None) -> str:
    if (file is None) == (code is None):
        raise CommandError("Give either a file or -c with the program.")
    if code is not None:
        return code
    if file == "-":
        return sys.stdin.read()
    try:
        return Path(str(file)).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise CommandError(f"{file} cannot be read: {error}") from error


def _explain(result: ProgramResult) -> str:
    error = result.error
    if error is None:
        return f"The run ended: {result.status} {result.limit}".strip()
    place = f" (line {error.line}, column {error.column})" if error.line else ""
    return f"{error.name or error.kind}: {error.message}{place}"


def _described(result: ProgramResult) -> dict[str, Any]:
    names = ("run_id", "status", "limit", "cpu_ms", "wall_ms", "queue_ms", "peak_memory_mb")
    return {
        **{name: getattr(result, name) for name in names},
        "value": None if result.value is None else json.loads(result.value),
        "dropped": result.value_dropped,
        "error": None if result.error is None else dataclasses.asdict(result.error),
        "console": [dataclasses.asdict(entry) for entry in result.logs],
        "warnings": list(result.warnings),
        "calls": dict(result.succeeded + result.failed),
    }
