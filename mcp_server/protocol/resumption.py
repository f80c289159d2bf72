"""The first event of a 2025-11-25 stream, and what becomes of a client that comes back with its id.

A call ends when its stream breaks, so there is nothing to resume; but a client that reconnects must learn so at once,
instead of waiting for an answer that never comes. The event's id says which request it was, so any process can tell.
"""

import base64
import binascii
import json

from mcp_types.version import is_version_at_least

from mcp_server.protocol.exchange import Incoming
from mcp_server.protocol.replies import (
    EVENT_STREAM,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    STREAM_HEADERS,
    Reply,
    event,
    failure,
    refusal,
)

HEADER = "last-event-id"
RETRY_MILLISECONDS = 1000
_SINCE = "2025-11-25"


def priming(incoming: Incoming) -> bytes:
    """Return the event that begins a stream, empty for clients that do not expect it."""
    if incoming.modern or incoming.session is None or not is_version_at_least(incoming.version, _SINCE):
        return b""
    name = base64.urlsafe_b64encode(json.dumps(incoming.id).encode())
    return b"id: %b\nretry: %d\ndata: \n\n" % (name, RETRY_MILLISECONDS)


def resume(event_id: str) -> Reply:
    """Return what a client gets that comes back for the rest of a stream: the end of its request."""
    try:
        request_id = json.loads(base64.b64decode(event_id, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError):
        request_id = None
    if not isinstance(request_id, int | str):
        return refusal(400, "There is no stream of this Last-Event-ID.", code=INVALID_REQUEST)
    ended = failure(
        INTERNAL_ERROR, "The stream broke, and the call ended with it. Call again.", request_id=request_id
    )
    return Reply(status=200, body=event(ended), content_type=EVENT_STREAM, headers=STREAM_HEADERS)
