"""The demo's URLs: the admin, and every MCP endpoint under /mcp."""

from django.contrib import admin
from django.urls import path
from django.views.generic import RedirectView

from mcp_server import mcp_urls

urlpatterns = [
    path("admin/", admin.site.urls),
    *mcp_urls("mcp"),
    path("", RedirectView.as_view(pattern_name="admin:index")),
]
