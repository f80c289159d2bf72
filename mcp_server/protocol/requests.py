"""Django's request for the ASGI door: made whole only when somebody looks at it."""

from io import BytesIO
from typing import Any

from django.core.handlers.asgi import ASGIRequest
from django.http import QueryDict
from django.utils.functional import cached_property

from mcp_server.protocol.replies import Reply

_NO_QUERY = QueryDict("")


class DoorRequest(ASGIRequest):
    """An `HttpRequest` that costs nothing until a guard or a handler asks it something beyond `user`.

    Args:
        scope: of the connection.
        given: the body, or the refusal of it.
    """

    def __init__(self, scope: Any, given: bytes | Reply) -> None:
        # Not the base class's: `__getattr__` calls it for the first attribute that is missing.
        self.scope = scope
        self.given = given
        self._is_whole = False

    @cached_property
    def GET(self) -> QueryDict:  # type: ignore[override]  # noqa: N802 - Django's name, and as Django has it
        """Return the query, which most requests do not have."""
        query: bytes = self.scope.get("query_string", b"")
        return QueryDict(query) if query else _NO_QUERY

    def __getattr__(self, name: str) -> Any:
        """Make the request whole, and return what was asked for."""
        if name.startswith("__") or self.__dict__.get("_is_whole", True):
            raise AttributeError(name)
        self._is_whole = True
        super().__init__(self.scope, BytesIO(self.given if isinstance(self.given, bytes) else b""))
        return getattr(self, name)
