"""Names, titles and groups that follow from where a function stands (contract T02, T17)."""

import re

_SEAMS = re.compile(r"[\W_]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

CLIENT_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""What every model API takes as a tool name (contract R10)."""

PROTOCOL_NAME = re.compile(r"[^\s\x00-\x1f/]{1,128}")


def words(name: str) -> list[str]:
    """Return the words of an identifier in snake, camel or kebab case; digits stay with theirs (`sha256`)."""
    return [word for word in _SEAMS.split(name) if word]


def derive_name(function_name: str, style: str) -> str:
    """Return the tool name for a function: `list_documentation` -> `list-documentation`, or as it is with "snake"."""
    separator = "-" if style == "kebab" else "_"
    return separator.join(word.lower() for word in words(function_name)) or function_name


def derive_title(name: str) -> str:
    """Return the title for a name: `list-documentation` -> "List Documentation"."""
    return " ".join(word[:1].upper() + word[1:] for word in words(name)) or name


def derive_group(module: str, app_label: str | None) -> str:
    """Return the group of a definition: the sub-module of an `mcp_tools` package, else the app's label.

    `shop.mcp_tools.admin.users` -> `admin`; `shop.mcp_tools` -> `shop`.
    """
    _, found, rest = f"{module}.".partition(".mcp_tools.")
    if found and rest:
        return rest.split(".")[0]
    return app_label or module.split(".", maxsplit=1)[0]
