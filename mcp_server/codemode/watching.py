"""Console lines of a run that goes on, for those who watch it (contract A04)."""

import logging

from mcp_server.bus import publish
from mcp_server.calls import journal
from mcp_server.codemode.outcome import LogEntry

logger = logging.getLogger("mcp_server.watching")

LIVE_PATH = "mcp-live/runs/"
"""Where the site's WebSocket routes put watching, below the site's own prefix; a run's id follows."""

MOST_WAITING = 200
MOST_CHARACTERS = 2000


def console_topic(run_id: str) -> str:
    """Return the topic on which a run's console lines are published."""
    return f"console {run_id}"


class Watch:
    """Collects console lines, and publishes them in batches: a run that ends at once costs no message."""

    def __init__(self, record: journal.RunRecord) -> None:
        self._record = record
        self._waiting: list[LogEntry] = []
        self.seen: list[LogEntry] = []

    def add(self, entry: LogEntry) -> None:
        """Take a line; more than a watcher could read are left out."""
        if len(self._waiting) < MOST_WAITING:
            self._waiting.append(entry)
        if len(self.seen) < self._record.limits.get("max_log_entries", 0):
            self.seen.append(entry)

    async def publish(self) -> None:
        """Send what came since the last time; a layer that is away costs the watchers, never the run."""
        entries, self._waiting = self._waiting, []
        if not entries:
            return
        lines = [
            {"level": entry.level, "text": journal.shown_text(entry.text, self._record)[:MOST_CHARACTERS]}
            for entry in entries
        ]
        try:
            await publish(console_topic(self._record.id), {"console": lines})
        except Exception:
            # Whatever the layer's own client raises.
            logger.exception("Console lines of run %s could not be published", self._record.id)
