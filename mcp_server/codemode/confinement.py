"""What a worker's confinement report means: which promises do not hold on this system (contract S13)."""

from collections.abc import Mapping
from typing import Any, Final

_WITHOUT_FAIL: Final = (
    "empty environment",
    "no other descriptors",
    "no new privileges",
    "landlock",
    "seccomp",
    "data limit",
)


def missing_confinement(report: Mapping[str, Any]) -> list[str]:
    """Return, in words, what a worker's report lacks; empty where everything holds.

    A measure counts as missing unless it took effect; so does whatever the self-test still could do.
    """
    measures = report.get("measures")
    if not isinstance(measures, Mapping):
        measures = {}
    found = [
        f"{name} ({_why(measures.get(name))})"
        for name in _WITHOUT_FAIL
        if not _took_effect(measures.get(name))
    ]
    for part, words in (("refused", "the worker can {}"), ("flags", "V8 lets through: {}")):
        tests = report.get(part)
        if not isinstance(tests, Mapping) or not tests:
            found.append(f"no self-test of {part}")
            continue
        found += [words.format(name) for name, passed in tests.items() if passed is not True]
    return found


def _took_effect(value: Any) -> bool:
    return value is not None and value is not False and not isinstance(value, str)


def _why(value: Any) -> str:
    return value[:100] if isinstance(value, str) else "refused by the system"
