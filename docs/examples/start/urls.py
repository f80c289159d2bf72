from django.contrib import admin
from django.urls import path

from mcp_server import mcp_urls

urlpatterns = [path("admin/", admin.site.urls), *mcp_urls("mcp")]
