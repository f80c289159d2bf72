"""Resources, prompts and completions: found, permitted and run like tools, on the same threads (contract P03)."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from mcp_server.access.permission import apermits, choose_permitted
from mcp_server.calls.caller import Caller
from mcp_server.calls.context import CallContext
from mcp_server.calls.failures import explain
from mcp_server.calls.results import Failure
from mcp_server.calls.transactions import atomic_aliases, atomic_on
from mcp_server.definitions.completion import Source, suggest
from mcp_server.definitions.guards import refuse
from mcp_server.definitions.prompt import PromptDefinition
from mcp_server.definitions.resource import ResourceDefinition
from mcp_server.definitions.results import CONTENT_TYPES, ContentItem, EmbeddedResource, Text
from mcp_server.exceptions import ToolError
from mcp_server.schema.plain import dump_plain

TIMEOUT = 60.0
Shape = Callable[[Any], Any]


class Unavailable(Exception):
    """A resource or prompt that cannot be given. Status 404 says the same for what is hidden and what never was."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


Handled = ResourceDefinition | PromptDefinition


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt."""

    role: str
    content: ContentItem


async def visible_resources(caller: Caller, *, templates: bool) -> list[ResourceDefinition]:
    """Return the resources that the caller may see, or the templates of such."""
    wanted = [item for item in caller.endpoint.resources if item.uri.is_template == templates]
    return await _permitted(caller, wanted)


async def visible_prompts(caller: Caller) -> list[PromptDefinition]:
    """Return the prompts that the caller may see, sorted by name."""
    return await _permitted(caller, list(caller.endpoint.prompts.values()))


async def may_read(caller: Caller, uri: str) -> bool:
    """Return whether there is a resource of this URI for the caller, without reading it."""
    found = caller.endpoint.find_resource(uri)
    return found is not None and await _is_permitted(caller, found[0])


async def read_resource(caller: Caller, uri: str) -> list[EmbeddedResource]:
    """Return the contents of a resource.

    Raises:
        Unavailable: when it cannot be given; with status 404 when there is none for this caller.
    """
    found = caller.endpoint.find_resource(uri)
    if found is None or not await _is_permitted(caller, found[0]):
        raise Unavailable(Failure("Resource not found", 404))
    definition, texts = found
    contents: list[EmbeddedResource] = await _run(
        caller, definition, texts, lambda value: _contents(value, uri, definition)
    )
    return contents


async def get_prompt(
    caller: Caller, name: str, arguments: Mapping[str, str] | None
) -> tuple[PromptDefinition, list[Message]]:
    """Return a prompt and its messages.

    Raises:
        Unavailable: when it cannot be given; with status 404 when there is none for this caller.
    """
    definition = caller.endpoint.prompts.get(name)
    if definition is None or not await _is_permitted(caller, definition):
        raise Unavailable(Failure(f"Unknown prompt: {name}", 404))
    messages: list[Message] = await _run(caller, definition, arguments or {}, _messages)
    return definition, messages


async def complete(
    caller: Caller,
    definition: Handled | None,
    typed: tuple[str, str],
    others: Mapping[str, str],
) -> tuple[list[str], bool]:
    """Return values for a parameter, and whether there are more.

    Args:
        caller: who types.
        definition: whose parameter it is; None for one that does not exist.
        typed: the parameter's name, and what was typed so far.
        others: parameters that are settled already.

    Raises:
        Unavailable: with status 404 when there is nothing of the kind for this caller.
    """
    if definition is None or not await _is_permitted(caller, definition):
        raise Unavailable(Failure("There is nothing of this name to complete.", 404))
    name, text = typed
    source = _source(definition, name)
    try:
        found: tuple[list[str], bool] = await caller.runner.sync(
            suggest, source, text, others, timeout=TIMEOUT
        )
    except Exception as error:
        raise _unavailable(error, definition.name) from error
    return found


def _source(definition: Handled, name: str) -> Source:
    if name in definition.completions:
        return definition.completions[name]
    choices = [item.choices for item in definition.parameters.parameters if item.name == name]
    return choices[0] if choices else ()


async def _permitted(caller: Caller, wanted: Sequence[Any]) -> list[Any]:
    return await choose_permitted(wanted, caller.endpoint.definition, caller.principal, caller.runner)


async def _is_permitted(caller: Caller, definition: Handled) -> bool:
    return await apermits(definition, caller.endpoint.definition, caller.principal, caller.runner)


async def _run(caller: Caller, definition: Handled, texts: Mapping[str, str], shape: Shape) -> Any:
    runner = caller.runner
    try:
        if not definition.is_async:
            return await runner.sync(_run_sync, caller, definition, texts, shape, timeout=TIMEOUT)
        arguments = await runner.sync(_admit, caller, definition, texts)
        value = await runner.coroutine(definition.handler(**arguments), timeout=TIMEOUT)
        # On a thread, since a queryset is read while it is shaped.
        return await runner.sync(shape, value)
    except Exception as error:
        raise _unavailable(error, definition.name) from error


def _run_sync(caller: Caller, definition: Handled, texts: Mapping[str, str], shape: Shape) -> Any:
    aliases = atomic_aliases(None)
    arguments = _admit(caller, definition, texts, in_atomic=bool(aliases))
    with atomic_on(aliases):
        return shape(definition.handler(**arguments))


def _admit(
    caller: Caller, definition: Handled, texts: Mapping[str, str], *, in_atomic: bool = False
) -> dict[str, Any]:
    """Return the handler's arguments, unless the guard has advice for the caller."""
    if caller.principal.objection is not None:
        raise caller.principal.objection.with_traceback(None)
    refuse(definition.guard, caller.principal.request)
    wanted = definition.parameters
    arguments = wanted.convert(texts)
    arguments.update(dict.fromkeys(wanted.context, CallContext(caller, in_atomic=in_atomic)))
    arguments.update(dict.fromkeys(wanted.request, caller.principal.request))
    return arguments


def _unavailable(error: Exception, name: str) -> Unavailable:
    outcome = explain(error, name).outcome
    if outcome.failure is not None:
        return Unavailable(outcome.failure)
    return Unavailable(Failure(outcome.guidance or "It cannot be read.", 403))


def _contents(value: Any, uri: str, definition: ResourceDefinition) -> list[EmbeddedResource]:
    if (
        isinstance(value, list | tuple)
        and value
        and all(isinstance(item, EmbeddedResource) for item in value)
    ):
        return list(value)
    if isinstance(value, EmbeddedResource):
        return [_from_bytes(value, value.uri or uri)]
    mime_type = definition.mime_type
    if value is None:
        raise ToolError("Resource not found", 404)
    if isinstance(value, str):
        return [EmbeddedResource(uri=uri, text=value, mime_type=mime_type or "text/plain")]
    if isinstance(value, bytes):
        kind = mime_type or "application/octet-stream"
        return [_from_bytes(EmbeddedResource(uri=uri, blob=value, mime_type=kind), uri)]
    return [
        EmbeddedResource(uri=uri, text=dump_plain(value).decode(), mime_type=mime_type or "application/json")
    ]


_TEXTUAL = ("text/", "application/json", "application/xml", "application/yaml", "application/javascript")


def _from_bytes(item: EmbeddedResource, uri: str) -> EmbeddedResource:
    """Return bytes of a textual type as text, which is what models read."""
    text, blob = item.text, item.blob
    if isinstance(blob, bytes) and (item.mime_type or "").startswith(_TEXTUAL):
        with suppress(UnicodeDecodeError):
            text, blob = blob.decode("utf-8"), None
    return EmbeddedResource(uri=uri, text=text, blob=blob, mime_type=item.mime_type)


def _messages(value: Any) -> list[Message]:
    items = value if isinstance(value, list | tuple) else [value]
    return [_message(item) for item in items]


def _message(item: Any) -> Message:
    role, content = "user", item
    if isinstance(item, Mapping) and item.keys() == {"role", "content"}:
        role, content = item["role"], item["content"]
    if isinstance(content, str):
        content = Text(content)
    if role not in {"user", "assistant"} or not isinstance(content, CONTENT_TYPES):
        raise TypeError(
            "A prompt gives texts, content items, or {'role': 'user' | 'assistant', 'content': ...}; "
            f"it gave {type(item).__name__}."
        )
    return Message(role, content)
