"""How fresh the knowledge of a caller is within one run (G03)."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User

from mcp_server import tool
from tests.door import client, serving


@pytest.fixture(autouse=True)
def tools(transactional_db: Any) -> Iterator[None]:
    with serving(ENDPOINTS={"code": {"CODE_MODE": "on"}}):

        @tool
        def rest() -> None:
            threading.Event().wait(1.05)

        yield


PROGRAM = """
const before = await codemode.take();
await codemode.change();
await codemode.rest();
try { return [before, await codemode.take()] } catch (error) { return [before, error.message] }
"""


@pytest.mark.proves("G03b", "G01c")
@pytest.mark.parametrize(
    ("change", "guard", "is_async"),
    [
        ("deactivate", None, False),
        ("deactivate", None, True),
        ("deactivate", "auth.view_user", True),
        ("delete", None, True),
        ("nothing", None, True),
    ],
)
def test_a_run_that_lasts_sees_its_user_change(change: str, guard: str | None, is_async: bool):
    ada = User.objects.create_user("ada")
    ada.user_permissions.add(Permission.objects.get(codename="view_user"))

    if is_async:

        @tool(name="take", enabled=guard)
        async def take_later() -> str:
            await asyncio.sleep(0)
            return "in"

    else:

        @tool(enabled=guard)
        def take() -> str:
            return "in"

    @tool(name="change")
    def change_user() -> None:
        if change == "deactivate":
            User.objects.update(is_active=False)
        elif change == "delete":
            User.objects.all().delete()

    result = client(ada, "code").run(PROGRAM)
    assert not result.is_error, result.text
    # Once a second has passed, even the call that waits is made by nobody any more.
    after = "in" if change == "nothing" else "[404] Unknown tool: take"
    assert result.structured["results"] == ["in", after]
