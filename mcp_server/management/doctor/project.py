"""The project itself: settings, definitions, database, tokens, clock, static files."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.core import checks
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.models.functions import Now
from django.utils import timezone

from mcp_server.definitions.registry import registry
from mcp_server.management.base import counted
from mcp_server.management.doctor.finding import Finding, Level
from mcp_server.models import Token

SOON = timedelta(days=14)
LARGEST_DRIFT = timedelta(seconds=5)
STYLE_SHEET = "mcp_toolkit/admin.css"


def check_definitions() -> Iterator[Finding]:
    """Say what `manage.py check` says of our own, and what is served."""
    messages = checks.run_checks(tags=["mcp_toolkit"])
    for message in messages:
        level: Level = "problem" if message.is_serious() else "warning"
        yield Finding(level, "definitions", f"{message.id}: {message.msg}", message.hint or "")
    for endpoint in registry.endpoints():
        text = f"endpoint {endpoint.name}: {counted(len(endpoint.tools), 'tool')}, code mode {endpoint.definition.code_mode}"
        yield Finding("ok", "definitions", text)


def check_database() -> Iterator[Finding]:
    """Say whether the database answers and has our tables."""
    connection = connections[DEFAULT_DB_ALIAS]
    try:
        executor = MigrationExecutor(connection)
        targets = [key for key in executor.loader.graph.leaf_nodes() if key[0] == "mcp_toolkit"]
        missing = executor.migration_plan(targets)
    except DatabaseError as error:
        yield Finding(
            "problem", "database", f"it does not answer: {type(error).__name__}", "Look at DATABASES."
        )
        return
    if missing:
        yield Finding(
            "problem", "database", f"{len(missing)} migrations are not applied", "Run `manage.py migrate`."
        )
    else:
        yield Finding("ok", "database", f"{connection.vendor}, migrations applied")
    if (
        connection.vendor == "sqlite"
        and connection.settings_dict["OPTIONS"].get("transaction_mode") != "IMMEDIATE"
    ):
        yield Finding(
            "note",
            "database",
            "SQLite without IMMEDIATE transactions: writers may fail with `database is locked`",
            'Set OPTIONS = {"transaction_mode": "IMMEDIATE"}, or use a database server.',
        )


def check_tokens() -> Iterator[Finding]:
    """Say whether anybody can sign in."""
    usable = Token.objects.usable().filter(user__is_active=True)
    ending = usable.filter(expires__lt=timezone.now() + SOON).count()
    if not usable.exists():
        yield Finding("note", "tokens", "there is none", "Make one: `manage.py mcp_token create USERNAME`.")
    else:
        yield Finding(
            "ok", "tokens", f"{usable.count()} usable, {ending} of them end within {SOON.days} days"
        )


def check_clock() -> Iterator[Finding]:
    """Compare this machine's clock with the database's: expiry and sessions depend on both."""
    told = ContentType.objects.annotate(now=Now()).values_list("now", flat=True).first()
    if told is None:
        return
    now = timezone.now()
    drift = abs((told if timezone.is_aware(told) else timezone.make_aware(told)) - now)
    if drift > LARGEST_DRIFT:
        text = f"differs by {drift.total_seconds():.0f} s from the database's"
        yield Finding("warning", "clock", text, "Synchronise the clocks (NTP).")
    else:
        yield Finding("ok", "clock", f"agrees with the database's within {drift.total_seconds():.1f} s")


def check_static_files() -> Iterator[Finding]:
    """Say whether the admin's style sheet is where it is served from."""
    if not apps.is_installed("django.contrib.staticfiles"):
        yield Finding(
            "note", "static files", "django.contrib.staticfiles is not installed", "The admin needs it."
        )
    elif settings.DEBUG:
        yield Finding("ok", "static files", "served from the apps, since DEBUG is on")
    elif settings.STATIC_ROOT and (Path(settings.STATIC_ROOT) / STYLE_SHEET).exists():
        yield Finding("ok", "static files", "collected")
    else:
        yield Finding(
            "warning", "static files", f"{STYLE_SHEET} is not collected", "Run `manage.py collectstatic`."
        )
