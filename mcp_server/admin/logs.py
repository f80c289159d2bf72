"""What the lists of runs and calls have in common: read-only, newest first, cheap at a million rows."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from mcp_server.admin.amounts import BLANK, local
from mcp_server.admin.export import export_response
from mcp_server.admin.pages import page_context
from mcp_server.admin.paging import BoundedPaginator
from mcp_server.admin.readonly import ReadOnlyAdmin

VIEW_CONTENT = "mcp_toolkit.view_call_content"


def may_view_content(request: HttpRequest) -> bool:
    """Return whether this person may read code, arguments, console and results (contract A06)."""
    return request.user.has_perm(VIEW_CONTENT)


class LogAdmin(ReadOnlyAdmin):
    """A log: a list that can be exported, and a page for each row."""

    page_title: Any
    """The heading of a row's page, whose template is named after the model."""

    content_fields: tuple[str, ...] = ()
    """What only those may see, search and filter by who may view content."""

    export_fields: tuple[str, ...] = ()

    date_hierarchy = "started"
    list_per_page = 50
    ordering = ("-started",)
    paginator = BoundedPaginator
    show_facets = admin.ShowFacets.NEVER
    show_full_result_count = False
    sortable_by = ()
    change_list_template = "admin/mcp_toolkit/log_change_list.html"

    def lookup_allowed(self, lookup: str, value: Any, request: HttpRequest) -> bool:
        # Django lets anybody filter by any field in the address, which would answer questions about hidden text.
        if lookup.partition("__")[0] in self.content_fields and not may_view_content(request):
            return False
        return super().lookup_allowed(lookup, value, request)

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_export"
        view = self.admin_site.admin_view(self.export_view)
        return [path("export.<str:form>", view, name=name), *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        # Lists need none of the long columns.
        return super().get_queryset(request).defer(*self.content_fields)

    def get_search_fields(self, request: HttpRequest) -> tuple[str, ...]:
        return ("pk",)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        query = f"?{request.GET.urlencode()}" if request.GET else ""
        forms = {form: self.admin_url("export", form) + query for form in ("csv", "json")}
        return super().changelist_view(request, {"export_urls": forms, **(extra_context or {})})

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        row = self.find(object_id)
        if row is None:
            return self.missing(request, object_id)
        if not self.has_view_permission(request, row):
            raise PermissionDenied
        context = {
            **page_context(self, request, self.page_title, row),
            **self.describe(request, row),
            **(extra_context or {}),
        }
        name = f"admin/mcp_toolkit/{self.opts.model_name}/{self.page_name(request)}.html"
        return TemplateResponse(request, name, context)

    def page_name(self, request: HttpRequest) -> str:
        """Return which of the model's templates a row is shown with."""
        return "page"

    def describe(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """Return what a row's page shows."""
        raise NotImplementedError

    def find(self, object_id: str) -> Any:
        """Return the row of a page, with all its columns; None where there is none."""
        return self.model._default_manager.filter(pk=unquote(object_id)).first()

    def export_view(self, request: HttpRequest, form: str) -> HttpResponseBase:
        """Stream the rows that the list shows with the same filters, all pages of them."""
        if not self.has_view_permission(request) or form not in ("csv", "json"):
            raise PermissionDenied
        rows = self.get_changelist_instance(request).get_queryset(request)
        hidden = () if may_view_content(request) else self.content_fields
        fields = [name for name in self.export_fields if name not in hidden]
        return export_response(request, rows, fields, f"mcp-{self.opts.model_name}s.{form}")

    def exact_search(self, queryset: QuerySet[Any], term: str) -> QuerySet[Any]:
        """Return the rows that a word names exactly, through indexes alone."""
        raise NotImplementedError

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        return (self.exact_search(queryset, term) if term else queryset), False

    def missing(self, request: HttpRequest, object_id: str) -> HttpResponseBase:
        """Lead back to the list when a row is not there: it may have been pruned."""
        text = _("%(name)s “%(key)s” is not in the log, or no longer.")
        self.message_user(
            request, text % {"name": capfirst(self.opts.verbose_name), "key": object_id}, messages.WARNING
        )
        return HttpResponseRedirect(self.admin_url("changelist"))

    @admin.display(description=_("started"), ordering="started")
    def moment(self, obj: Any) -> str:
        """Return the time to the second; the model's own field shows minutes."""
        return date_format(local(obj.started), "Y-m-d H:i:s")

    @admin.display(description=_("user"))
    def person(self, obj: Any) -> str:
        """Return the user's name as it was then."""
        return obj.username or BLANK

    def link_to(self, obj: Model) -> str:
        """Return the address of a row's page on this site."""
        name = f"admin:{obj._meta.app_label}_{obj._meta.model_name}_change"
        return reverse(name, args=[obj.pk], current_app=self.admin_site.name)
