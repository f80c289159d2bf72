"""System checks: all that is wrong with settings and definitions, at once, each with what to do (contract T21)."""

from collections.abc import Iterable, Sequence
from importlib.metadata import packages_distributions
from typing import Any

from django.apps import AppConfig
from django.core import checks

from mcp_server import conf
from mcp_server.definitions.examination import examine
from mcp_server.definitions.registry import registry
from mcp_server.exceptions import ConfigurationError

TAG = "mcp_toolkit"


def register() -> None:
    """Register the checks with Django."""
    checks.register(check_settings, TAG)
    checks.register(check_definitions, TAG)
    checks.register(check_distributions, TAG)


def _as_error(problem: ConfigurationError, number: str) -> checks.CheckMessage:
    where = f"{problem.where}: " if problem.where else ""
    return checks.Error(f"{where}{problem.message}", hint=problem.hint or None, id=f"{TAG}.{number}")


def check_settings(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[checks.CheckMessage]:
    """Return what is wrong with `MCP_SERVER`."""
    return [_as_error(problem, "E001") for problem in conf.problems()]


def check_definitions(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[checks.CheckMessage]:
    """Return what is wrong with tools, resources, prompts and endpoints, and what is doubtful."""
    messages = [_as_error(problem, "E002") for problem in registry.broken]
    with registry.isolated() as fresh:
        # A look that leaves the registry as it was: `check` runs before the first request freezes it.
        contents = fresh.contents
    messages += [_as_error(problem, "E003") for problem in contents.problems]
    for finding in examine(contents):
        kind = checks.Error if finding.number.startswith("E") else checks.Warning
        where = f"{finding.where}: " if finding.where else ""
        messages.append(
            kind(f"{where}{finding.message}", hint=finding.hint or None, id=f"{TAG}.{finding.number}")
        )
    return messages


def check_distributions(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[checks.CheckMessage]:
    """Return the other distributions that install the same import names: files of one overwrite the other's."""
    installed = packages_distributions()
    return [
        *_clashes(installed.get("mcp_server", ()), "mcp_server", "django-mcp-toolkit", "E004"),
        *_clashes(installed.get("py_mini_racer", ()), "py_mini_racer", "mini-racer", "E005"),
    ]


def _clashes(found: Iterable[str], package: str, ours: str, number: str) -> list[checks.CheckMessage]:
    others = sorted({name for name in found if name.lower().replace("_", "-") != ours})
    if not others:
        return []
    return [
        checks.Error(
            f"{', '.join(others)} also installs the package {package}.",
            hint=f"Uninstall {', '.join(others)}, then install {ours} again.",
            id=f"{TAG}.{number}",
        )
    ]
