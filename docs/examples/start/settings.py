INSTALLED_APPS: list[str] = []

# [start:app]
INSTALLED_APPS += ["mcp_server"]
# [end:app]
