import os

from django.core.asgi import get_asgi_application

from mcp_server.asgi import door, lifespan

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.deploy.site.settings")
serve = door if os.environ.get("SITE_DOOR") else lifespan
application = serve(get_asgi_application())
