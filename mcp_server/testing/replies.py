"""What an endpoint answered, as tests want to read it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


class MCPError(Exception):
    """The endpoint answered with a JSON-RPC error, or refused the request.

    Args:
        code: the JSON-RPC code, or the HTTP status where the answer is no JSON-RPC message.
        message: what the endpoint said.
        data: the error's `data`.
        status: the HTTP status.
    """

    def __init__(self, code: int, message: str, data: Any = None, status: int = 200) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.data = data
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of a tool call: its content items, `structuredContent`, and whether it is an error."""

    content: list[dict[str, Any]]
    structured: Any = None
    is_error: bool = False
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """Return all text of the result, as a model would read it."""
        return "".join(item["text"] for item in self.content if item["type"] == "text")

    @property
    def data(self) -> Any:
        """Return `structuredContent`, else the text read as JSON.

        Raises:
            AssertionError: when the call failed, with what the model would read.
            ValueError: when the text is no JSON.
        """
        if self.is_error:
            raise AssertionError(f"The call failed: {self.text}")
        return json.loads(self.text) if self.structured is None else self.structured


def read_result(result: Mapping[str, Any]) -> Result:
    """Return the result of a `tools/call`."""
    return Result(
        content=result["content"],
        structured=result.get("structuredContent"),
        is_error=result.get("isError", False),
        meta=result.get("_meta", {}),
    )


def read_message(status: int, body: bytes) -> Any:
    """Return the `result` of a JSON-RPC answer.

    Raises:
        MCPError: when the answer is an error, or none of JSON-RPC.
    """
    try:
        message = json.loads(body)
    except ValueError:
        message = None
    if not isinstance(message, dict):
        raise MCPError(status, body.decode("utf-8", "replace")[:500], status=status)
    if "error" in message:
        error = message["error"]
        raise MCPError(error["code"], error["message"], error.get("data"), status)
    if "result" not in message:
        raise MCPError(status, body.decode("utf-8", "replace")[:500], status=status)
    return message["result"]
