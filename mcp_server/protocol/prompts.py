"""`prompts/list`, `prompts/get` and `completion/complete`."""

import mcp_types

from mcp_server.calls import documents
from mcp_server.protocol import pages, translation
from mcp_server.protocol.kernel import MCPError
from mcp_server.protocol.questions import InputRequired
from mcp_server.protocol.replies import INTERNAL_ERROR, INVALID_PARAMS
from mcp_server.protocol.serving import Context, resume, serving


async def list_prompts(
    context: Context, params: mcp_types.PaginatedRequestParams | None
) -> mcp_types.ListPromptsResult:
    """Return the prompts that the caller may see."""
    visible = await documents.visible_prompts(serving(context).caller)
    shown, cursor = pages.cut(visible, params)
    return mcp_types.ListPromptsResult(
        prompts=[
            mcp_types.Prompt(
                **translation.describe(item),
                arguments=[
                    mcp_types.PromptArgument(
                        name=part.name, description=part.description or None, required=part.required
                    )
                    for part in item.parameters.parameters
                ],
            )
            for item in shown
        ],
        next_cursor=cursor,
    )


async def get_prompt(
    context: Context, params: mcp_types.GetPromptRequestParams
) -> mcp_types.GetPromptResult | mcp_types.InputRequiredResult:
    """Return a prompt's messages, or what the client must answer first."""
    found = serving(context)
    await resume(found, params)
    try:
        definition, messages = await documents.get_prompt(found.caller, params.name, params.arguments)
    except documents.Unavailable as error:
        raise _refusal(error) from error
    except InputRequired as pending:
        return pending.questions.result()
    return mcp_types.GetPromptResult.model_validate(
        {
            "description": definition.description or None,
            "messages": [
                {
                    "role": item.role,
                    "content": translation.content_block(item.content, context.protocol_version),
                }
                for item in messages
            ],
        }
    )


async def complete(context: Context, params: mcp_types.CompleteRequestParams) -> mcp_types.CompleteResult:
    """Return what a parameter of a prompt or a template may be."""
    caller = serving(context).caller
    reference = params.ref
    definition: documents.Handled | None
    if isinstance(reference, mcp_types.PromptReference):
        definition = caller.endpoint.prompts.get(reference.name)
    else:
        templates = {item.uri.text: item for item in caller.endpoint.resources}
        definition = templates.get(reference.uri)
    others = (params.context.arguments if params.context is not None else None) or {}
    try:
        values, more = await documents.complete(
            caller, definition, (params.argument.name, params.argument.value), others
        )
    except documents.Unavailable as error:
        raise _refusal(error) from error
    return mcp_types.CompleteResult(completion=mcp_types.Completion(values=values, has_more=more))


def _refusal(error: documents.Unavailable) -> MCPError:
    code = INVALID_PARAMS if error.failure.status in {400, 404} else INTERNAL_ERROR
    return MCPError(code, error.failure.message)
