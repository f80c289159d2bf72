"""Which limits hold for a run: setting, then the admin's row, never above the ceiling (contract C13, A01)."""

from dataclasses import dataclass
from typing import Literal

from mcp_server.conf import LIMIT_FIELDS, options
from mcp_server.models import Limits as Row
from mcp_server.policy.rows import row

Source = Literal["default", "setting", "row", "ceiling", "pinned"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of one run of code. Names and units are those of `conf.LIMIT_FIELDS`."""

    memory_limit_mb: int = 64
    cpu_time_limit_ms: int = 10_000
    wall_time_limit_ms: int = 60_000
    max_result_bytes: int = 102_400
    max_request_bytes: int = 1_048_576
    max_tool_response_bytes: int = 1_048_576
    max_tool_calls: int = 200
    max_log_entries: int = 200
    max_code_bytes: int = 262_144
    max_concurrent_runs: int = 2
    max_queue_ms: int = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSource:
    """Where one limit comes from: its effective value, what decided it, and what holds when staff leave it blank."""

    name: str
    value: int
    source: Source
    default: int
    inherited: int
    ceiling: int
    minimum: int
    unit: str
    pinned: bool


def effective_limits(endpoint_name: str) -> Limits:
    """Return the limits of the next run on this endpoint; reads the admin's row from the database."""
    return Limits(**{item.name: item.value for item in limit_sources(endpoint_name)})


def limit_sources(endpoint_name: str) -> list[LimitSource]:
    """Return every limit of an endpoint with its origin, in the order of `LIMIT_FIELDS`."""
    return sources_of(row(endpoint_name))


def sources_of(found: Row | None) -> list[LimitSource]:
    """Return every limit with its origin, given the admin's row or None."""
    return [_source(name, None if found is None else getattr(found, name)) for name in LIMIT_FIELDS]


def ceiling(name: str) -> int:
    """Return the highest value that staff may set; a project lowers ours and cannot raise it."""
    hard = LIMIT_FIELDS[name].ceiling
    return min(hard, options().limit_ceilings.get(name, hard))


def _source(name: str, stored: int | None) -> LimitSource:
    field, setting = LIMIT_FIELDS[name], options().limits.get(name)
    top, pinned = ceiling(name), name in options().limits_pinned
    inherited = field.default if setting is None else setting
    wanted = inherited if stored is None or pinned else stored
    source: Source = "default" if setting is None else "setting"
    if pinned:
        source = "pinned"
    elif stored is not None:
        source = "row"
    # A value from another day, or from another hand than the form's, is held to the limits of today.
    value = min(max(wanted, field.minimum), top)
    return LimitSource(
        name=name,
        value=value,
        source="ceiling" if wanted > top else source,
        default=field.default,
        inherited=min(max(inherited, field.minimum), top),
        ceiling=top,
        minimum=field.minimum,
        unit=field.unit,
        pinned=pinned,
    )
