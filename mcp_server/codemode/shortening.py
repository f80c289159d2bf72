"""Too much data made to fit, structurally: fewer items, fewer keys, shorter strings, at any depth (contract C11)."""

from dataclasses import dataclass, field
from typing import Any, Final

from mcp_server.codemode.safety import dump

_MOST_NOTES: Final = 8
_LEAST_STRING: Final = 24


@dataclass(frozen=True, slots=True)
class Shortened:
    """JSON text within the limit, and what was left out of it."""

    text: bytes
    dropped: str


def shorten(value: Any, limit: int, root: str = "result") -> Shortened:
    """Return `value` as JSON of at most `limit` UTF-8 bytes, its outer type kept; what fits is whole."""
    shortening = _Shortening()
    text = dump(shortening.fit(value, limit, root))
    return Shortened(text, shortening.summary())


@dataclass(slots=True)
class _Shortening:
    notes: list[str] = field(default_factory=list)
    sizes: dict[int, int] = field(default_factory=dict)

    def summary(self) -> str:
        more = len(self.notes) - _MOST_NOTES
        shown = "; ".join(self.notes[:_MOST_NOTES])
        return f"{shown}; and {more} more places" if more > 0 else shown

    def fit(self, value: Any, budget: int, path: str) -> Any:
        if self.size(value) <= budget:
            return value
        if isinstance(value, str):
            return self._fit_text(value, budget, path)
        if isinstance(value, list):
            return self._fit_items(value, budget, path)
        if isinstance(value, dict):
            return self._fit_members(value, budget, path)
        self.notes.append(f"the value of {path}")
        return None

    def size(self, value: Any) -> int:
        """Return the bytes of `value` as compact JSON; containers are measured once."""
        if not isinstance(value, list | dict):
            return len(dump(value))
        known = self.sizes.get(id(value))
        if known is None:
            known = 2 + max(0, len(value) - 1)
            if isinstance(value, list):
                known += sum(self.size(item) for item in value)
            else:
                known += sum(self._key_size(name) + self.size(item) for name, item in value.items())
            self.sizes[id(value)] = known
        return known

    def _key_size(self, name: str) -> int:
        return len(dump(name)) + 1

    def _fit_text(self, text: str, budget: int, path: str) -> str:
        low, high = 0, min(len(text), max(0, budget - 2))
        while low < high:
            middle = (low + high + 1) // 2
            if len(dump(_cut(text, middle))) <= budget:
                low = middle
            else:
                high = middle - 1
        self.notes.append(f"{path} kept {low} of {len(text)} characters")
        cut = _cut(text, low)
        return cut if len(dump(cut)) <= budget else ""

    def _fit_items(self, items: list[Any], budget: int, path: str) -> list[Any]:
        left = budget - 2
        kept: list[Any] = []
        for index, item in enumerate(items):
            needed = self.size(item) + (1 if kept else 0)
            if needed > left:
                # One item that is most of the whole is worth a part of it; else whole items are.
                if needed > budget // 2 and left > max(_LEAST_STRING, budget // 4):
                    kept.append(self.fit(item, left - 1, f"{path}[{index}]"))
                break
            kept.append(item)
            left -= needed
        if len(kept) < len(items):
            self.notes.append(f"{path} kept {len(kept)} of {len(items)} items")
        return kept

    def _fit_members(self, members: dict[str, Any], budget: int, path: str) -> dict[str, Any]:
        shares = self._shares(members, budget - 2)
        if len(shares) < len(members):
            self.notes.append(f"{path} kept {len(shares)} of {len(members)} keys")
        return {name: self.fit(members[name], share, f"{path}.{name}") for name, share in shares.items()}

    def _shares(self, members: dict[str, Any], left: int) -> dict[str, int]:
        """Return bytes for each member that is kept: small ones whole, large ones an equal part of what remains."""
        kept: list[str] = []
        for name, item in members.items():
            least = self._key_size(name) + 1 + min(self.size(item), _LEAST_STRING)
            if least > left:
                break
            kept.append(name)
            left -= least
        left += sum(min(self.size(members[name]), _LEAST_STRING) for name in kept)
        shares: dict[str, int] = {}
        by_size = sorted(kept, key=lambda name: self.size(members[name]))
        for position, name in enumerate(by_size):
            shares[name] = min(self.size(members[name]), left // (len(by_size) - position))
            left -= shares[name]
        return {name: shares[name] for name in kept}


def _cut(text: str, length: int) -> str:
    return text if length >= len(text) else f"{text[:length]}… ({len(text) - length} more characters)"
