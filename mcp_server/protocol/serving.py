"""What the handlers of methods need of the request that they serve."""

from dataclasses import dataclass
from typing import Any, Protocol, cast

from mcp_server.calls.caller import Caller
from mcp_server.definitions.endpoint import Endpoint
from mcp_server.protocol import states
from mcp_server.protocol.exchange import Incoming
from mcp_server.protocol.kernel import ServerRequestContext
from mcp_server.protocol.outbound import Outbound
from mcp_server.protocol.questions import Questions, RoundQuestions

Context = ServerRequestContext[Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """One request as handlers see it; they find it as `context.request`."""

    incoming: Incoming
    caller: Caller
    questions: Questions
    outbound: Outbound

    @property
    def endpoint(self) -> Endpoint:
        """Return the endpoint that serves the request."""
        return self.incoming.exchange.endpoint


class Resumable(Protocol):
    """Params of a method whose handlers may ask."""

    @property
    def input_responses(self) -> Any: ...
    @property
    def request_state(self) -> str | None: ...


def serving(context: Context) -> Serving:
    """Return the request that a handler serves."""
    return cast("Serving", context.request)


async def resume(found: Serving, params: Resumable) -> None:
    """Give answers of this and earlier rounds to the handler's questions.

    Raises:
        MCPError: when the state was answered before.
    """
    if isinstance(found.questions, RoundQuestions):
        answers = params.input_responses or {}
        plain = {
            key: item.model_dump(by_alias=True, mode="json", exclude_none=True)
            for key, item in answers.items()
        }
        answered = found.questions.resume(plain, params.request_state)
        if answered is not None:
            await found.caller.runner.sync(states.use, answered)
