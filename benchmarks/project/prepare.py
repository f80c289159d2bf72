"""Makes the database of the benchmark: a hundred groups to read."""

import django

django.setup()

from django.contrib.auth.models import Group  # noqa: E402
from django.core.management import call_command  # noqa: E402

call_command("migrate", verbosity=0)
Group.objects.bulk_create(Group(name=f"name-{number}") for number in range(100))
