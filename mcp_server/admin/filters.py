"""Filters that ask no table which values it holds."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.contrib import admin
from django.contrib.auth import get_user_model
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from mcp_server.admin.outcomes import CALL_OUTCOMES, RUN_OUTCOMES, outcome_label
from mcp_server.conf import LIMIT_FIELDS
from mcp_server.definitions.registry import registry
from mcp_server.models import CodeRun, Limits
from mcp_server.models.coderuns import LOST, LOST_AFTER, RUNNING


class FieldFilter(admin.SimpleListFilter):
    """By the exact value of the field that the parameter is named after."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(**{str(self.parameter_name): self.value()}) if self.value() else queryset


class EndpointFilter(FieldFilter):
    """By one of the project's endpoints."""

    title = _("endpoint")
    parameter_name = "endpoint"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(endpoint.name, endpoint.name) for endpoint in registry.endpoints()]


class RunOutcomeFilter(admin.SimpleListFilter):
    """By what came of a run; an open run past its deadline is lost, whatever its row says."""

    title = _("outcome")
    parameter_name = "outcome"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("failed", _("not ok")), *((name, outcome_label(name)) for name in RUN_OUTCOMES)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[CodeRun]) -> QuerySet[CodeRun]:
        value = self.value()
        gone = Q(status=RUNNING, deadline__lt=timezone.now() - LOST_AFTER)
        if value == LOST:
            return queryset.filter(Q(status=LOST) | gone)
        if value == RUNNING:
            return queryset.filter(status=RUNNING).exclude(gone)
        if value == "failed":
            return queryset.filter(Q(status__in=set(RUN_OUTCOMES) - {"ok", RUNNING}) | gone)
        return queryset.filter(status=value) if value else queryset


class CallOutcomeFilter(admin.SimpleListFilter):
    """By what came of a call."""

    title = _("outcome")
    parameter_name = "outcome"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("failed", _("not ok")), *((name, outcome_label(name)) for name in CALL_OUTCOMES)]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "failed":
            return queryset.filter(status__in=set(CALL_OUTCOMES) - {"ok"})
        return queryset.filter(status=self.value()) if self.value() else queryset


class LimitFilter(FieldFilter):
    """By the limit that a run met."""

    title = _("limit")
    parameter_name = "limit"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(name, Limits.label(name)) for name in LIMIT_FIELDS]


class OriginFilter(admin.SimpleListFilter):
    """Calls made by a client, or by code."""

    title = _("origin")
    parameter_name = "origin"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("direct", _("direct")), ("code", _("from code"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        wanted = {"direct": True, "code": False}.get(self.value() or "")
        return queryset if wanted is None else queryset.filter(run__isnull=wanted)


class TextFilter(FieldFilter):
    """A filter to type into: a list of all users or tools would cost a look at every row."""

    template = "admin/mcp_toolkit/text_filter.html"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, Any]]:
        # Without a choice Django leaves the filter out.
        return [("", "")]

    def choices(self, changelist: Any) -> Iterator[Any]:
        kept = {
            name: value
            for name, value in changelist.get_filters_params().items()
            if name not in (self.parameter_name, "p")
        }
        yield {
            "name": self.parameter_name,
            "value": self.value() or "",
            "kept": [(name, value) for name, values in kept.items() for value in _listed(values)],
            "clear": changelist.get_query_string(remove=[self.parameter_name]),
        }


def _listed(values: Any) -> list[Any]:
    return values if isinstance(values, list) else [values]


class UserFilter(TextFilter):
    """By a user's name."""

    title = _("user")
    parameter_name = "user"

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        name = self.value()
        if not name:
            return queryset
        users = get_user_model()
        found = users._base_manager.filter(**{users.USERNAME_FIELD: name}).values_list("pk", flat=True)
        # Rows of a user who was deleted have the name alone.
        return queryset.filter(user=found[0]) if found else queryset.filter(user=None, username=name)


class ToolFilter(TextFilter):
    """By a tool's name."""

    title = _("tool")
    parameter_name = "tool"
