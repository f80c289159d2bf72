import asyncio
from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone

from mcp_server.bus import publish
from mcp_server.calls import journal
from mcp_server.codemode.outcome import LogEntry
from mcp_server.codemode.watching import Watch, console_topic
from mcp_server.live.routing import live_application
from mcp_server.models import CodeRun

pytestmark = [pytest.mark.django_db, pytest.mark.proves("A04a")]
ORIGIN = b"http://testserver"


@sync_to_async
def prepare(*permissions, is_staff=True):
    """Return the session cookie of somebody with these permissions, and a run that goes on."""
    user = User.objects.create_user("grace", is_staff=is_staff)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(user)
    record = journal.RunRecord(
        endpoint="code",
        code="1",
        deadline=timezone.now() + timedelta(seconds=60),
        limits={"max_log_entries": 9},
    )
    journal.open_run(record)
    return client.cookies["sessionid"].value, record


def socket(run_id, cookie="", origin=ORIGIN):
    headers = [(b"origin", origin), (b"host", b"testserver"), (b"cookie", f"sessionid={cookie}".encode())]
    return WebsocketCommunicator(live_application(), f"/mcp-live/runs/{run_id}/", headers=headers)


async def close_code(communicator):
    message = await communicator.receive_output(10)
    while message["type"] != "websocket.close":
        message = await communicator.receive_output(10)
    return message["code"]


async def test_a_watcher_sees_console_lines_calls_and_the_end():
    cookie, record = await prepare("view_coderun", "view_call_content")
    watcher = socket(record.id, cookie)
    assert (await watcher.connect())[0]
    assert await watcher.receive_json_from(10) == {"changed": True}
    watch = Watch(record)
    watch.add(LogEntry("log", 'password: "hunter22" \0'))
    await watch.publish()
    (line,) = (await watcher.receive_json_from(10))["console"]
    assert line["level"] == "log"
    assert "hunter22" not in line["text"]
    await sync_to_async(journal.record_call)(
        journal.CallRecord(endpoint="code", tool="t", status="ok", run_id=record.id)
    )
    assert await watcher.receive_json_from(10) == {"changed": True}
    record.status = "ok"
    await sync_to_async(journal.close_run)(record)
    assert await watcher.receive_json_from(10) == {"changed": True}
    assert await close_code(watcher) == 1000


@pytest.mark.proves("A06")
async def test_without_the_right_to_see_content_no_console_line_comes():
    cookie, record = await prepare("view_coderun")
    watcher = socket(record.id, cookie)
    assert (await watcher.connect())[0]
    assert await watcher.receive_json_from(10) == {"changed": True}
    await publish(console_topic(record.id), {"console": [{"level": "log", "text": "hidden"}]})
    await sync_to_async(CodeRun.objects.filter(pk=record.id).update)(status="ok")
    assert await watcher.receive_json_from(10) == {"changed": True}
    assert await close_code(watcher) == 1000


@pytest.mark.proves("A06")
@pytest.mark.parametrize(
    ("permissions", "is_staff"), [(["view_toolcall", "stop_coderun"], True), (["view_coderun"], False)]
)
async def test_others_are_turned_away(permissions, is_staff):
    cookie, record = await prepare(*permissions, is_staff=is_staff)
    watcher = socket(record.id, cookie)
    await watcher.connect()
    assert await close_code(watcher) == 4403


async def test_an_anonymous_visitor_and_an_unknown_run_are_told_apart():
    cookie, record = await prepare("view_coderun")
    visitor, lost = socket(record.id), socket("0" * 32, cookie)
    await visitor.connect()
    assert await close_code(visitor) == 4403
    await lost.connect()
    assert await close_code(lost) == 4404


async def test_a_page_of_another_site_is_refused():
    cookie, record = await prepare("view_coderun")
    assert not (await socket(record.id, cookie, b"http://evil.example").connect())[0]


async def test_who_loses_the_right_stops_seeing():
    cookie, record = await prepare("view_coderun")
    watcher = socket(record.id, cookie)
    assert (await watcher.connect())[0]
    assert await watcher.receive_json_from(10) == {"changed": True}
    await sync_to_async(User.objects.update)(is_active=False)
    assert await close_code(watcher) == 4403


async def test_a_watcher_that_leaves_leaves_nothing_behind():
    cookie, record = await prepare("view_coderun", "view_call_content")
    watcher = socket(record.id, cookie)
    assert (await watcher.connect())[0]
    assert await watcher.receive_json_from(10) == {"changed": True}
    await watcher.send_json_to({"anything": 1})
    await watcher.disconnect()
    assert await publish(console_topic(record.id), {"console": []}) == 0
    assert not [
        task for task in asyncio.all_tasks() if task is not asyncio.current_task() and "_watch" in repr(task)
    ]
