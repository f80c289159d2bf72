"""Limits: one form for each endpoint that exists, whether or not it has a row yet (contract A01)."""

from typing import Any

from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _

from mcp_server.admin.limitsform import LimitsForm
from mcp_server.admin.pages import page_context
from mcp_server.admin.readonly import KeptAdmin
from mcp_server.conf import LIMIT_FIELDS
from mcp_server.definitions.endpoint import EndpointDefinition
from mcp_server.definitions.registry import UnknownEndpoint, registry
from mcp_server.models import Limits


class LimitsAdmin(KeptAdmin):
    """A row is made when staff first set something; nobody adds or deletes one."""

    form = LimitsForm

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Limits | None:
        """Return the endpoint's row, or a blank one that is saved when something is set."""
        found = super().get_object(request, object_id, from_field)
        return found or self._blank(object_id)

    def _blank(self, name: str) -> Limits | None:
        try:
            return Limits(endpoint=registry.endpoint(name).name)
        except UnknownEndpoint:
            return None

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> Any:
        return super().history_view(request, unquote(object_id), extra_context)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        rows = {row.endpoint: row for row in Limits.objects.all()}
        endpoints = sorted(registry.endpoints(), key=lambda item: item.definition.code_mode == "off")
        lines: list[tuple[str, EndpointDefinition | None, Limits | None]] = [
            (item.name, item.definition, rows.pop(item.name, None)) for item in endpoints
        ]
        # An endpoint that is gone from the code keeps its row, which is shown as such.
        lines += [(name, None, row) for name, row in rows.items()]
        context = {
            **page_context(self, request, _("Limits")),
            "lines": [(name, definition, row, _count_set(row)) for name, definition, row in lines],
            **(extra_context or {}),
        }
        return TemplateResponse(request, "admin/mcp_toolkit/limits/list.html", context)

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        context = {
            "show_save_and_add_another": False,
            "title": _("Limits of an endpoint"),
            **(extra_context or {}),
        }
        return super().changeform_view(request, object_id, form_url, context)


def _count_set(row: Limits | None) -> int:
    names = (*LIMIT_FIELDS, "code_policy", "rate_limits", "log_level", "keep_days", "keep_failed_days")
    return sum(getattr(row, name) not in (None, "", {}) for name in names) if row is not None else 0
