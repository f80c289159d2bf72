"""Model admins whose rows come from elsewhere."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from mcp_server.admin.generics import RowAdmin


class StyledAdmin(RowAdmin):
    """A model admin in our own style."""

    class Media:
        css = {"all": ("mcp_toolkit/admin.css",)}


class KeptAdmin(StyledAdmin):
    """Rows that nobody adds or deletes here."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnlyAdmin(KeptAdmin):
    """Rows that nobody changes either."""

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def admin_url(self, view: str, *args: Any) -> str:
        """Return the address of one of the model's pages on this site."""
        name = f"admin:{self.opts.app_label}_{self.opts.model_name}_{view}"
        return reverse(name, args=args, current_app=self.admin_site.name)
