from mcp_server import mcp_urls

urlpatterns = [*mcp_urls("mcp")]
