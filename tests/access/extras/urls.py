"""The OAuth server beside the endpoints."""

from django.urls import include, path

from mcp_server import mcp_urls

urlpatterns = [
    *mcp_urls("mcp"),
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
]
