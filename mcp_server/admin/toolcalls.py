"""Tool calls, direct and from code (contract A03)."""

from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from mcp_server.admin import amounts
from mcp_server.admin.filters import CallOutcomeFilter, EndpointFilter, OriginFilter, ToolFilter, UserFilter
from mcp_server.admin.logs import LogAdmin, may_view_content
from mcp_server.admin.outcomes import outcome_badge
from mcp_server.admin.runpage import pretty_json
from mcp_server.models import CodeRun, ToolCall


class ToolCallAdmin(LogAdmin):
    """Calls, newest first."""

    page_title = _("Tool call")
    content_fields = ("arguments", "error")
    export_fields = (
        "id", "started", "endpoint", "tool", "username", "client", "protocol", "run_id", "sequence", "status",
        "error_status", "reference", "duration_ms", "request_bytes", "response_bytes",
        *content_fields,
    )  # fmt: skip
    list_display = ("moment", "tool", "badge", "person", "endpoint", "origin", "took", "response", "client")
    list_filter = (CallOutcomeFilter, EndpointFilter, OriginFilter, ToolFilter, UserFilter)
    search_help_text = _("Call, run, reference id of an error, or tool.")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.try_view)
        return [path("try/", view, name="mcp_toolkit_toolcall_try"), *super().get_urls()]

    def exact_search(self, queryset: QuerySet[Any], term: str) -> QuerySet[Any]:
        return queryset.filter(Q(pk=term) | Q(run=term) | Q(reference=term) | Q(tool=term))

    def try_view(self, request: HttpRequest) -> HttpResponse:
        """Return the page on which staff call tools as themselves."""
        # Not at start-up: it brings all of code mode, with the parser (contract Q08).
        from mcp_server.admin.tryit import try_page

        return try_page(self, request)

    def describe(self, request: HttpRequest, row: ToolCall) -> dict[str, Any]:
        with_content = may_view_content(request)
        return {
            "with_content": with_content,
            "arguments": pretty_json(row.arguments) if with_content else "",
            "run": CodeRun.objects.filter(pk=row.run_id).only("pk", "status", "started", "deadline").first(),
            "may_view_runs": request.user.has_perm("mcp_toolkit.view_coderun"),
        }

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
