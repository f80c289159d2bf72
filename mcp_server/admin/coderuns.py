"""Code runs: the list, the page of one, and stopping it (contract A02, A04)."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import URLPattern, get_script_prefix, path
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from mcp_server.admin import amounts
from mcp_server.admin.filters import EndpointFilter, LimitFilter, RunOutcomeFilter, UserFilter
from mcp_server.admin.logs import LogAdmin, may_view_content
from mcp_server.admin.outcomes import outcome_badge
from mcp_server.admin.runpage import RunPage
from mcp_server.codemode.watching import LIVE_PATH
from mcp_server.models import CodeRun, Limits, ToolCall

STOP = "mcp_toolkit.stop_coderun"
FRAGMENT = "_fragment"


class CodeRunAdmin(LogAdmin):
    """Runs of code, newest first."""

    class Media:
        js = ("mcp_toolkit/live.js",)

    page_title = _("Code run")
    content_fields = ("code", "error", "console", "result")
    export_fields = (
        "id", "started", "endpoint", "username", "client", "protocol", "status", "limit", "calls",
        "cpu_ms", "wall_ms", "queue_ms", "peak_memory_mb", "result_bytes",
        *content_fields,
    )  # fmt: skip
    list_display = ("moment", "badge", "person", "endpoint", "calls", "wall", "cpu", "met_limit", "client")
    list_filter = (RunOutcomeFilter, EndpointFilter, LimitFilter, UserFilter)
    search_help_text = _(
        "Run, or reference id of one of its errors; with the right to see code, words of it too."
    )

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.stop_view)
        return [path("<path:object_id>/stop/", view, name="mcp_toolkit_coderun_stop"), *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[CodeRun]:
        return super().get_queryset(request).defer("limits")

    def exact_search(self, queryset: QuerySet[Any], term: str) -> QuerySet[Any]:
        of_reference = ToolCall.objects.filter(reference=term).exclude(run=None).values_list("run", flat=True)
        return queryset.filter(pk__in=[term, *of_reference[:100]])

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        found, distinct = super().get_search_results(request, queryset, search_term)
        if search_term.strip() and may_view_content(request) and not found.exists():
            return queryset.filter(code__icontains=search_term.strip()), distinct
        return found, distinct

    def page_name(self, request: HttpRequest) -> str:
        # What changes while a run goes on is drawn by the server alone; the page's script puts it in place.
        return "body" if FRAGMENT in request.GET else "page"

    def describe(self, request: HttpRequest, row: CodeRun) -> dict[str, Any]:
        return {
            "page": RunPage.of(row, with_content=may_view_content(request)),
            "may_stop": request.user.has_perm(STOP) and row.is_running and row.stop_requested is None,
            "stop_url": self.admin_url("stop", row.pk),
            "may_view_calls": request.user.has_perm("mcp_toolkit.view_toolcall"),
            "live_url": f"{get_script_prefix()}{LIVE_PATH}{row.pk}/",
        }

    @method_decorator(require_POST)
    def stop_view(self, request: HttpRequest, object_id: str) -> HttpResponseBase:
        """Ask the run's host to end it; the host looks every second, so no channel layer is needed."""
        run = self.find(object_id)
        if not request.user.has_perm(STOP) or not self.has_view_permission(request, run):
            raise PermissionDenied
        if run is None:
            return self.missing(request, object_id)
        asked = CodeRun.objects.filter(pk=run.pk, status="running", stop_requested=None).update(
            stop_requested=timezone.now(), stopped_by=request.user.get_username()
        )
        if asked:
            self.log_change(request, run, [{"changed": {"fields": [str(_("stop requested"))]}}])
            self.message_user(request, _("The run is being stopped."), messages.SUCCESS)
        else:
            self.message_user(request, _("This run has ended already."), messages.WARNING)
        return HttpResponseRedirect(self.link_to(run))

    @admin.display(description=_("outcome"))
    def badge(self, obj: CodeRun) -> SafeString:
        """Return the outcome."""
        return outcome_badge(obj.outcome)

    @admin.display(description=_("time"))
    def wall(self, obj: CodeRun) -> str:
        """Return how long the run took."""
        return amounts.duration(obj.wall_ms)

    @admin.display(description=_("processor time"))
    def cpu(self, obj: CodeRun) -> str:
        """Return the time on the processor."""
        return amounts.duration(obj.cpu_ms)

    @admin.display(description=_("limit"))
    def met_limit(self, obj: CodeRun) -> Any:
        """Return the limit that the run met."""
        return Limits.label(obj.limit) if hasattr(Limits, obj.limit or "-") else obj.limit
