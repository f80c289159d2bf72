import threading
import time

import pytest
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client

from mcp_server.calls import journal
from mcp_server.codemode import run, shutdown
from mcp_server.definitions.endpoint import endpoint
from mcp_server.definitions.registry import registry
from mcp_server.definitions.tool import tool
from mcp_server.models import CodeRun

WAITING = 'console.log("begun"); await codemode.tick(); for (;;) await new Promise((resolve) => setTimeout(resolve, 50));'


@pytest.mark.proves("A04b", "A04c")
@pytest.mark.django_db(transaction=True)
def test_a_run_that_staff_stop_ends_within_two_seconds_and_keeps_its_console():
    with registry.isolated(empty=True):
        endpoint("code", code_mode="on")
        begun = threading.Event()

        @tool
        def tick() -> None:
            begun.set()

        ada = User.objects.create_superuser("ada")
        results = []

        def work():
            results.append((run(WAITING, user=ada, endpoint="code"), time.monotonic()))
            connections.close_all()

        worker = threading.Thread(target=work)
        worker.start()
        assert begun.wait(30)
        staff = Client()
        staff.force_login(ada)
        row = CodeRun.objects.get()
        assert row.outcome == "running"
        asked = time.monotonic()
        assert staff.post(f"/admin/mcp_toolkit/coderun/{row.pk}/stop/").status_code == 302
        worker.join(30)
        ((result, ended),) = results
        assert result.status == "stopped"
        assert ended - asked < 4, "two seconds by contract, and as much again for a busy machine"
        assert journal.flush(30)
        row.refresh_from_db()
        assert (row.status, row.stopped_by, row.calls) == ("stopped", "ada", 1)
        assert [entry["text"] for entry in row.console] == ["begun"]
        assert "Stopped by ada" in staff.get(f"/admin/mcp_toolkit/coderun/{row.pk}/change/").content.decode()
    shutdown()
