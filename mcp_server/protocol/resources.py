"""`resources/*`: lists, templates, reading, and the subscriptions of 2025."""

from collections.abc import Sequence
from typing import Any, Never

import mcp_types

from mcp_server.calls import documents
from mcp_server.definitions.resource import ResourceDefinition
from mcp_server.protocol import pages, translation
from mcp_server.protocol.kernel import MCPError
from mcp_server.protocol.questions import InputRequired
from mcp_server.protocol.replies import INTERNAL_ERROR, INVALID_PARAMS
from mcp_server.protocol.serving import Context, resume, serving

MISSING_BEFORE_2026 = -32002


async def list_resources(
    context: Context, params: mcp_types.PaginatedRequestParams | None
) -> mcp_types.ListResourcesResult:
    """Return the resources that the caller may see."""
    shown, cursor = await _list(context, params, templates=False)
    return mcp_types.ListResourcesResult(
        resources=[mcp_types.Resource(uri=item.uri.text, **_describe(item)) for item in shown],
        next_cursor=cursor,
    )


async def list_templates(
    context: Context, params: mcp_types.PaginatedRequestParams | None
) -> mcp_types.ListResourceTemplatesResult:
    """Return the templates of resources that the caller may see."""
    shown, cursor = await _list(context, params, templates=True)
    return mcp_types.ListResourceTemplatesResult(
        resource_templates=[
            mcp_types.ResourceTemplate(uri_template=item.uri.text, **_describe(item)) for item in shown
        ],
        next_cursor=cursor,
    )


async def _list(
    context: Context, params: mcp_types.PaginatedRequestParams | None, *, templates: bool
) -> tuple[Sequence[ResourceDefinition], str | None]:
    visible = await documents.visible_resources(serving(context).caller, templates=templates)
    return pages.cut(visible, params, key=lambda item: item.uri.text)


def _describe(item: ResourceDefinition) -> dict[str, Any]:
    return {**translation.describe(item), "mime_type": item.mime_type}


async def read_resource(
    context: Context, params: mcp_types.ReadResourceRequestParams
) -> mcp_types.ReadResourceResult | mcp_types.InputRequiredResult:
    """Return the contents of a resource, or what the client must answer first."""
    found = serving(context)
    uri = str(params.uri)
    await resume(found, params)
    try:
        contents = await documents.read_resource(found.caller, uri)
    except documents.Unavailable as error:
        refuse(error, uri, modern=found.incoming.modern)
    except InputRequired as pending:
        return pending.questions.result()
    return mcp_types.ReadResourceResult(contents=[translation.resource_contents(item) for item in contents])


def not_found(uri: str, *, modern: bool) -> MCPError:
    """Return the error for a resource that is not there for the caller."""
    return MCPError(INVALID_PARAMS if modern else MISSING_BEFORE_2026, "Resource not found", {"uri": uri})


def refuse(error: documents.Unavailable, uri: str, *, modern: bool) -> Never:
    """Refuse a request for a resource.

    Raises:
        MCPError: always.
    """
    failure = error.failure
    if failure.status == 404:
        raise not_found(uri, modern=modern)
    raise MCPError(INVALID_PARAMS if failure.status == 400 else INTERNAL_ERROR, failure.message)
