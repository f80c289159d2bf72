"""The overview: what goes on, and the processes and workers that do it (contract A05)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from mcp_server.admin.pages import page_context
from mcp_server.admin.readonly import ReadOnlyAdmin
from mcp_server.admin.statistics import PERIODS, gather
from mcp_server.codemode.confinement import missing_confinement
from mcp_server.models import CodeRun, Process, ToolCall

CHANGE = "mcp_toolkit.change_process"


@dataclass(frozen=True, slots=True)
class WorkerLine:
    """A worker of a process; `missing` says which promises of its confinement do not hold."""

    pid: int
    state: str
    runs: int
    memory_limit_mb: int
    missing: list[str]


@dataclass(slots=True)
class ProcessLine:
    """A process with its workers."""

    process: Process
    workers: list[WorkerLine] = field(default_factory=list)
    lost: int = 0
    queued: int = 0
    open_runs: int = 0

    @classmethod
    def of(cls, process: Process) -> "ProcessLine":
        """Return the line of a process; it wrote its state itself, perhaps in another version."""
        log = _mapping(process.state.get("log"))
        workers = process.state.get("workers")
        return cls(
            process,
            [_worker(_mapping(item)) for item in workers] if isinstance(workers, list) else [],
            *(int(log.get(name) or 0) for name in ("lost", "queued", "open_runs")),
        )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _worker(item: Mapping[str, Any]) -> WorkerLine:
    numbers = (int(item.get(name) or 0) for name in ("pid", "runs", "memory_limit_mb"))
    pid, runs, memory = numbers
    return WorkerLine(
        pid, str(item.get("state", "")), runs, memory, missing_confinement(_mapping(item.get("confinement")))
    )


class ProcessAdmin(ReadOnlyAdmin):
    """The list of processes is the overview; a process has no page of its own."""

    def has_view_permission(self, request: HttpRequest, obj: Process | None = None) -> bool:
        names = ("view_process", "change_process", "view_toolcall", "view_coderun")
        return any(request.user.has_perm(f"mcp_toolkit.{name}") for name in names)

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.restart_view)
        return [
            path("<path:object_id>/restart/", view, name="mcp_toolkit_process_restart"),
            *super().get_urls(),
        ]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        return HttpResponseRedirect(self.admin_url("changelist"))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        if not self.has_view_permission(request):
            raise PermissionDenied
        may = {
            name: request.user.has_perm(f"mcp_toolkit.{name}") for name in ("view_toolcall", "view_coderun")
        }
        may_restart = request.user.has_perm(CHANGE)
        may_view_processes = may_restart or request.user.has_perm("mcp_toolkit.view_process")
        period = PERIODS.get(request.GET.get("period", ""), PERIODS["day"])
        calls = ToolCall.objects.all() if may["view_toolcall"] else None
        runs = CodeRun.objects.all() if may["view_coderun"] else None
        context = {
            **page_context(self, request, _("Overview")),
            "periods": PERIODS.values(),
            "statistics": gather(period, calls, runs),
            "may": may,
            "may_view_processes": may_view_processes,
            "may_restart": may_restart,
            "processes": [ProcessLine.of(row) for row in Process.objects.all()] if may_view_processes else [],
            **(extra_context or {}),
        }
        return TemplateResponse(request, "admin/mcp_toolkit/process/overview.html", context)

    def restart_view(self, request: HttpRequest, object_id: str) -> HttpResponseBase:
        """Ask, then note in the row that the process shall end its workers; it looks at each beat."""
        if not request.user.has_perm(CHANGE):
            raise PermissionDenied
        process = Process.objects.filter(pk=object_id).first()
        if process is None:
            return HttpResponseRedirect(self.admin_url("changelist"))
        if request.method != "POST":
            context = {
                **page_context(self, request, _("Restart the workers?")),
                "line": ProcessLine.of(process),
                "overview_url": self.admin_url("changelist"),
            }
            return TemplateResponse(request, "admin/mcp_toolkit/process/restart.html", context)
        Process.objects.filter(pk=process.pk).update(restart_requested=timezone.now())
        self.log_change(
            request, process, [{"changed": {"fields": [str(_("restart of the workers requested"))]}}]
        )
        self.message_user(
            request, _("The workers end within some seconds; the next run starts new ones."), messages.SUCCESS
        )
        return HttpResponseRedirect(self.admin_url("changelist"))
