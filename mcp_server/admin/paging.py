"""Pages of a large table: nothing counts all of its rows."""

from typing import Any

from django.utils.functional import cached_property

from mcp_server.admin.generics import RowPaginator

MOST_COUNTED = 5000


class BoundedPaginator(RowPaginator):
    """Counts to `MOST_COUNTED` and offers that many rows; a filter or a date leads to the ones behind."""

    @cached_property
    def count(self) -> int:
        """How many rows there are to page through."""
        rows: Any = self.object_list
        return int(rows[:MOST_COUNTED].count())

    @property
    def is_cut(self) -> bool:
        """Whether there may be more rows than are offered."""
        return self.count == MOST_COUNTED
