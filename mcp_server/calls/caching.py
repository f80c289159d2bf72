"""Answers of tools, kept in Django's cache (contract T15, T16).

Only plain values are kept: an error may be gone the next time, and media belong elsewhere.
"""

import hashlib
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.core.cache import caches
from django.utils.translation import get_language

from mcp_server.access.principal import Principal
from mcp_server.calls.results import Outcome
from mcp_server.conf import options
from mcp_server.definitions.caching import CacheOptions
from mcp_server.definitions.tool import ToolDefinition
from mcp_server.schema.canonical import Indistinct, canonical

LONGEST_REFRESH_SECONDS = 250
"""After so long the lock of a refresh that never ended, since its process did, is open again."""

_Entry = tuple[bytes | None, bool, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """The place of one call's answer; `refresh` renews it in the background, None while that very renewal runs."""

    options: CacheOptions
    key: str
    refresh: Callable[["KeptAnswer"], None] | None

    def find(self) -> Outcome | None:
        """Return the answer that is kept, if it may be served; a stale one is renewed meanwhile."""
        if self.refresh is None:
            return None
        entry = self._read()
        if entry is None:
            return None
        if entry[2] <= time.time() and self._claim():
            self.refresh(self)
        return Outcome(json=entry[0], structured=entry[0] if entry[1] else None)

    def keep(self, outcome: Outcome) -> None:
        """Keep the answer, if it is a plain value."""
        if outcome.is_error or outcome.content or outcome.meta:
            return
        entry: _Entry = (outcome.json, outcome.structured is not None, time.time() + self.options.seconds)
        self._cache.set(self.key, entry, math.ceil(self.options.seconds + self.options.stale_seconds))

    def release(self) -> None:
        """Let others renew the answer again."""
        self._cache.delete(self._lock)

    def _read(self) -> _Entry | None:
        entry: _Entry | None = self._cache.get(self.key)
        # Backends keep whole seconds and some keep more: the entry itself says how long it may be served.
        if entry is not None and entry[2] + self.options.stale_seconds <= time.time():
            return None
        return entry

    def _claim(self) -> bool:
        """Return whether this call is the one that renews the answer, of all in all processes."""
        if not self._cache.add(self._lock, True, LONGEST_REFRESH_SECONDS):
            return False
        entry = self._read()
        if entry is None or entry[2] <= time.time():
            return True
        # Another had just done so between our look and our claim.
        self.release()
        return False

    @property
    def _cache(self) -> Any:
        return caches[options().cache]

    @property
    def _lock(self) -> str:
        return f"{self.key}:refresh"


def place_answer(
    definition: ToolDefinition,
    arguments: Mapping[str, Any],
    sent: Mapping[str, Any] | None,
    principal: Principal,
    refresh: Callable[[KeptAnswer], None] | None,
) -> KeptAnswer | None:
    """Return where the answer of a call is kept, None for a tool without `cache=`.

    Args:
        definition: of the tool.
        arguments: validated, before anything is injected.
        sent: as the client sent them.
        principal: who calls.
        refresh: see `KeptAnswer`.
    """
    chosen = definition.cache
    if chosen is None:
        return None
    parts = [
        [definition.name, definition.where, definition.endpoints],
        _subject(chosen, arguments, sent),
        _audience(chosen, principal),
        get_language(),
    ]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    prefix = ":".join(quote(text, safe="")[:60] for text in (chosen.group, chosen.name or definition.name))
    return KeptAnswer(options=chosen, key=f"{prefix}:{digest}", refresh=refresh)


def _subject(chosen: CacheOptions, arguments: Mapping[str, Any], sent: Mapping[str, Any] | None) -> Any:
    if chosen.key is not None:
        return ["key", canonical(chosen.key(**arguments))]
    try:
        return ["arguments", canonical(arguments)]
    except Indistinct:
        # Some type of the author's; what the client sent is JSON, and tells two calls apart as well.
        return ["sent", canonical(sent or {})]


def _audience(chosen: CacheOptions, principal: Principal) -> Any:
    if not chosen.vary_on_user:
        return None
    # A handler may look at the scopes of a token as well as at its user.
    scopes = None if principal.scopes is None else sorted(principal.scopes)
    return [principal.identity, scopes]
