"""What `manage.py mcp_doctor` looks at; each module a part of the site."""

from collections.abc import Callable, Iterator

from mcp_server.management.doctor import project, surroundings, trials
from mcp_server.management.doctor.finding import Finding

Examination = Callable[[], Iterator[Finding]]

EXAMINATIONS: tuple[Examination, ...] = (
    project.check_definitions,
    project.check_database,
    project.check_tokens,
    project.check_clock,
    project.check_static_files,
    surroundings.check_servers,
    surroundings.check_cache,
    surroundings.check_channel_layer,
    trials.try_call,
    trials.try_run,
    surroundings.check_memory,
)

__all__ = ["EXAMINATIONS", "Examination", "Finding"]
