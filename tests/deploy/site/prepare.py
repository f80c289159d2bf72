"""Make the tables and a user of the site; prints a token. Run once for each database."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.deploy.site.settings")
django.setup()

from django.conf import settings  # noqa: E402 - after setup
from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402

from mcp_server.models import Token  # noqa: E402

for alias in settings.DATABASES:
    call_command("migrate", database=alias, verbosity=0)
user = User.objects.create_superuser("ada")
print(Token.objects.issue(user, "deployment")[1])
