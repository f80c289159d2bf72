"""What all tests share: coroutine tests, run so that they keep Django's database isolation."""

import inspect
from typing import Any

import pytest
from asgiref.sync import async_to_sync


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker that names the contract's clauses (tests/contract/)."""
    config.addinivalue_line("markers", "proves(*clauses): the clauses of the contract that this test proves")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run coroutine tests through `async_to_sync`: sync code they await stays on the test's own connection."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    arguments: dict[str, Any] = {name: pyfuncitem.funcargs[name] for name in names}
    async_to_sync(pyfuncitem.obj)(**arguments)
    return True
