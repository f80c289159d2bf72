"""A run whose process was killed: nobody writes its end, so its row must tell by itself."""

import os
import select
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import F
from django.test import Client

from mcp_server.models import CodeRun

HOST = """
import django; django.setup()
from django.contrib.auth.models import User
from mcp_server import endpoint, tool
from mcp_server.codemode import run

endpoint("doomed", code_mode="on")

@tool(endpoints=["doomed"])
def tell() -> None:
    print("begun", flush=True)

run("await codemode.tell(); await new Promise(() => setTimeout(() => 0, 50_000));", user=User.objects.get(), endpoint="doomed")
"""
ROOT = Path(__file__).resolve().parents[2]


def kill_the_host_of_a_run():
    """Start a process that runs code on this test's database, and kill it in the middle."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "demo_project.settings",
        "DEMO_DATABASE": connection.settings_dict["NAME"],
    }
    host = subprocess.Popen([sys.executable, "-c", HOST], env=environment, cwd=ROOT, stdout=subprocess.PIPE)
    assert host.stdout
    try:
        assert select.select([host.stdout], [], [], 60)[0], "no run began"
        assert host.stdout.readline() == b"begun\n"
    finally:
        host.send_signal(signal.SIGKILL)
        host.communicate()
    assert host.returncode == -signal.SIGKILL


@pytest.mark.proves("A04c")
@pytest.mark.django_db(transaction=True)
def test_a_run_whose_process_was_killed_reads_lost_once_its_deadline_is_past():
    root = User.objects.create_superuser("root")
    kill_the_host_of_a_run()
    staff = Client()
    staff.force_login(root)
    run = CodeRun.objects.get()
    assert (run.status, run.outcome) == ("running", "running")

    def page():
        return staff.get(f"/admin/mcp_toolkit/coderun/{run.pk}/change/").content.decode()

    def listed(outcome):
        return run.pk in staff.get(f"/admin/mcp_toolkit/coderun/?outcome={outcome}").content.decode()

    assert "Stop this run" in page()
    assert (listed("running"), listed("lost")) == (True, False)

    # What the row looks like ten minutes later; its deadline is at most four minutes after its start.
    ten_minutes = timedelta(minutes=10)
    CodeRun.objects.update(started=F("started") - ten_minutes, deadline=F("deadline") - ten_minutes)
    assert '<span class="mcp-badge mcp-bad">lost</span>' in page()
    assert "Stop this run" not in page()
    assert "data-mcp-live" not in page()
    assert (listed("running"), listed("lost")) == (False, True)
