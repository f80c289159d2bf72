"""Clients that call the project's endpoints within the process, through its URLs and middleware (contract D04)."""

import itertools
import json
from collections.abc import Mapping
from typing import Any

from django.test import AsyncClient, Client
from django.urls import reverse

from mcp_server.testing.exceptions import RaisedExceptions
from mcp_server.testing.replies import Result, read_message, read_result

PROTOCOL = "2025-11-25"
SITE = "http://testserver"


class _Requests:
    """What both clients share: where they call, as whom, and how a request looks."""

    def __init__(
        self,
        user: Any = None,
        endpoint: str = "default",
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        raise_tool_exceptions: bool = True,
    ) -> None:
        """Make a client.

        Args:
            user: signed in with a session; None calls as nobody, or as the token's owner.
            endpoint: its name.
            token: sent as `Authorization: Bearer`.
            headers: further headers of every request.
            raise_tool_exceptions: raise what a tool raised unexpectedly, in place of the neutral error result that a
                real client gets.
        """
        self.user = user
        self.endpoint = endpoint
        self.raise_tool_exceptions = raise_tool_exceptions
        self._ids = itertools.count(1)
        authorization = {"Authorization": f"Bearer {token}"} if token else {}
        self._headers = {
            "Accept": "application/json",
            "MCP-Protocol-Version": PROTOCOL,
            # A session counts for pages of the very same site only; this is one.
            "Origin": SITE,
            **authorization,
            **(headers or {}),
        }

    @property
    def url(self) -> str:
        """Return the endpoint's path in this project."""
        return reverse("mcp") if self.endpoint == "default" else reverse("mcp-endpoint", args=[self.endpoint])

    def _post_arguments(self, method: str, params: Mapping[str, Any] | None) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": dict(params or {})}
        return {
            "path": self.url,
            "data": json.dumps(message),
            "content_type": "application/json",
            "headers": self._headers,
        }

    def _finish(self, raw: Mapping[str, Any], raised: RaisedExceptions) -> Result:
        result = read_result(raw)
        return raised.reraise(result) if self.raise_tool_exceptions else result


class MCPClient(_Requests):
    """Calls an endpoint from sync tests, as Django's test client calls views."""

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """Return the result of any method of the protocol.

        Raises:
            MCPError: when the endpoint answers with an error.
        """
        client = Client()
        if self.user is not None:
            client.force_login(self.user)
        response = client.post(**self._post_arguments(method, params))
        return read_message(response.status_code, response.content)

    def list_tools(self) -> list[dict[str, Any]]:
        """Return the tools that this user sees."""
        tools: list[dict[str, Any]] = self.request("tools/list")["tools"]
        return tools

    def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None) -> Result:
        """Return the result of a tool.

        Raises:
            MCPError: when there is no such tool for this user.
            Exception: what the tool raised unexpectedly, unless `raise_tool_exceptions` is False.
        """
        with RaisedExceptions() as raised:
            return self._finish(
                self.request("tools/call", {"name": name, "arguments": arguments or {}}), raised
            )

    def run(self, code: str) -> Result:
        """Return the result of a program, on an endpoint with Code Mode."""
        return self.call_tool("code", {"code": code})


class AsyncMCPClient(_Requests):
    """Calls an endpoint from coroutines, through the view that ASGI servers use."""

    async def request(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """See `MCPClient.request`."""
        client = AsyncClient()
        if self.user is not None:
            await client.aforce_login(self.user)
        response = await client.post(**self._post_arguments(method, params))
        return read_message(response.status_code, response.content)

    async def list_tools(self) -> list[dict[str, Any]]:
        """See `MCPClient.list_tools`."""
        tools: list[dict[str, Any]] = (await self.request("tools/list"))["tools"]
        return tools

    async def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None) -> Result:
        """See `MCPClient.call_tool`."""
        with RaisedExceptions() as raised:
            raw = await self.request("tools/call", {"name": name, "arguments": arguments or {}})
            return self._finish(raw, raised)

    async def run(self, code: str) -> Result:
        """See `MCPClient.run`."""
        return await self.call_tool("code", {"code": code})
