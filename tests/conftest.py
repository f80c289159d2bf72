"""What all tests share: coroutine tests that keep Django's database isolation, and what a bare machine lacks."""

import inspect
import os
import shutil
import threading
from collections.abc import Generator
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from pytest_django.plugin import blocking_manager_key


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker that names the contract's clauses (tests/contract/)."""
    config.addinivalue_line(
        "markers", "thorough: takes long, and tries what hardly depends on the version of Python or Django"
    )
    config.addinivalue_line("markers", "proves(*clauses): the clauses of the contract that this test proves")


PROGRAMS = {"redis": "redis-server"}
"""Programs that fixtures start. CI has them all."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs a program that is not installed, so that Python alone is enough for the others."""
    missing = {fixture for fixture, program in PROGRAMS.items() if shutil.which(program) is None}
    left_out = [item for item in items if missing.intersection(getattr(item, "fixturenames", ()))]
    if left_out and not os.environ.get("CI"):
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run coroutine tests through `async_to_sync`: sync code they await stays on the test's own connection."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    arguments: dict[str, Any] = {name: pyfuncitem.funcargs[name] for name in names}
    async_to_sync(pyfuncitem.obj)(**arguments)
    return True


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, None, None]:
    """Let the log's writer finish before the database is put back, and fail the test that left rows for the next one."""
    from mcp_server.calls import journal
    from mcp_server.policy import rows

    journal.flush(10)
    yield
    # What a database that is put back had told: no signal says that it is gone.
    rows._recent.clear()
    if nextitem is None:
        return  # the database is gone
    fixtures = set(getattr(item, "fixturenames", ()))
    if {"db", "transactional_db"} & fixtures or item.get_closest_marker("django_db"):
        with item.config.stash[blocking_manager_key].unblock():
            left = _take_rows()
        assert not left, f"rows were left behind: {left}"


def _take_rows() -> dict[str, int]:
    from mcp_server.models import CodeRun, Process, ToolCall

    found = {model.__name__: model.objects.count() for model in (ToolCall, CodeRun, Process)}
    for model in (ToolCall, CodeRun, Process):
        model.objects.all().delete()
    return {name: count for name, count in found.items() if count}


@pytest.fixture(autouse=True, scope="session")
def _no_heartbeat() -> None:
    """Keep the heartbeat of this process still: every few seconds it would write into whatever test runs then."""
    from mcp_server.calls import heartbeat

    heartbeat._heart._thread = threading.main_thread()
