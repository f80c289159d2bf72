"""Who may see and call what (G01-G04)."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.http import HttpRequest
from django.test import override_settings

from mcp_server import Context, has_perm, in_group, is_authenticated, is_staff, is_superuser, tool
from mcp_server.definitions.guards import Guard
from mcp_server.testing import MCPError
from tests.door import call, client, listed, run, serving


@pytest.fixture(autouse=True)
def tools(db: Any) -> Iterator[None]:
    with serving():
        yield


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


def grant(user: User, *codenames: str) -> None:
    user.user_permissions.add(*Permission.objects.filter(codename__in=codenames))


async def waits(request: HttpRequest) -> bool:
    return "X-Pass" in request.headers


class OwnGuard(Guard):
    def check(self, request: HttpRequest) -> bool:
        return "X-Pass" in request.headers


GUARDS: dict[str, Any] = {
    "permission": "auth.view_user",
    "list": ["auth.view_user", "auth.delete_user"],
    "has_perm": has_perm("auth.view_user", "auth.delete_user"),
    "and": has_perm("auth.view_user") & is_staff,
    "or": "auth.view_user" | is_staff,
    "not": ~has_perm("auth.view_user"),
    "with a function": is_authenticated & (lambda request: request.user.username == "ada"),
    "function first": (lambda request: request.user.username == "ada") & is_authenticated,
    "async": waits,
    "async composed": is_authenticated & waits,
    "async or": "auth.view_user" | ~is_staff & waits,
    "class": OwnGuard(),
    "group": in_group("crew"),
    "superuser": is_superuser,
    "never": False,
    "always": True,
}

WORLDS: dict[str, set[str]] = {
    "nobody": {"not", "always"},
    "ada": {"not", "with a function", "function first", "always"},
    "ada with view": {"permission", "or", "async or", "with a function", "function first", "always"},
    "ada with both": {
        "permission", "list", "has_perm", "or", "async or", "with a function", "function first", "always",
    },
    "staff with view": {"permission", "and", "or", "async or", "with a function", "function first", "always"},
    "ada in the crew": {"not", "with a function", "function first", "group", "always"},
    "ada with a pass": {
        "not", "with a function", "function first", "async", "async composed", "async or", "class", "always",
    },
    "superuser": {
        "permission", "list", "has_perm", "and", "or", "async or", "with a function", "function first", "superuser", "always",
    },
    "inactive": {"not", "always"},
}  # fmt: skip


def enter(world: str, ada: User) -> dict[str, Any]:
    """Return how a client of that world calls."""
    if "view" in world or "both" in world:
        grant(ada, "view_user")
    if "both" in world:
        grant(ada, "delete_user")
    if "crew" in world:
        ada.groups.add(Group.objects.create(name="crew"))
    ada.is_staff, ada.is_superuser = world == "staff with view" or world == "superuser", world == "superuser"
    ada.is_active = world != "inactive"
    ada.save()
    if world in {"nobody", "inactive"}:
        return {}
    return {"user": ada, "headers": {"X-Pass": "1"} if "pass" in world else {}}


@pytest.mark.proves("G01a", "G01b", "G01c", "G02a", "G02b")
@pytest.mark.parametrize("world", WORLDS)
def test_list_call_code_and_catalogue_agree_on_who_may(ada: User, world: str):
    names = {}
    for number, (label, guard) in enumerate(GUARDS.items()):
        names[label] = f"tool-{number}"
        tool(name=names[label], enabled=guard)(lambda: "in")
    way = enter(world, ada)
    may = {names[label] for label in WORLDS[world]}
    assert set(listed(**way)) == may
    catalogue = listed(endpoint="code", **way)["code"]["description"]
    for name in names.values():
        identifier = name.replace("-", "_")
        assert (f"{identifier}(" in catalogue) == (name in may)
        if name in may:
            assert call(name, **way).text == "in"
        else:
            with pytest.raises(MCPError) as hidden:
                call(name, **way)
            assert (hidden.value.code, hidden.value.message) == (-32602, f"Unknown tool: {name}")
    program = f"""
    const found = [];
    for (const name of {sorted(names.values())}) {{
      try {{ await codemode[name](); found.push(name) }} catch (error) {{}}
    }}
    return found;
    """
    assert set(run(program, **way)) == may


@pytest.mark.proves("G01b", "G10a")
@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("guard", ["auth.view_user", waits, is_staff & waits])
def test_an_endpoints_guard_holds_for_each_of_its_tools(ada: User, guard: Any, is_async: bool):
    options = {"LOGIN_REQUIRED": False, "ENABLED": guard}
    with serving(ENDPOINTS={"default": options, "code": {**options, "CODE_MODE": "on"}}):
        if is_async:

            @tool(name="take")
            async def take_later() -> str:
                return "in"

        else:

            @tool
            def take() -> str:
                return "in"

        assert listed(user=ada) == {}
        assert listed(user=ada, endpoint="code") == {}
        with pytest.raises(MCPError, match="Unknown tool: take"):
            call("take", user=ada)
        with pytest.raises(MCPError, match="Unknown tool: code"):
            call("code", {"code": "return 1"}, user=ada, endpoint="code")
        grant(ada, "view_user")
        User.objects.update(is_staff=True)
        way: dict[str, Any] = {"user": ada, "headers": {"X-Pass": "1"}}
        assert set(listed(**way)) == {"take"}
        assert call("take", **way).text == "in"
        assert run("return await codemode.take()", **way) == "in"


@pytest.mark.proves("G04")
@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("where", ["tool", "endpoint"])
def test_a_guard_that_raises_hides_and_is_logged_once_a_request(
    caplog: pytest.LogCaptureFixture, is_async: bool, where: str
):
    async def fails_later(request: HttpRequest) -> bool:
        raise RuntimeError("hunter2")

    def fails(request: HttpRequest) -> bool:
        raise RuntimeError("hunter2")

    guard = fails_later if is_async else fails
    ours = {"ENABLED": guard} if where == "endpoint" else {}
    with serving(ENDPOINTS={"default": {"LOGIN_REQUIRED": False, **ours}}):
        for name in ("a", "b"):
            tool(name=name, enabled=guard if where == "tool" and name == "a" else None)(lambda: "in")
        tool(name="c", enabled=~is_staff & guard if where == "tool" else None)(lambda: "in")
        assert set(listed()) == ({"b"} if where == "tool" else set())
        said = [item for item in caplog.records if "raised; what it guards is hidden" in item.getMessage()]
        assert len(said) == (2 if where == "tool" else 1)
        caplog.clear()
        with pytest.raises(MCPError, match="Unknown tool: a") as hidden:
            call("a")
        assert "hunter2" not in str(hidden.value)
        assert caplog.text.count("raised; what it guards is hidden") == 1
        assert "hunter2" in caplog.text


@pytest.mark.proves("G03a", "G01c")
def test_each_request_reads_user_and_permissions_afresh(ada: User):
    tool(name="take", enabled="auth.view_user")(lambda: "in")
    assert listed(user=ada) == {}
    grant(ada, "view_user")
    assert set(listed(user=ada)) == {"take"}
    assert call("take", user=ada).text == "in"
    ada.user_permissions.clear()
    with pytest.raises(MCPError):
        call("take", user=ada)


@pytest.mark.proves("G02b")
def test_a_tool_that_calls_a_hidden_one_learns_nothing(ada: User):
    tool(name="hidden", enabled=False)(lambda: "never")

    @tool
    def outer(ctx: Context, name: str) -> Any:
        return ctx.call_tool(name)

    said = {call("outer", {"name": name}).text.replace(name, "NAME") for name in ("hidden", "nobody")}
    assert said == {"[404] There is no tool 'NAME'."}


@pytest.mark.proves("T19a")
def test_the_list_is_sorted_and_the_same_each_time():
    for name in ("b", "a10", "a2", "B", "ö"):
        tool(name=name)(lambda: None)
    names = [[item["name"] for item in client().list_tools()] for _ in range(3)]
    assert names == [["B", "a10", "a2", "b", "ö"]] * 3
    with override_settings(DEBUG=True):
        assert list(listed()) == names[0]
