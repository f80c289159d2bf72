from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone

from mcp_server.calls import journal
from mcp_server.definitions.endpoint import endpoint
from mcp_server.definitions.registry import registry


@pytest.fixture(autouse=True)
def endpoints():
    """The project's endpoints and one that no row of ours has anything to do with."""
    with registry.isolated(empty=True):
        endpoint("code", title="Code", code_mode="on")
        yield


@pytest.fixture
def sign_in(db):
    """Return a browser in which somebody of the staff, with these permissions alone, has signed in."""

    def sign_in(*permissions, name="grace", **values):
        user = User.objects.create_user(name, is_staff=True, **values)
        user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
        assert user.user_permissions.count() == len(permissions)
        client = Client()
        client.force_login(user)
        return client

    return sign_in


@pytest.fixture
def root(sign_in):
    return sign_in(name="root", is_superuser=True)


@pytest.fixture
def make_run(db):
    """Return a finished run with one call for each given name, as the journal writes it."""

    def make_run(*tools, **values):
        started = timezone.now() - timedelta(seconds=10)
        record = journal.RunRecord(
            **{
                "endpoint": "code",
                "code": "return await codemode.t()",
                "username": "ada",
                "client": "tests 1",
                "started": started,
                "deadline": started + timedelta(seconds=70),
                "wall_ms": 1000.0,
                "cpu_ms": 12.5,
                "limits": {"max_tool_calls": 3, "cpu_time_limit_ms": 1000},
                **values,
            }
        )
        journal.open_run(record)
        for number, name in enumerate(tools, start=1):
            journal.record_call(
                journal.CallRecord(
                    endpoint="code",
                    tool=name,
                    status="ok",
                    run_id=record.id,
                    sequence=number,
                    username="ada",
                    arguments='{"secretword":"argument"}',
                    started=started + timedelta(milliseconds=250 * (number - 1)),
                    duration_ms=250.0,
                    request_bytes=100,
                    response_bytes=3900,
                )
            )
        record.calls = len(tools)
        record.status = values.get("status", "ok")
        if record.status != "running":
            journal.close_run(record)
        return record

    return make_run
