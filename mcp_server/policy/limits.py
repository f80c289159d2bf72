"""Which limits hold for a run: setting, then the admin's row, never above the ceiling (contract C13, A01)."""

from dataclasses import dataclass


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
