"""How outcomes are named and coloured."""

from collections.abc import Mapping
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

OUTCOMES: Mapping[str, tuple[Any, str]] = {
    "running": (_("running"), "active"),
    "ok": (_("ok"), "good"),
    "error": (_("error"), "bad"),
    "tool_error": (_("tool error"), "warn"),
    "invalid": (_("invalid arguments"), "warn"),
    "denied": (_("denied"), "warn"),
    "rate_limited": (_("rate limited"), "warn"),
    "busy": (_("busy"), "warn"),
    "limit": (_("limit"), "warn"),
    "timeout": (_("timeout"), "bad"),
    "cancelled": (_("cancelled"), "quiet"),
    "stopped": (_("stopped"), "quiet"),
    "crashed": (_("crashed"), "bad"),
    "violation": (_("protocol violation"), "bad"),
    "lost": (_("lost"), "bad"),
}
"""What a person reads, and the tone of it."""

RUN_OUTCOMES = (
    "running",
    "ok",
    "error",
    "limit",
    "stopped",
    "cancelled",
    "busy",
    "crashed",
    "violation",
    "lost",
)
CALL_OUTCOMES = ("ok", "tool_error", "invalid", "denied", "rate_limited", "timeout", "cancelled", "crashed")


def outcome_label(outcome: str) -> Any:
    """Return the outcome in the reader's language."""
    return OUTCOMES[outcome][0] if outcome in OUTCOMES else outcome


def outcome_tone(outcome: str) -> str:
    """Return "good", "warn", "bad", "active" or "quiet"."""
    return OUTCOMES[outcome][1] if outcome in OUTCOMES else "quiet"


def outcome_badge(outcome: str) -> SafeString:
    """Return the outcome as a coloured word."""
    return format_html(
        '<span class="mcp-badge mcp-{}">{}</span>', outcome_tone(outcome), outcome_label(outcome)
    )
