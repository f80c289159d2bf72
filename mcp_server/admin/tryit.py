"""Try it: staff call a tool, or run code, as themselves and see what a client would get (contract A08)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from asgiref.sync import async_to_sync
from django import forms
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _

from mcp_server.admin.pages import page_context
from mcp_server.calls.caller import Caller, enter_as
from mcp_server.calls.rendering import Rendered, render
from mcp_server.codemode.names import CODE
from mcp_server.codemode.offering import call_offered, offered_tools
from mcp_server.definitions.context import ClientInfo
from mcp_server.definitions.registry import registry
from mcp_server.definitions.results import Text
from mcp_server.definitions.tool import ToolDefinition
from mcp_server.exceptions import UnknownTool


class ArgumentsForm(forms.Form):
    """The arguments of a tool, as the JSON that a client sends."""

    arguments = forms.CharField(
        label=_("arguments"),
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 8, "cols": 80, "spellcheck": "false", "class": "mcp-source"}),
    )

    def clean_arguments(self) -> dict[str, Any]:
        try:
            value = json.loads(self.cleaned_data["arguments"] or "{}")
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError(
                _("This is no JSON: %(error)s"), params={"error": error}, code="json"
            ) from None
        if not isinstance(value, dict):
            raise forms.ValidationError(_("The arguments must be a JSON object."), code="object")
        return value


class CodeForm(forms.Form):
    """A program, as a model writes it."""

    code = forms.CharField(
        label=_("code"),
        strip=False,
        widget=forms.Textarea(attrs={"rows": 14, "cols": 80, "spellcheck": "false", "class": "mcp-source"}),
    )

    def clean(self) -> dict[str, Any]:
        # The form's own value is the call's arguments, as with any other tool.
        return {"arguments": dict(super().clean() or {})}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client would get."""

    text: str
    structured: str
    media: list[str]
    is_error: bool

    @classmethod
    def of(cls, rendered: Rendered) -> "Answer":
        """Return a rendered result, prepared for the page."""
        texts = [item.text for item in rendered.content if isinstance(item, Text)]
        media = [type(item).__name__ for item in rendered.content if not isinstance(item, Text)]
        structured = "" if rendered.structured is None else _pretty(rendered.structured)
        return cls("\n".join(texts), structured, media, rendered.is_error)


def try_page(admin: Any, request: HttpRequest) -> HttpResponse:
    """Return the page of a model admin's site on which tools are tried."""
    names = [endpoint.name for endpoint in registry.endpoints()]
    name = request.GET.get("endpoint", "")
    name = name if name in names else names[0]
    tools = async_to_sync(_offered)(request.user, name)
    chosen = next((tool for tool in tools if tool.name == request.GET.get("tool")), None)
    form, answer = _fill(request, name, chosen) if chosen is not None else (None, None)
    context = {
        **page_context(admin, request, _("Try it")),
        "endpoint_names": names,
        "endpoint_name": name,
        "tools": tools,
        "chosen": chosen,
        "schema": _pretty(chosen.arguments.json_schema) if chosen is not None else "",
        "form": form,
        "answer": answer,
        "may_view_calls": admin.has_view_permission(request),
    }
    return TemplateResponse(request, "admin/mcp_toolkit/toolcall/try.html", context)


def _fill(request: HttpRequest, endpoint: str, tool: ToolDefinition) -> tuple[forms.Form, Answer | None]:
    kind = CodeForm if tool.name == CODE else ArgumentsForm
    if request.method != "POST":
        example = tool.input_examples[0] if tool.input_examples else _required(tool.arguments.json_schema)
        return kind(initial={"arguments": _pretty(example)}), None
    form = kind(request.POST)
    if not form.is_valid():
        return form, None
    return form, async_to_sync(_call)(request.user, endpoint, tool.name, form.cleaned_data["arguments"])


def _required(schema: Mapping[str, Any]) -> dict[str, None]:
    return dict.fromkeys(schema.get("required", ()))


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


async def _enter(user: Any, endpoint: str) -> Caller:
    return replace(await enter_as(user, endpoint), client=ClientInfo("admin"))


async def _offered(user: Any, endpoint: str) -> list[ToolDefinition]:
    return await offered_tools(await _enter(user, endpoint))


async def _call(user: Any, endpoint: str, name: str, arguments: Mapping[str, Any]) -> Answer:
    caller = await _enter(user, endpoint)
    try:
        called = await call_offered(caller, name, arguments)
    except UnknownTool:
        # It was offered a moment ago: the right to it was taken meanwhile.
        return Answer(f"Unknown tool: {name}", "", [], is_error=True)
    form = called.definition.result_format or caller.endpoint.definition.result_format
    return Answer.of(render(called.outcome, called.definition, result_format=form, structured_allowed=True))
