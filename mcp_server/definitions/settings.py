"""What the settings of `@tool`, `@prompt` and `@resource` may be: a wrong one is said at once, never ignored (contract T21)."""

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from mcp_server.exceptions import ConfigurationError

LONGEST_TIMEOUT = 240.0
"""Seconds that no call may take longer than; clients wait for about four minutes (contract R11)."""

Test = Callable[[Any], bool]


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_texts(value: Any) -> bool:
    return _is_sequence(value) and all(isinstance(item, str) for item in value)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence | set | frozenset) and not isinstance(value, str | bytes)


def _is_timeout(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= LONGEST_TIMEOUT


def _are_examples(value: Any) -> bool:
    return _is_sequence(value) and all(isinstance(item, Mapping) for item in value)


def _anything(value: Any) -> bool:
    return True


def _is_any_text(value: Any) -> bool:
    return isinstance(value, str)


_SHARED: Mapping[str, tuple[Test, str]] = {
    "name": (_is_text, "Write a text."),
    "title": (_is_text, "Write a text."),
    "description": (_is_any_text, "Write a text."),
    "group": (_is_any_text, "Write a text."),
    "enabled": (_anything, ""),
    "tags": (_is_texts, 'Write a list of texts, ["billing"].'),
    "endpoints": (_is_texts, 'Write a list of names, ["default"].'),
    "override": (_is_flag, "Write True or False."),
    "meta": (lambda value: isinstance(value, Mapping), "Write a dict."),
    "icons": (_is_sequence, "Write a list of URLs, or of the protocol's icon objects."),
}
_OF_TOOLS: Mapping[str, tuple[Test, str]] = {
    "input_schema": (_anything, ""),
    "output_schema": (_anything, ""),
    "annotations": (_anything, ""),
    "read_only": (_is_flag, "Write True or False."),
    "destructive": (_is_flag, "Write True or False."),
    "idempotent": (_is_flag, "Write True or False."),
    "open_world": (_is_flag, "Write True or False."),
    "input_examples": (_are_examples, "Write a list of dicts, each the arguments of one call."),
    "cache": (_anything, ""),
    "result_format": (lambda value: value in ("text", "json"), 'Write "text" or "json".'),
    "code_mode": (_is_flag, "Write True or False."),
    "timeout": (_is_timeout, f"Write seconds, at most {LONGEST_TIMEOUT:.0f}."),
    "atomic": (_is_flag, "Write True, False or None."),
    "extra": (lambda value: value in ("forbid", "ignore"), 'Write "forbid" or "ignore".'),
}
_KINDS: Mapping[str, Mapping[str, tuple[Test, str]]] = {
    "tool": {**_SHARED, **_OF_TOOLS},
    "prompt": {**_SHARED, "complete": (_anything, "")},
    "resource": {
        **_SHARED,
        "uri": (_is_text, "Write a text."),
        "complete": (_anything, ""),
        "mime_type": (_is_text, 'Write a text, "text/plain".'),
    },
}


def refuse_unknown(kind: str, settings: Mapping[str, Any]) -> None:
    """Raise for a keyword that a decorator does not have; ignored, `enable=` would leave a tool open to everybody.

    Args:
        kind: the decorator: "tool", "prompt" or "resource".
        settings: what its author wrote.

    Raises:
        TypeError: naming the keyword and the closest that exists.
    """
    for key in settings:
        if key not in _KINDS[kind]:
            close = get_close_matches(key, _KINDS[kind], n=1)
            meant = f"; did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"{kind}() got an unexpected keyword argument {key!r}{meant}")


def check_settings(kind: str, settings: Mapping[str, Any]) -> None:
    """Raise for the first setting of a decorator whose value is of no use.

    Raises:
        ConfigurationError: naming the setting, its value and what to write.
    """
    for key, value in settings.items():
        test, hint = _KINDS[kind][key]
        if value is not None and not test(value):
            raise ConfigurationError(f"{key}={value!r} cannot be used.", hint)
