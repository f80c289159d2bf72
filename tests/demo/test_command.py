"""`manage.py demo`, started as a newcomer starts it."""

import socket
from io import StringIO

import pytest
from django.core.management import CommandError, call_command


@pytest.mark.proves("D01b", "P02a")
def test_the_demo_starts_lists_calls_runs_shows_its_admin_and_stops_with_ctrl_c():
    output = StringIO()
    call_command("demo", "--check", stdout=output)
    steps = [line.split()[0] for line in output.getvalue().splitlines()]
    assert steps == ["started", *["tools/list", "tools/call", "code"] * 2, "admin", "stopped"]


def test_a_port_in_use_is_said_with_a_way_out():
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(CommandError, match="Try --port 8001"),
    ):
        call_command("demo", "--port", str(taken.getsockname()[1]))


@pytest.mark.django_db
def test_view_site_in_the_admin_leads_back_to_the_admin(client):
    assert client.get("/").headers["Location"] == "/admin/"


def test_a_port_that_does_not_exist_is_said():
    with pytest.raises(CommandError, match="There is no port 70000"):
        call_command("demo", "--port", "70000")
