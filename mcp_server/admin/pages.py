"""What every page of ours gives its template, themes' templates included."""

from typing import Any

from django.http import HttpRequest

from mcp_server.admin.generics import RowAdmin


def page_context(admin: RowAdmin, request: HttpRequest, title: Any, original: Any = None) -> dict[str, Any]:
    """Return the context of a page that is no form: what Django's own pages have, and nothing to add, change or delete.

    Args:
        admin: whose page it is.
        request: of the person who looks.
        title: the page's heading.
        original: the row that it shows, if it shows one.
    """
    return {
        **admin.admin_site.each_context(request),
        "title": title,
        "opts": admin.opts,
        "original": original,
        "media": admin.media,
        "add": False,
        "change": False,
        "is_popup": False,
        "save_as": False,
        "has_view_permission": admin.has_view_permission(request),
        "has_add_permission": False,
        "has_change_permission": False,
        "has_delete_permission": False,
        "has_editable_inline_admin_formsets": False,
        "inline_admin_formsets": [],
        "errors": None,
    }
