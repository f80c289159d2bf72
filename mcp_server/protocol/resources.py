"""`resources/*`: lists, templates, reading, and the subscriptions of 2025."""

from typing import Never

import mcp_types

from mcp_server.calls import documents
from mcp_server.conf import options
from mcp_server.definitions.resource import ResourceDefinition
from mcp_server.protocol import pages, translation
from mcp_server.protocol.kernel import MCPError
from mcp_server.protocol.questions import InputRequired, RoundQuestions
from mcp_server.protocol.replies import INTERNAL_ERROR, INVALID_PARAMS
from mcp_server.protocol.serving import Context, resume, serving

MISSING_BEFORE_2026 = -32002


async def list_resources(
    context: Context, params: mcp_types.PaginatedRequestParams | None
) -> mcp_types.ListResourcesResult:
    """Return the resources that the caller may see."""
    visible = await documents.visible_resources(serving(context).caller, templates=False)
    shown, cursor = pages.cut(visible, params.cursor if params else None, options().page_size, key=_uri)
    return mcp_types.ListResourcesResult(
        resources=[
            mcp_types.Resource(
                uri=item.uri.text,
                name=item.name,
                title=item.title,
                description=item.description or None,
                mime_type=item.mime_type,
                icons=translation.icons(item.icons),
                _meta=translation.describe_meta(item.meta, item.group, item.tags) or None,
            )
            for item in shown
        ],
        next_cursor=cursor,
    )


async def list_templates(
    context: Context, params: mcp_types.PaginatedRequestParams | None
) -> mcp_types.ListResourceTemplatesResult:
    """Return the templates of resources that the caller may see."""
    visible = await documents.visible_resources(serving(context).caller, templates=True)
    shown, cursor = pages.cut(visible, params.cursor if params else None, options().page_size, key=_uri)
    return mcp_types.ListResourceTemplatesResult(
        resource_templates=[
            mcp_types.ResourceTemplate(
                uri_template=item.uri.text,
                name=item.name,
                title=item.title,
                description=item.description or None,
                mime_type=item.mime_type,
                icons=translation.icons(item.icons),
                _meta=translation.describe_meta(item.meta, item.group, item.tags) or None,
            )
            for item in shown
        ],
        next_cursor=cursor,
    )


def _uri(item: ResourceDefinition) -> str:
    return item.uri.text


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
    except InputRequired:
        assert isinstance(found.questions, RoundQuestions)  # noqa: S101 - nothing else raises it
        return found.questions.result()
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
