"""What all tests share: coroutine tests that keep Django's database isolation, and what a bare machine lacks."""

import inspect
import os
import shutil
from typing import Any

import pytest
from asgiref.sync import async_to_sync


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker that names the contract's clauses (tests/contract/)."""
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
