"""One call and one run, as a user who may do everything would make them."""

from collections.abc import Iterator
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib.auth import get_user_model

from mcp_server import codemode
from mcp_server.calls.caller import enter_as
from mcp_server.calls.dispatcher import call_tool, visible_tools
from mcp_server.codemode.confinement import missing_confinement
from mcp_server.codemode.executor import workers
from mcp_server.codemode.hindrance import known_hindrance
from mcp_server.definitions.endpoint import DEFAULT
from mcp_server.definitions.tool import ToolDefinition
from mcp_server.management.doctor.finding import Finding


def _somebody() -> Any:
    return get_user_model()._default_manager.filter(is_active=True, is_superuser=True).order_by("pk").first()


def try_call() -> Iterator[Finding]:
    """Call the first tool that only reads and needs no arguments."""
    user = _somebody()
    if user is None:
        yield Finding("note", "call", "not tried: there is no active superuser to call as")
        return
    yield async_to_sync(_call)(user)


async def _call(user: Any) -> Finding:
    caller = await enter_as(user, DEFAULT)
    harmless = [item for item in await visible_tools(caller) if _is_harmless(item)]
    if not harmless:
        return Finding("note", "call", "not tried: no tool only reads and needs no arguments")
    name = harmless[0].name
    outcome = await call_tool(caller, name, {})
    if outcome.is_error:
        text = outcome.failure.text if outcome.failure else outcome.guidance
        return Finding("problem", "call", f"{name} failed: {text}", "Look at the log.")
    return Finding(
        "ok", "call", f"{name} answered {len(outcome.json or b''):,} bytes to {user.get_username()}"
    )


def _is_harmless(item: ToolDefinition) -> bool:
    reads = item.annotations is not None and item.annotations.read_only is True
    return reads and not item.arguments.json_schema.get("required")


def try_run() -> Iterator[Finding]:
    """Run a program, and say how its worker is confined."""
    result = codemode.run("return 6 * 7", user=_somebody())
    if not result.ok or result.value != "42":
        reason = result.error.message if result.error else result.status
        advice = known_hindrance() or "Look at the log of mcp_server.sandbox."
        yield Finding("problem", "code run", f"it failed: {reason}", advice[0].upper() + advice[1:])
        return
    yield Finding(
        "ok",
        "code run",
        f"6 * 7 = {result.value}, started and run in {result.queue_ms + result.wall_ms:.0f} ms",
    )
    for worker in workers():
        yield _judge(worker.confinement)
    codemode.shutdown()


def _judge(report: dict[str, Any]) -> Finding:
    """Read what a worker told of itself."""
    missing = missing_confinement(report)
    if missing:
        advice = "Programs could do more than they should; see the security page."
        return Finding("warning", "confinement", f"does not hold: {'; '.join(missing)}", advice)
    return Finding("ok", "confinement", f"holds: {', '.join(report['measures'])}")
