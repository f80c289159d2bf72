"""Resource URIs, and templates of many: `order://{id}`, `docs://{+path}` (RFC 6570, levels 1 and 2)."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import unquote

from mcp_server.exceptions import ConfigurationError

_VARIABLE = re.compile(r"\{(\+?)([A-Za-z_][A-Za-z0-9_]*)\}")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
LONGEST = 2048
"""Characters of a URI that a client may ask for."""


@dataclass(frozen=True)
class URITemplate:
    """A URI with variables in braces; `{name}` ends at the next `/`, `?` or `#`, `{+name}` at the end.

    Raises:
        ConfigurationError: when the text is no URI, or a brace is not closed.
    """

    text: str
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        rest = _VARIABLE.sub("", self.text)
        if not _SCHEME.match(self.text) or "{" in rest or "}" in rest:
            raise ConfigurationError(
                f"{self.text!r} is no URI that clients can read.",
                'Write "scheme://path", with variables as {name}, or {+path} for the rest.',
            )
        names = tuple(match[2] for match in _VARIABLE.finditer(self.text))
        if len(set(names)) != len(names):
            raise ConfigurationError("a variable of its URI stands twice.", "Give each its own name.")
        object.__setattr__(self, "names", names)

    @property
    def is_template(self) -> bool:
        """Return whether the URI has variables."""
        return bool(self.names)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parts: list[str] = []
        position = 0
        for match in _VARIABLE.finditer(self.text):
            parts.append(re.escape(self.text[position : match.start()]))
            parts.append(f"(?P<{match[2]}>{'.+' if match[1] else '[^/?#]+'})")
            position = match.end()
        return re.compile("".join(parts) + re.escape(self.text[position:]), re.DOTALL)

    def match(self, uri: str) -> dict[str, str] | None:
        """Return the variables' values, percent-decoded, or None where the URI is another."""
        if len(uri) > LONGEST:
            return None
        found = self._pattern.fullmatch(uri)
        return None if found is None else {name: unquote(text) for name, text in found.groupdict().items()}
