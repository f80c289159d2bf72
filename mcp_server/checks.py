"""System checks: all that is wrong with settings and definitions, at once, each with what to do (contract T21)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import packages_distributions
from typing import Any

from django.apps import AppConfig
from django.apps import apps as installed
from django.conf import settings
from django.core import checks
from django.utils.module_loading import import_string

from mcp_server import conf
from mcp_server.codemode.examination import examine_code_mode
from mcp_server.codemode.names import CODE, SEARCH
from mcp_server.definitions.examination import examine
from mcp_server.definitions.registry import Contents, registry
from mcp_server.exceptions import ConfigurationError
from mcp_server.policy.rates import DEFAULT, Rate

TAG = "mcp_toolkit"


def register() -> None:
    """Register the checks with Django."""
    checks.register(check_settings, TAG)
    checks.register(check_definitions, TAG)
    checks.register(check_rates, TAG)
    checks.register(check_distributions, TAG)


def _as_error(problem: ConfigurationError, number: str) -> checks.CheckMessage:
    where = f"{problem.where}: " if problem.where else ""
    return checks.Error(f"{where}{problem.message}", hint=problem.hint or None, id=f"{TAG}.{number}")


def check_settings(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[checks.CheckMessage]:
    """Return what is wrong with `MCP_SERVER`."""
    return [_as_error(problem, "E001") for problem in [*conf.problems(), *_dead_names()]]


def _dead_names() -> Iterator[ConfigurationError]:
    """Yield the settings that name what is not there; Django's apps must be loaded to know."""
    options = conf.options()
    for key, paths in (
        ("AUTHENTICATION", options.authentication),
        ("THREAD_CONTEXT", [options.thread_context]),
    ):
        for path in filter(None, paths):
            try:
                import_string(path)
            except ImportError as error:
                yield ConfigurationError(
                    f"MCP_SERVER[{key!r}] names {path!r}, which cannot be imported: {error}",
                    "Write the dotted path of something that exists.",
                )
    if options.cache not in settings.CACHES:
        yield ConfigurationError(
            f"MCP_SERVER['CACHE'] names {options.cache!r}, which is not in CACHES.",
            f"The caches are {', '.join(settings.CACHES)}.",
        )
    apps = {name for config in installed.get_app_configs() for name in (config.name, config.label)}
    for name in options.autodiscover if isinstance(options.autodiscover, tuple) else ():
        if name not in apps:
            yield ConfigurationError(
                f"MCP_SERVER['AUTODISCOVER'] names {name!r}, which is no installed app.",
                "Write names or labels of INSTALLED_APPS.",
            )


def _contents() -> Contents:
    # A look that leaves the registry as it was: `check` runs before the first request freezes it.
    with registry.isolated() as fresh:
        return fresh.contents


def check_definitions(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[checks.CheckMessage]:
    """Return what is wrong with tools, resources, prompts and endpoints, and what is doubtful."""
    messages = [_as_error(problem, "E002") for problem in registry.broken]
    contents = _contents()
    messages += [_as_error(problem, "E003") for problem in contents.problems]
    for finding in (*examine(contents), *examine_code_mode(contents)):
        kind = checks.Error if finding.number.startswith("E") else checks.Warning
        where = f"{finding.where}: " if finding.where else ""
        messages.append(
            kind(f"{where}{finding.message}", hint=finding.hint or None, id=f"{TAG}.{finding.number}")
        )
    return messages


def check_rates(app_configs: Sequence[AppConfig] | None, **kwargs: Any) -> list[checks.CheckMessage]:
    """Return what is wrong with `RATE_LIMITS`, and with the cache that counts for it (contract G08)."""
    limits, cache = conf.options().rate_limits, conf.options().cache
    found = list(_unreadable_rates(limits))
    if not limits or cache not in settings.CACHES:
        return found
    backend = settings.CACHES[cache]["BACKEND"].rsplit(".", 1)[-1]
    if backend == "DummyCache":
        hint = "Set MCP_SERVER['CACHE'] to the alias of a cache that all processes share, such as Redis."
        found.append(
            checks.Error(
                f"RATE_LIMITS limit nothing: the cache {cache!r} keeps nothing.", hint=hint, id=f"{TAG}.E011"
            )
        )
    if backend == "LocMemCache":
        hint = "Set MCP_SERVER['CACHE'] to a cache that all processes share, or silence this with a single process."
        found.append(
            checks.Warning(
                f"RATE_LIMITS count per process: the cache {cache!r} is in the memory of each.",
                hint=hint,
                id=f"{TAG}.W007",
            )
        )
    return found


def _unreadable_rates(limits: Mapping[str, str]) -> Iterator[checks.CheckMessage]:
    tools = {name for endpoint in _contents().endpoints.values() for name in endpoint.tools}
    for name, rate in limits.items():
        try:
            Rate.parse(rate)
        except ValueError as error:
            yield checks.Error(f"MCP_SERVER['RATE_LIMITS'][{name!r}]: {error}", id=f"{TAG}.E012")
        if name not in {DEFAULT, CODE, SEARCH, *tools}:
            yield checks.Warning(
                f"MCP_SERVER['RATE_LIMITS'] has a rate for {name!r}, and no endpoint has a tool of that name.",
                hint=f"Write {DEFAULT!r} or the name of a tool, as `manage.py mcp_tools` prints it.",
                id=f"{TAG}.W008",
            )


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
