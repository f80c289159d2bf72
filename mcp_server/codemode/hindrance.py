"""What keeps workers from starting on this system, where it can be told beforehand."""

import sys

_ADVICE = (
    "the address space of this process is limited (ulimit -v), and V8 reserves more than any such limit leaves: "
    "lift it, and limit the memory of the service or container instead"
)


def known_hindrance() -> str:
    """Return what to change so that workers can start, or "" if nothing is known to hinder them."""
    if sys.platform == "win32":
        return ""
    import resource

    limited = resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY
    return _ADVICE if limited else ""
