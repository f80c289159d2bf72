"""What a handler may know and do beyond its arguments."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from django.http import HttpRequest

LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


@dataclass(frozen=True, slots=True)
class ClientInfo:
    """The program that calls: its name, version, and the protocol revision it speaks."""

    name: str = ""
    version: str = ""
    protocol: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a person said to a question: `action` is "accept", "decline" or "cancel"; `data` is there on accept."""

    action: Literal["accept", "decline", "cancel"]
    data: Any = None

    def __bool__(self) -> bool:
        return self.action == "accept"


class Channel(Protocol):
    """The way back to the client during a call."""

    @property
    def waits(self) -> bool:
        """Return whether a question is answered within the call, rather than by the next one."""
        ...

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Tell the client how far the work is, if it asked."""

    async def log(self, level: LogLevel, data: Any, logger: str | None) -> None:
        """Send a log message to the client, if it listens."""

    def can_ask(self, method: str) -> bool:
        """Return whether this client answers requests of this method now."""
        ...

    async def ask(self, method: str, params: Mapping[str, Any], key: str | None) -> Mapping[str, Any]:
        """Return the client's answer to a request of the protocol, such as `elicitation/create`.

        Args:
            method: of the request.
            params: of the request.
            key: names the question among those of one handler; by default its number.

        Raises:
            ToolError: when this client cannot be asked, or its answer has the wrong form.
        """
        ...


class Context(ABC):
    """Given to a parameter annotated with it; never part of the schema.

    Methods come in twins in Django's manner: `progress` for sync tools, `aprogress` for async ones.
    """

    request: HttpRequest
    endpoint: str
    client_info: ClientInfo
    session: str | None

    @property
    def user(self) -> Any:
        """The user for whom the tool runs."""
        return self.request.user

    @abstractmethod
    async def aprogress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Tell the client how far the work is: `progress` of `total`, with an optional sentence."""

    @abstractmethod
    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """See `aprogress`."""

    @abstractmethod
    async def alog(self, data: Any, level: LogLevel = "info", logger: str | None = None) -> None:
        """Send a log message to a client that listens; `data` is any JSON value without secrets."""

    @abstractmethod
    def log(self, data: Any, level: LogLevel = "info", logger: str | None = None) -> None:
        """See `alog`."""

    @abstractmethod
    async def aelicit(self, message: str, schema: Any, *, key: str | None = None) -> Answer:
        """Return a person's answer to a question.

        Since 2026-07-28 the client sends the answer with a new request, for which the handler runs again from its start
        and gets it at once: let nothing that must happen once stand before the question.

        Args:
            message: what the person reads.
            schema: a pydantic model or a flat JSON Schema of the form.
            key: names the question; by default its number among the handler's questions.

        Raises:
            ToolError: when the client cannot ask its user.
        """

    @abstractmethod
    def elicit(self, message: str, schema: Any, *, key: str | None = None) -> Answer:
        """See `aelicit`."""

    @abstractmethod
    async def aask(
        self, method: str, params: Mapping[str, Any] | None = None, *, key: str | None = None
    ) -> Mapping[str, Any]:
        """Return the client's answer to any request of the protocol, such as `sampling/createMessage` or `roots/list`.

        Raises:
            ToolError: when the client did not declare that it answers this method.
        """

    @abstractmethod
    def ask(
        self, method: str, params: Mapping[str, Any] | None = None, *, key: str | None = None
    ) -> Mapping[str, Any]:
        """See `aask`."""

    @abstractmethod
    def can_ask(self, method: str = "elicitation/create") -> bool:
        """Return whether this client can be asked: by default, whether it can put a form before a person."""

    @abstractmethod
    async def aconfirm(self, message: str) -> bool:
        """Return whether a person agreed."""

    @abstractmethod
    def confirm(self, message: str) -> bool:
        """See `aconfirm`."""

    @abstractmethod
    async def acall_tool(self, name: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """Return the value of another tool, called as this user through the same checks.

        Raises:
            ToolError: when the tool failed or is not there for this user.
            Guidance: when it gave advice instead.
        """

    @abstractmethod
    def call_tool(self, name: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """See `acall_tool`."""

    @abstractmethod
    async def anotify_resource_updated(self, uri: str) -> None:
        """Tell subscribers that a resource changed, after the transaction commits."""

    @abstractmethod
    def notify_resource_updated(self, uri: str) -> None:
        """See `anotify_resource_updated`."""
