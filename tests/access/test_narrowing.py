"""A client's wish for fewer tools (R12)."""

from collections.abc import Iterator
from time import monotonic
from typing import Any
from urllib.parse import quote

import pytest
from django.http import HttpRequest
from django.test import RequestFactory

from mcp_server import Context, has_perm, is_authenticated, tool
from mcp_server.access.narrowing import read_narrowing
from mcp_server.definitions.registry import registry
from mcp_server.testing import MCPClient, MCPError
from tests.door import serving

ALL = {"list-users", "list-orders", "get-user", "delete-user", "get_file", "größe"}


@pytest.fixture(autouse=True)
def tools(db: Any) -> Iterator[None]:
    with serving():
        for name in sorted(ALL - {"delete-user", "list-orders"}):
            tool(name=name)(lambda: "in")
        tool(name="delete-user", enabled=~has_perm("shop.delete_user"))(lambda: "in")
        tool(name="list-orders", enabled=~is_authenticated | has_perm("shop.view_order"))(lambda: "in")
        tool(name="secret", enabled=False)(lambda: "never")

        @tool(name="echo-parameters")
        def echo_parameters(ctx: Context) -> Any:
            return {key: ctx.request.GET.getlist(key) for key in ctx.request.GET}

        yield


class At(MCPClient):
    """A client whose URL has a query."""

    def __init__(self, query: str = "", endpoint: str = "default", **options: Any) -> None:
        super().__init__(None, endpoint, raise_tool_exceptions=False, **options)
        self.query = query

    @property
    def url(self) -> str:
        return super().url + self.query

    def names(self) -> set[str]:
        return {item["name"] for item in self.list_tools()} - {"echo-parameters"}


WISHES = {
    "list-*": {"list-users", "list-orders"},
    "list_*": {"list-users", "list-orders"},
    "list_*,get-user": {"list-users", "list-orders", "get-user"},
    " get-user , get_file ": {"get-user", "get_file"},
    "get_user": {"get-user"},
    "get-file": set(),
    "*user": {"get-user", "delete-user"},
    "*-*s": {"list-users", "list-orders"},
    "*": ALL,
    "***": ALL,
    "größe": {"größe"},
    "nothing": set(),
    "secret": set(),
    "": set(),
    ",,": set(),
    ".*": set(),
    "list.users": set(),
    "get-[u]ser": set(),
    "(a+)+$": set(),
    "get-user\x00": set(),
    "LIST-USERS": set(),
}


@pytest.mark.proves("R12a", "R12c")
@pytest.mark.parametrize(("wish", "names"), WISHES.items(), ids=[repr(wish) for wish in WISHES])
def test_names_and_stars_narrow_list_and_call_by_url_and_by_header(wish: str, names: set[str]):
    doors = [At(f"?tools={quote(wish)}")]
    if wish.isprintable() and wish.isascii():
        doors.append(At(headers={"X-MCP-Tools": wish}))
    for door in doors:
        assert door.names() == names
        for name in ALL:
            if name in names:
                assert door.call_tool(name).text == "in"
            else:
                with pytest.raises(MCPError, match=f"Unknown tool: {name}"):
                    door.call_tool(name)


@pytest.mark.proves("R12a", "R12d")
def test_every_wish_narrows_further():
    assert At("?tools=list-*,get-user", headers={"X-MCP-Tools": "*-user*"}).names() == {
        "list-users",
        "get-user",
    }
    assert At("?tools=list-users", headers={"X-MCP-Tools": "get-user"}).names() == set()


@pytest.mark.proves("R12b")
@pytest.mark.parametrize(
    ("wish", "names"),
    [
        ("shop.view_*", {"list-orders"}),
        ("shop.view_order", {"list-orders"}),
        ("shop.*", {"list-orders", "delete-user"}),
        ("*", {"list-orders", "delete-user"}),
        ("shop_view_order", set()),
        ("", set()),
        ("other.*", set()),
    ],
)
def test_permissions_narrow_by_the_strings_in_enabled(wish: str, names: set[str]):
    assert At(f"?permissions={quote(wish)}").names() == names


@pytest.mark.proves("R12d")
def test_code_reaches_what_the_wish_leaves_and_nothing_else():
    door = At("?tools=list_*", "code")
    (code,) = door.list_tools()
    assert "list_users" in code["description"]
    assert "get_user" not in code["description"]
    assert door.run("return await codemode.list_users()").text == "in"
    program = "const name = 'NAME'; return await codemode[name]()"
    said = {
        door.run(program.replace("NAME", name)).text.replace(name, "NAME")
        for name in ("get_user", "nobody_x")
    }
    assert len(said) == 1
    nothing = At("?tools=nothing", "code")
    assert nothing.list_tools() == []
    with pytest.raises(MCPError, match="Unknown tool: code"):
        nothing.run("return 1")


@pytest.mark.proves("R12e")
def test_other_parameters_reach_the_tool():
    result = At("?connection=a%20b&tools=echo*&connection=c").call_tool("echo-parameters")
    assert '"connection": [\n    "a b",\n    "c"\n  ]' in result.text


@pytest.mark.proves("R12a")
@pytest.mark.parametrize(
    "wish",
    ["*a" * 4000, "*" * 8000, ",".join(["*x"] * 4000), "a*" * 4000 + "b", "%F0%28%8C%28", "\u0000*", "*" + "a*" * 50 + "z"],
)  # fmt: skip
def test_a_hostile_wish_costs_little_and_fits_little(wish: str):
    request: HttpRequest = RequestFactory().post("/mcp", QUERY_STRING=f"tools={quote(wish)}")
    narrowing = read_narrowing(request)
    definitions = list(registry.endpoint("default").tools.values())
    started = monotonic()
    for _ in range(10):
        [narrowing.allows(item) for item in definitions]
    # Exponential time would not end at all.
    assert monotonic() - started < 2
    assert len(narrowing.tools[0]) <= 100
