"""Lists in pages: a cursor is the last name of the page before, so that pages stay right while lists change."""

import base64
import binascii
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, TypeVar

import mcp_types

from mcp_server.conf import options
from mcp_server.protocol.kernel import MCPError
from mcp_server.protocol.replies import INVALID_PARAMS

_MARK = "after:"


Item = TypeVar("Item")


def cut(
    items: Sequence[Item],
    params: mcp_types.PaginatedRequestParams | None,
    *,
    key: Callable[[Any], str] = attrgetter("name"),
) -> tuple[Sequence[Item], str | None]:
    """Return one page of `items`, and the cursor of the next one, None at the end.

    Args:
        items: the whole list.
        params: of the request; without a cursor it asks for the first page, and an empty text is a (wrong) cursor.
        key: what the items are sorted by.

    Raises:
        MCPError: when the cursor is none of ours.
    """
    size = options().page_size
    cursor = params.cursor if params is not None else None
    if cursor is not None:
        last = _read(cursor, size)
        items = [item for item in items if key(item) > last]
    if size is None or len(items) <= size:
        return items, None
    page = items[:size]
    return page, base64.urlsafe_b64encode((_MARK + key(page[-1])).encode()).decode("ascii")


def _read(cursor: str, size: int | None) -> str:
    try:
        text = base64.b64decode(cursor, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        text = ""
    if size is None or not text.startswith(_MARK):
        raise MCPError(INVALID_PARAMS, "Invalid cursor: send the nextCursor of an earlier page, unchanged.")
    return text.removeprefix(_MARK)
