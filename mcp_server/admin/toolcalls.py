"""Tool calls, direct and from code (contract A03)."""

from functools import partial
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from mcp_server.admin import amounts
from mcp_server.admin.filters import CallOutcomeFilter, EndpointFilter, OriginFilter, ToolFilter, UserFilter
from mcp_server.admin.logs import LogAdmin, may_view_content
from mcp_server.admin.outcomes import outcome_badge
from mcp_server.admin.pages import page_context
from mcp_server.admin.runpage import pretty_json
from mcp_server.admin.tryit import try_view
from mcp_server.models import CodeRun, ToolCall


class ToolCallAdmin(LogAdmin):
    """Calls, newest first."""

    content_fields = ("arguments", "error")
    export_fields = (
        *(
            "id",
            "started",
            "endpoint",
            "tool",
            "username",
            "client",
            "protocol",
            "run_id",
            "sequence",
            "status",
        ),
        *(
            "error_status",
            "reference",
            "duration_ms",
            "request_bytes",
            "response_bytes",
            "arguments",
            "error",
        ),
    )
    list_display = ("moment", "tool", "badge", "person", "endpoint", "origin", "took", "response", "client")
    list_filter = (CallOutcomeFilter, EndpointFilter, OriginFilter, ToolFilter, UserFilter)
    search_help_text = _("Call, run, reference id of an error, or tool.")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(partial(try_view, self))
        return [path("try/", view, name="mcp_toolkit_toolcall_try"), *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ToolCall]:
        return super().get_queryset(request).defer(*self.content_fields)

    def exact_search(self, queryset: QuerySet[Any], term: str) -> QuerySet[Any]:
        return queryset.filter(Q(pk=term) | Q(run=term) | Q(reference=term) | Q(tool=term))

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        call = ToolCall.objects.filter(pk=unquote(object_id)).first()
        if call is None:
            return self.missing(request, object_id)
        if not self.has_view_permission(request, call):
            raise PermissionDenied
        with_content = may_view_content(request)
        context = {
            **page_context(self, request, _("Tool call"), call),
            "with_content": with_content,
            "arguments": pretty_json(call.arguments) if with_content else "",
            "run": CodeRun.objects.filter(pk=call.run_id).only("pk", "status", "started", "deadline").first(),
            "may_view_runs": request.user.has_perm("mcp_toolkit.view_coderun"),
            **(extra_context or {}),
        }
        return TemplateResponse(request, "admin/mcp_toolkit/toolcall/page.html", context)

    @admin.display(description=_("outcome"))
    def badge(self, obj: ToolCall) -> SafeString:
        """Return the outcome."""
        return outcome_badge(obj.status)

    @admin.display(description=_("origin"))
    def origin(self, obj: ToolCall) -> Any:
        """Return the run that the call was made from, as a link."""
        if obj.run_id is None:
            return _("direct")
        return format_html('<a href="{}">{}</a>', self.link_to(CodeRun(pk=obj.run_id)), _("code run"))

    @admin.display(description=_("duration"))
    def took(self, obj: ToolCall) -> str:
        """Return how long the call took."""
        return amounts.duration(obj.duration_ms)

    @admin.display(description=_("response size"))
    def response(self, obj: ToolCall) -> str:
        """Return the size of the response."""
        return amounts.size(obj.response_bytes)
