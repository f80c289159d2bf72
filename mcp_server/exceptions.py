"""What can go wrong, by the reader it is written for.

`ToolError` and `Guidance` are read by the language model, `ConfigurationError` by the author of the project.
"""

from typing import Any


class ToolError(Exception):
    """A failure that the model should read and may react to (contract T14).

    Args:
        message: one sentence for the model; nothing secret, it is sent as it is.
        status: an HTTP status that code can branch on, such as 404.
        data: any JSON value with details.
    """

    def __init__(self, message: str, status: int | None = None, data: Any = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.data = data


class Guidance(Exception):
    """Plain text that the model should follow: sign in, ask for a scope, wait for a release (contract R07)."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class ConfigurationError(Exception):
    """A definition or setting that the project's author must mend; reported by `manage.py check`.

    Args:
        message: what is wrong.
        hint: what to do about it.
        where: module and line of the definition, `shop.mcp_tools:12`.
    """

    def __init__(self, message: str, hint: str = "", where: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.where = where


class UnknownTool(LookupError):
    """No tool of that name for this user; a hidden tool and a missing one are the same (contract G02)."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name
