"""The `MCP_SERVER` setting as one frozen, typed object, read when first asked for."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from django.conf import settings
from django.core.signals import setting_changed

from mcp_server.exceptions import ConfigurationError

SETTING = "MCP_SERVER"


@dataclass(frozen=True, slots=True)
class LimitField:
    """One limit: its default, the highest value that a project may allow, and its unit."""

    default: int
    ceiling: int
    unit: str
    minimum: int = 1


_MIB = 1024 * 1024

LIMIT_FIELDS: Mapping[str, LimitField] = MappingProxyType(
    {
        "memory_limit_mb": LimitField(64, 512, "MB", minimum=8),
        "cpu_time_limit_ms": LimitField(10_000, 60_000, "ms", minimum=10),
        "wall_time_limit_ms": LimitField(60_000, 230_000, "ms", minimum=10),
        "max_result_bytes": LimitField(102_400, 8 * _MIB, "bytes", minimum=64),
        "max_request_bytes": LimitField(_MIB, 8 * _MIB, "bytes", minimum=64),
        "max_tool_response_bytes": LimitField(_MIB, 8 * _MIB, "bytes", minimum=64),
        "max_tool_calls": LimitField(200, 10_000, "calls", minimum=0),
        "max_log_entries": LimitField(200, 2_000, "entries", minimum=0),
        "max_code_bytes": LimitField(262_144, _MIB, "bytes", minimum=64),
        "max_concurrent_runs": LimitField(2, 16, "runs per web process"),
        "max_queue_ms": LimitField(5_000, 30_000, "ms", minimum=0),
    }
)
"""The limits of design section 4, in the order in which people read them (contract C13)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxOptions:
    """How workers are started (contract S13).

    `command` is put before the worker's own command line, `python` names the interpreter where `sys.executable` is not one,
    `require_confinement` refuses to run code without Landlock and seccomp, `jitless` keeps V8 from making machine code.
    """

    command: tuple[str, ...] = ()
    python: str | None = None
    require_confinement: bool = False
    jitless: bool = True
    min_workers: int = 0
    idle_seconds: int = 300
    recycle_runs: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """What is recorded and for how long (contract A07).

    `redact` names arguments whose values are never stored, `level` is `all`, `errors` or `off`, ages are in days.
    """

    level: Literal["all", "errors", "off"] = "all"
    redact: tuple[str, ...] = ("password", "secret", "token", "api_key", "authorization", "credit_card")
    max_bytes: int = 16_384
    keep_days: int = 14
    keep_failed_days: int = 30
    max_rows: int = 100_000
    auto_prune: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """All of `MCP_SERVER`; the keys of the setting are these names in capitals."""

    endpoints: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: MappingProxyType({}))
    tool_names: Literal["kebab", "snake"] = "kebab"
    autodiscover: bool | tuple[str, ...] = True
    authentication: tuple[str, ...] = (
        "mcp_server.access.authentication.TokenAuthentication",
        "mcp_server.access.authentication.SessionAuthentication",
    )
    allowed_origins: tuple[str, ...] = ()
    page_size: int | None = None
    text_limit: int = 524_288
    cache: str = "default"
    channel_layer: str = "default"
    threads: int = 8
    thread_context: str | None = None
    limits: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    limit_ceilings: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    limits_pinned: tuple[str, ...] = ()
    rate_limits: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    sandbox: SandboxOptions = field(default_factory=SandboxOptions)
    log: LogOptions = field(default_factory=LogOptions)


@cache
def options() -> Options:
    """Return the project's options; wrong values are left at their defaults and reported by `problems()`."""
    return _read()[0]


def problems() -> list[ConfigurationError]:
    """Return what is wrong with the setting, for `manage.py check`."""
    return _read()[1]


def _read() -> tuple[Options, list[ConfigurationError]]:
    errors: list[ConfigurationError] = []
    raw = getattr(settings, SETTING, {})
    if not isinstance(raw, Mapping):
        errors.append(ConfigurationError(f"{SETTING} must be a dict, not {type(raw).__name__}."))
        return Options(), errors
    return Options(**dict(_values(Options, raw, SETTING, errors))), errors


def _values(
    kind: type[Any], raw: Mapping[str, Any], path: str, errors: list[ConfigurationError]
) -> Iterator[tuple[str, Any]]:
    known = {item.name.upper(): item.name for item in fields(kind)}
    for key, value in raw.items():
        name = known.get(key)
        where = f"{path}[{key!r}]"
        if name is None:
            errors.append(
                ConfigurationError(f"{where} is not a setting.", f"The settings are {', '.join(known)}.")
            )
            continue
        try:
            yield name, _CONVERTERS[kind, name](value, where, errors)
        except (TypeError, ValueError) as error:
            errors.append(ConfigurationError(f"{where} {error}", f"Its value is {value!r}."))


Converter = Callable[[Any, str, list[ConfigurationError]], Any]


def _whole(minimum: int) -> Converter:
    def convert(value: Any, where: str, errors: list[ConfigurationError]) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
            raise ValueError(f"must be a whole number of at least {minimum}.")
        return value

    return convert


def _one_of(*choices: Any) -> Converter:
    def convert(value: Any, where: str, errors: list[ConfigurationError]) -> Any:
        if value not in choices or (isinstance(value, int) and not isinstance(value, bool)):
            raise ValueError(f"must be one of {', '.join(map(repr, choices))}.")
        return value

    return convert


def _text(value: Any, where: str, errors: list[ConfigurationError]) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("must be a text.")
    return value


def _texts(value: Any, where: str, errors: list[ConfigurationError]) -> tuple[str, ...]:
    if not isinstance(value, list | tuple | set | frozenset) or not all(
        isinstance(item, str) for item in value
    ):
        raise ValueError("must be a list of texts.")
    return tuple(value)


def _limit_names(value: Any, where: str, errors: list[ConfigurationError]) -> tuple[str, ...]:
    found = _texts(value, where, errors)
    for name in found:
        if name not in LIMIT_FIELDS:
            raise ValueError(f"names {name!r}, which is not a limit; they are {', '.join(LIMIT_FIELDS)}.")
    return found


def _optional(convert: Converter) -> Converter:
    return lambda value, where, errors: None if value is None else convert(value, where, errors)


def _autodiscover(value: Any, where: str, errors: list[ConfigurationError]) -> bool | tuple[str, ...]:
    return value if isinstance(value, bool) else _texts(value, where, errors)


def _endpoints(value: Any, where: str, errors: list[ConfigurationError]) -> Mapping[str, Mapping[str, Any]]:
    if not isinstance(value, Mapping) or not all(isinstance(item, Mapping) for item in value.values()):
        raise ValueError("must map endpoint names to dicts of their options.")
    return MappingProxyType({str(name): MappingProxyType(dict(item)) for name, item in value.items()})


def _limits(value: Any, where: str, errors: list[ConfigurationError]) -> Mapping[str, int]:
    if not isinstance(value, Mapping):
        raise TypeError("must map limits to numbers.")
    found = {}
    for name, number in value.items():
        if name not in LIMIT_FIELDS:
            errors.append(
                ConfigurationError(
                    f"{where}[{name!r}] is not a limit.", f"The limits are {', '.join(LIMIT_FIELDS)}."
                )
            )
        elif isinstance(number, bool) or not isinstance(number, int) or number < LIMIT_FIELDS[name].minimum:
            errors.append(
                ConfigurationError(
                    f"{where}[{name!r}] must be a whole number of at least {LIMIT_FIELDS[name].minimum}."
                )
            )
        else:
            found[name] = number
    return MappingProxyType(found)


def _ceilings(value: Any, where: str, errors: list[ConfigurationError]) -> Mapping[str, int]:
    found = _limits(value, where, errors)
    for name, number in found.items():
        highest = LIMIT_FIELDS[name].ceiling
        if number > highest:
            message = f"{where}[{name!r}] is {number}, above the built-in ceiling, and does not hold."
            hint = f"Write at most {highest}: a project can lower this ceiling and cannot raise it."
            errors.append(ConfigurationError(message, hint))
    return found


def _rates(value: Any, where: str, errors: list[ConfigurationError]) -> Mapping[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(item, str) for item in value.values()):
        raise ValueError('must map "default" or tool names to rates such as "60/m".')
    return MappingProxyType(dict(value))


def _nested(kind: type[Any]) -> Converter:
    def convert(value: Any, where: str, errors: list[ConfigurationError]) -> Any:
        if not isinstance(value, Mapping):
            raise TypeError("must be a dict.")
        return kind(**dict(_values(kind, value, where, errors)))

    return convert


_CONVERTERS: dict[tuple[type[Any], str], Converter] = {
    (Options, "endpoints"): _endpoints,
    (Options, "tool_names"): _one_of("kebab", "snake"),
    (Options, "autodiscover"): _autodiscover,
    (Options, "authentication"): _texts,
    (Options, "allowed_origins"): _texts,
    (Options, "page_size"): _optional(_whole(1)),
    (Options, "text_limit"): _whole(1024),
    (Options, "cache"): _text,
    (Options, "channel_layer"): _text,
    (Options, "threads"): _whole(1),
    (Options, "thread_context"): _optional(_text),
    (Options, "limits"): _limits,
    (Options, "limit_ceilings"): _ceilings,
    (Options, "limits_pinned"): _limit_names,
    (Options, "rate_limits"): _rates,
    (Options, "sandbox"): _nested(SandboxOptions),
    (Options, "log"): _nested(LogOptions),
    (SandboxOptions, "command"): _texts,
    (SandboxOptions, "python"): _optional(_text),
    (SandboxOptions, "require_confinement"): _one_of(True, False),
    (SandboxOptions, "jitless"): _one_of(True, False),
    (SandboxOptions, "min_workers"): _whole(0),
    (SandboxOptions, "idle_seconds"): _whole(1),
    (SandboxOptions, "recycle_runs"): _whole(1),
    (LogOptions, "level"): _one_of("all", "errors", "off"),
    (LogOptions, "redact"): _texts,
    (LogOptions, "max_bytes"): _whole(256),
    (LogOptions, "keep_days"): _whole(1),
    (LogOptions, "keep_failed_days"): _whole(1),
    (LogOptions, "max_rows"): _whole(1),
    (LogOptions, "auto_prune"): _one_of(True, False),
}


def _reset(*, setting: str, **kwargs: Any) -> None:
    if setting == SETTING:
        options.cache_clear()


setting_changed.connect(_reset, dispatch_uid="mcp_server.conf")
