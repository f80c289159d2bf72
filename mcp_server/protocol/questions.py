"""Questions to the client in the middle of a call, in both eras (contract P05).

Until 2025-11-25 a question is a request on the call's own stream, and any process may receive the reply. Since 2026-07-28
it is the call's result: the client calls again with the answer, and the handler runs again from its start.
"""

import json
import secrets
from collections.abc import Mapping
from typing import Any, Never, Protocol

from mcp_types import MISSING_REQUIRED_CLIENT_CAPABILITY, InputRequiredResult
from mcp_types.methods import validate_client_result
from mcp_types.version import LATEST_HANDSHAKE_VERSION
from pydantic import ValidationError

from mcp_server.exceptions import ToolError
from mcp_server.protocol.kernel import MCPError
from mcp_server.protocol.outbound import Outbound
from mcp_server.schema.validation import JSONSchemaValidator

CAPABILITIES = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}
"""Which capability a client declares for each method that it answers."""

_CANNOT = "This client cannot answer the question of the tool. Ask the user in the conversation instead."


class InputRequired(BaseException):
    """Unwinds a handler whose question is the result of this request.

    No `Exception`, so that a handler's own `except Exception` does not take it for a failure of its work.

    Args:
        questions: that are open; more may join them until the handler has ended.
    """

    def __init__(self, questions: "RoundQuestions") -> None:
        super().__init__()
        self.questions = questions


class Questions(Protocol):
    """How one request asks its client; `waits` tells whether the answer comes while the handler waits."""

    waits: bool

    def can_ask(self, method: str) -> bool:
        """Return whether the client answers requests of this method."""
        ...

    async def ask(self, method: str, params: Mapping[str, Any], key: str | None) -> Mapping[str, Any]:
        """Return the client's answer.

        Raises:
            ToolError: when it cannot be asked, or its answer is wrong.
        """
        ...


class StreamQuestions:
    """Questions of a 2025 session, on the stream of the call."""

    waits = True

    def __init__(self, outbound: Outbound, capabilities: Mapping[str, Any]) -> None:
        self._outbound = outbound
        self._capabilities = capabilities

    def can_ask(self, method: str) -> bool:
        """Return whether there is a way to ask, and the client declared that it answers."""
        return self._outbound.can_send_request and CAPABILITIES.get(method) in self._capabilities

    async def ask(self, method: str, params: Mapping[str, Any], key: str | None) -> Mapping[str, Any]:
        """Return the answer that comes back, to whichever process.

        Raises:
            ToolError: when the client cannot be asked, refuses, or answers in a wrong form.
        """
        if not self.can_ask(method):
            raise ToolError(_CANNOT, 501)
        try:
            reply = await self._outbound.send_raw_request(method, params)
        except MCPError as error:
            raise ToolError(f"The client did not answer: {error.message}", 502) from error
        if not is_answer(method, params, reply):
            raise ToolError("The client's answer does not fit the question.", 502)
        return reply


class RoundQuestions:
    """Questions of a request since 2026-07-28: answered by this request, by an earlier round, or not yet.

    Args:
        capabilities: as the request declares them.
    """

    waits = False

    def __init__(self, capabilities: Mapping[str, Any]) -> None:
        self._capabilities = capabilities
        self._answers: dict[str, Any] = {}
        self._used: list[str] = []
        self._open: dict[str, dict[str, Any]] = {}
        self._count = 0
        self.lacking: str | None = None

    def resume(self, responses: Mapping[str, Any] | None, state: str | None) -> str | None:
        """Take the answers of this request and those of earlier rounds.

        Args:
            responses: the request's `inputResponses`.
            state: the request's `requestState`, unsealed.

        Returns:
            The name of the state if this request answers all that it asked: it may then not be used again.
        """
        known: dict[str, Any] = json.loads(state) if state else {}
        self._answers = {**known.get("answers", {}), **(responses or {})}
        asked: list[str] = known.get("asked", [])
        return known.get("name") if asked and all(key in self._answers for key in asked) else None

    def can_ask(self, method: str) -> bool:
        """Return whether the client declared that it answers."""
        return CAPABILITIES.get(method) in self._capabilities

    async def ask(self, method: str, params: Mapping[str, Any], key: str | None) -> Mapping[str, Any]:
        """Return the answer, or end the handler until the client calls again with it.

        Raises:
            ToolError: when the client did not declare that it answers.
            InputRequired: when there is no answer yet.
        """
        self._count += 1
        key = key or f"question-{self._count}"
        if not self.can_ask(method):
            self.lacking = CAPABILITIES.get(method, method)
            raise ToolError(_CANNOT, 501)
        answer = self._answers.get(key)
        self._used.append(key)
        if answer is not None and is_answer(method, params, answer):
            found: Mapping[str, Any] = answer
            return found
        # A wrong answer is asked again, as the specification recommends.
        self._used.remove(key)
        self._open[key] = {"method": method, "params": params}
        raise InputRequired(self)

    def result(self) -> InputRequiredResult:
        """Return what the client must answer first. Questions that ran side by side are asked together."""
        answers = {key: self._answers[key] for key in self._used}
        state = {"answers": answers, "asked": list(self._open), "name": secrets.token_urlsafe(16)}
        return InputRequiredResult.model_validate(
            {"inputRequests": self._open, "requestState": json.dumps(state)}, by_name=False
        )

    def refuse_failure(self, message: str) -> None:
        """Turn a failure for want of a capability into the protocol's own error.

        Raises:
            MCPError: when `message` is that failure.
        """
        if self.lacking is not None and message == _CANNOT:
            raise_lacking(self.lacking)


def raise_lacking(capability: str) -> Never:
    """Refuse a request that needs a capability which the client did not declare.

    Raises:
        MCPError: always.
    """
    raise MCPError(
        MISSING_REQUIRED_CLIENT_CAPABILITY,
        f"This request needs the client capability {capability!r}, which was not declared.",
        {"requiredCapabilities": {capability: {}}},
    )


def is_answer(method: str, params: Mapping[str, Any], reply: Any) -> bool:
    """Return whether a client's reply has the form that the method, and for a form its schema, ask for."""
    # Since 2026 answers are parts of requests, but their forms are those of the last revision that had them as results.
    try:
        validate_client_result(method, LATEST_HANDSHAKE_VERSION, reply)
    except (ValidationError, TypeError):
        return False
    except KeyError:
        # Not a method that the SDK knows: what the reply means is between the handler and its client.
        return isinstance(reply, Mapping)
    schema = params.get("requestedSchema")
    if schema is None or reply.get("action") != "accept":
        return True
    return not JSONSchemaValidator(schema).problems(reply.get("content") or {})
