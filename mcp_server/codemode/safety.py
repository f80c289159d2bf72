"""JSON and text from the sandbox made safe for logs, databases, tools and responses (contract S08)."""

import json
import re
from typing import Any, Final, NoReturn

from pydantic_core import from_json

from mcp_server.codemode.worker.terms import MAX_DEPTH

_UNSAFE: Final = re.compile("[\x00\ud800-\udfff]")
_ESCAPED: Final = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_LONG_DIGITS: Final = re.compile(rb"(?<![.\d])\d{16}")
_DIGITS: Final = bytes.maketrans(b"123456789", b"000000000")
_SAFE_INTEGER: Final = 2**53 - 1
_DATABASE_INTEGER: Final = 2**63 - 1


class UnsafeJson(ValueError):
    """Text that is no JSON, or nested or numbered beyond what any reader should be given."""


def safe_text(text: str) -> str:
    """Return `text` without NUL and lone surrogates, which stand as U+FFFD."""
    return _UNSAFE.sub("\ufffd", text) if _UNSAFE.search(text) else text


def read_json(text: bytes) -> Any:
    """Return the value of JSON `text`, safe to store and to pass to a tool.

    Integers that no database column holds come as floats, as they are in JavaScript.

    Raises:
        UnsafeJson: it is no JSON, deeper than 200 levels, or holds a number of thousands of digits.
    """
    if not _is_suspect(text):
        return _parse(text)
    try:
        return _clean(json.loads(text, parse_constant=_refuse_constant, parse_int=_integer), 0)
    except (ValueError, RecursionError) as error:
        raise UnsafeJson("not JSON, or nested too deep") from error


def safe_json(text: bytes) -> tuple[bytes, Any]:
    """Return JSON `text` made safe, and its value; the text is the same one wherever nothing had to change."""
    value = read_json(text)
    return (dump(value), value) if _is_suspect(text) else (text, value)


def script_json(text: bytes) -> bytes:
    """Return JSON `text` for JavaScript: integers beyond 2^53 - 1 become strings there (contract C07)."""
    if not _has_long_digits(text):
        return text
    return dump(json.loads(text, parse_int=_exact))


def dump(value: Any) -> bytes:
    """Return compact JSON in UTF-8, non-ASCII kept."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


def _is_suspect(text: bytes) -> bool:
    return (b"\\u" in text and _ESCAPED.search(text) is not None) or _has_long_digits(text)


def _has_long_digits(text: bytes) -> bool:
    # Looking for one text is some ten times faster than a pattern; few texts get to the pattern.
    return b"0" * 16 in text.translate(_DIGITS) and _LONG_DIGITS.search(text) is not None


def _parse(text: bytes) -> Any:
    try:
        return from_json(text, allow_inf_nan=False, cache_strings="keys")
    except ValueError as error:
        raise UnsafeJson("not JSON, or nested too deep") from error


def _clean(value: Any, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise UnsafeJson("nested too deep")
    if isinstance(value, str):
        return safe_text(value)
    if isinstance(value, list):
        return [_clean(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {safe_text(name): _clean(item, depth + 1) for name, item in value.items()}
    return value


def _integer(digits: str) -> int | float:
    if len(digits) > 400:
        raise UnsafeJson("a number of too many digits")
    number = int(digits)
    return number if abs(number) <= _DATABASE_INTEGER else _finite(float(digits))


def _finite(number: float) -> float:
    if number in (float("inf"), float("-inf")):
        raise UnsafeJson("a number out of range")
    return number


def _exact(digits: str) -> int | str:
    number = int(digits)
    return number if abs(number) <= _SAFE_INTEGER else digits


def _refuse_constant(name: str) -> NoReturn:
    raise UnsafeJson(f"{name} is not JSON")
