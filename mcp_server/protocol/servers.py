"""One low-level SDK `Server` per endpoint: what it says about itself, and who handles which method."""

from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

import mcp_types

from mcp_server.definitions.endpoint import Endpoint, EndpointDefinition
from mcp_server.protocol import listening, prompts, resources, standing, states, tools, translation
from mcp_server.protocol.channel import keep_level
from mcp_server.protocol.kernel import CacheHint, InitializationOptions, NotificationOptions, Server
from mcp_server.protocol.serving import Context, serving

PUBLIC_SECONDS = 60
"""How long a client may keep a list that is the same for everybody; other lists are never kept (contract G03)."""

_servers: WeakKeyDictionary[Endpoint, Server[Any]] = WeakKeyDictionary()


class EndpointServer(Server[Any]):
    """A server that tells clients of 2025 that it announces changes."""

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *args: Any, **kwargs: Any
    ) -> InitializationOptions:
        """Return what `initialize` answers."""
        told = notification_options or NotificationOptions(
            prompts_changed=True, resources_changed=True, tools_changed=True
        )
        return super().create_initialization_options(told, *args, **kwargs)


def server_for(endpoint: Endpoint) -> Server[Any]:
    """Return the endpoint's server, made at its first request."""
    server = _servers.get(endpoint)
    if server is None:
        server = _servers.setdefault(endpoint, build_server(endpoint))
    return server


def build_server(endpoint: Endpoint) -> Server[Any]:
    """Return a server of its own for an endpoint."""
    definition = endpoint.definition
    server: Server[Any] = EndpointServer(
        definition.title or definition.name,
        version=definition.version,
        title=definition.title or None,
        description=definition.description or None,
        instructions=definition.instructions or None,
        website_url=definition.website_url,
        icons=translation.icons(definition.icons),
        cache_hints={
            "tools/list": _cache_hint(definition, endpoint.tools.values()),
            "prompts/list": _cache_hint(definition, endpoint.prompts.values()),
            "resources/list": _cache_hint(definition, endpoint.resources),
            "resources/templates/list": _cache_hint(definition, endpoint.resources),
            "resources/read": CacheHint(ttl_ms=0, scope="private"),
            "server/discover": CacheHint(ttl_ms=0, scope="private"),
        },
        on_list_tools=tools.list_tools,
        on_call_tool=tools.call_tool,
        on_subscriptions_listen=listening.listen,
        **_documents(endpoint),
    )
    # Not through the constructor, which warns that the method is deprecated: clients of 2025 still send it.
    server.add_request_handler("logging/setLevel", mcp_types.SetLevelRequestParams, _set_level)
    server.middleware.append(states.boundary(endpoint.name))
    return server


def _documents(endpoint: Endpoint) -> dict[str, Any]:
    """Return the handlers of what the endpoint has beside tools; clients are told of nothing that is never there."""
    found: dict[str, Any] = {}
    if endpoint.resources:
        found |= {
            "on_list_resources": resources.list_resources,
            "on_list_resource_templates": resources.list_templates,
            "on_read_resource": resources.read_resource,
            "on_subscribe_resource": standing.subscribe,
            "on_unsubscribe_resource": standing.unsubscribe,
        }
    if endpoint.prompts:
        found |= {"on_list_prompts": prompts.list_prompts, "on_get_prompt": prompts.get_prompt}
    if found:
        found["on_completion"] = prompts.complete
    return found


def _cache_hint(definition: EndpointDefinition, items: Iterable[Any]) -> CacheHint:
    if is_public(definition) and not any(item.guard for item in items):
        return CacheHint(ttl_ms=PUBLIC_SECONDS * 1000, scope="public")
    return CacheHint(ttl_ms=0, scope="private")


def is_public(definition: EndpointDefinition) -> bool:
    """Return whether everybody sees the endpoint in the same way."""
    plain = not definition.login_required and definition.guard is None and not definition.middleware
    return plain and definition.policy == "off"


async def _set_level(context: Context, params: mcp_types.SetLevelRequestParams) -> mcp_types.EmptyResult:
    session = serving(context).incoming.session
    if session is not None:
        await keep_level(session, params.level)
    return mcp_types.EmptyResult()
