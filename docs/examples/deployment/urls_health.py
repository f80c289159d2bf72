from django.urls import path

from mcp_server import mcp_urls
from mcp_server.health import health

urlpatterns = [path("health/", health), *mcp_urls("mcp")]
