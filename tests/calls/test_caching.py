"""Kept answers: how long, for whom, and never of another call (contract T15, T16)."""

import datetime as dt
import threading
import time
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.test import override_settings
from django.utils import translation
from pydantic import BaseModel, SecretStr

from mcp_server import CacheOptions, Context, Guidance, Image, ToolError, ToolResult, endpoint, tool
from mcp_server.access.principal import Principal
from mcp_server.calls.caching import place_answer
from mcp_server.definitions.registry import registry
from mcp_server.schema.canonical import canonical
from mcp_server.testing import AsyncMCPClient, MCPClient

SECONDS_TO_WAIT = 10.0


@pytest.fixture(autouse=True)
def isolated(db: Any):
    for cache in caches.all():
        cache.clear()
    with registry.isolated(empty=True):
        yield
    for cache in caches.all():
        cache.clear()


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada")


class Clock:
    """What `time.time` says in a test."""

    def __init__(self) -> None:
        self.now = time.time()

    def advance(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(time, "time", lambda: found.now)
    return found


class Counter:
    """A number that grows each time a handler runs."""

    def __init__(self) -> None:
        self.runs = 0

    def __call__(self) -> int:
        self.runs += 1
        return self.runs


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS_TO_WAIT
    while not condition():
        assert time.monotonic() < deadline, "It did not come about in time"
        time.sleep(0.01)


@pytest.mark.proves("T15a")
@pytest.mark.parametrize(
    ("given", "seconds"),
    [("30s", 30), ("5m", 300), ("1h", 3600), ("2 days", 172_800), (dt.timedelta(minutes=2), 120), (90, 90)],
)
def test_an_answer_is_kept_as_long_as_the_author_says(ada, clock, given, seconds):
    count = Counter()

    @tool(cache=given)
    def rates() -> int:
        return count()

    client = MCPClient(ada)
    assert client.call_tool("rates").text == "1"
    clock.advance(seconds - 1)
    assert client.call_tool("rates").text == "1"
    clock.advance(2)
    assert client.call_tool("rates").text == "2"


@pytest.mark.proves("T15a")
def test_an_async_tool_is_kept_too_and_from_code_as_directly(ada):
    endpoint("code", code_mode="on")
    count = Counter()

    @tool(cache="1h")
    async def rates() -> dict[str, int]:
        return {"runs": count()}

    assert MCPClient(ada).call_tool("rates").data == {"runs": 1}
    assert MCPClient(ada, "code").run("return [await codemode.rates(), await codemode.rates()]").data == {
        "results": [{"runs": 1}, {"runs": 1}]
    }


@pytest.mark.proves("T15a")
async def test_the_async_view_keeps_answers_of_both_kinds(ada):
    count = Counter()

    @tool(cache="1h")
    def plain() -> int:
        return count()

    @tool(cache="1h")
    async def awaited() -> int:
        return count()

    client = AsyncMCPClient(ada)
    assert [(await client.call_tool(name)).text for name in ("plain", "plain", "awaited", "awaited")] == [
        "1", "1", "2", "2"
    ]  # fmt: skip


@pytest.mark.proves("T15a")
def test_nothing_and_structured_answers_are_kept_as_they_were(ada):
    count = Counter()

    @tool(cache="1h")
    def nothing() -> None:
        count()

    @tool(cache="1h")
    def structured() -> ToolResult:
        return ToolResult(structured_content={"runs": count()})

    client = MCPClient(ada)
    assert [client.call_tool("nothing").content for _ in range(2)] == [[], []]
    assert count.runs == 1
    first, second = client.call_tool("structured"), client.call_tool("structured")
    assert first == second
    assert second.structured == {"runs": 2}


def test_media_are_not_kept(ada):
    count = Counter()

    @tool(cache="1h")
    def picture() -> Image:
        return Image(f"dot {count()}".encode())

    client = MCPClient(ada)
    assert client.call_tool("picture").content != client.call_tool("picture").content


@pytest.mark.proves("T15c")
def test_the_cache_of_the_setting_holds_the_answers_under_group_and_name(ada):
    count = Counter()

    @tool(cache=CacheOptions("1h", name="my rates", group="shop"))
    def rates() -> int:
        return count()

    memory = {
        "default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"},
        "answers": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "answers"},
    }
    with override_settings(CACHES=memory, MCP_SERVER={"CACHE": "answers"}):
        assert [MCPClient(ada).call_tool("rates").text for _ in range(2)] == ["1", "1"]
        assert [key.split(":")[2:4] for key in caches["answers"]._cache]  # type: ignore[attr-defined]  # the memory itself == [["shop", "my%20rates"]]
    with override_settings(CACHES=memory):
        assert [MCPClient(ada).call_tool("rates").text for _ in range(2)] == ["2", "3"]


@pytest.mark.proves("T15d", "T16a")
def test_two_users_never_see_each_other_s_answer(ada):
    bob = User.objects.create_user("bob")

    @tool(cache="1h")
    def whoami(ctx: Context) -> str:
        return str(ctx.user.get_username())

    @tool(cache=CacheOptions("1h", key=lambda page: f"page-{page}"))
    def page_for(page: int, ctx: Context) -> str:
        return f"{page} for {ctx.user.get_username()}"

    for user in (ada, bob, ada):
        assert MCPClient(user).call_tool("whoami").text == user.username
        assert MCPClient(user).call_tool("page-for", {"page": 1}).text == f"1 for {user.username}"


@pytest.mark.proves("T15c")
def test_a_custom_key_decides_which_arguments_count_and_users_share_only_when_the_author_says_so(ada):
    bob, count = User.objects.create_user("bob"), Counter()

    @tool(cache=CacheOptions("1h", key=lambda page, **rest: f"page-{page}"))
    def own(page: int, verbose: bool = False) -> int:
        return count()

    @tool(cache=CacheOptions("1h", vary_on_user=False))
    def shared() -> int:
        return count()

    client = MCPClient(ada)
    assert client.call_tool("own", {"page": 1}).text == "1"
    assert client.call_tool("own", {"page": 1, "verbose": True}).text == "1"
    assert client.call_tool("own", {"page": 2}).text == "2"
    assert [MCPClient(user).call_tool("shared").text for user in (ada, bob)] == ["3", "3"]


@pytest.mark.proves("T16a")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"filter": {"a": 1}}, {"filter": {"a": 2}}),
        ({"first": "x:y", "second": "z"}, {"first": "x", "second": "y:z"}),
        ({"first": "p/q"}, {"first": "p-q"}),
        ({"first": "1"}, {"first": 1}),
        ({"filter": {"a": [1, 2]}}, {"filter": {"a": [2, 1]}}),
        ({"filter": None}, {"filter": {}}),
    ],
)
def test_arguments_that_differ_never_share_an_answer(ada, one, other):
    @tool(cache="1h")
    def echo(
        first: str | int = "",
        second: str = "",
        filter: dict[str, Any] | None = None,  # noqa: A002
    ) -> dict[str, Any]:
        return {"first": first, "second": second, "filter": filter}

    client = MCPClient(ada)
    for given in (one, other, one):
        answer = client.call_tool("echo", given).data
        assert {key: answer[key] for key in given} == given


@pytest.mark.proves("T16a")
def test_arguments_that_mean_the_same_share_an_answer(ada):
    count = Counter()

    class Place(BaseModel):
        city: str
        country: str = "DE"

    @tool(cache="1h")
    def search(place: Place, limit: int = 10, tags: set[str] | None = None) -> int:
        return count()

    client = MCPClient(ada)
    same: list[dict[str, Any]] = [
        {"place": {"city": "Bonn"}, "tags": ["a", "b"]},
        {"limit": 10, "place": {"country": "DE", "city": "Bonn"}, "tags": ["b", "a", "a"]},
    ]
    assert [client.call_tool("search", item).text for item in same] == ["1", "1"]


@pytest.mark.proves("T16a")
def test_values_that_print_alike_do_not_collide():
    class Card(BaseModel):
        number: SecretStr

    alike: list[Any] = [
        1, "1", 1.5, "1.5", Decimal("1.5"), True, "True", None, "None", [], {}, "", b"", [[]],
        {"a": 1}, {"a": "1"}, ["a", 1], [["a", 1]], dt.date(2026, 1, 1), "2026-01-01", dt.datetime(2026, 1, 1),  # noqa: DTZ001
        Card(number="1"), Card(number="2"), {"number": "1"}, {1: "a"}, {"1": "a"}, {1, 2}, [1, 2],
    ]  # fmt: skip
    forms = [repr(canonical(value)) for value in alike]
    assert len(set(forms)) == len(alike)


@pytest.mark.proves("T16a")
def test_two_tools_of_one_name_on_two_endpoints_keep_their_answers_apart(ada):
    endpoint("one")
    endpoint("two")

    def define(name: str) -> None:
        @tool(name="where", endpoints=[name], cache="1h")
        def where() -> str:
            return name

    define("one")
    define("two")
    assert [MCPClient(ada, name).call_tool("where").text for name in ("one", "two")] == ["one", "two"]


def test_each_language_and_each_set_of_scopes_has_its_own_answer(ada):
    from mcp_server.models import Token

    @tool(cache="1h")
    def language(ctx: Context) -> str:
        return f"{translation.get_language()} {sorted(getattr(ctx.request, 'mcp_scopes', None) or ())}"

    _, narrow = Token.objects.issue(ada, "narrow", scopes=["read"])
    texts = [
        MCPClient(headers={"Accept-Language": code}, token=narrow).call_tool("language").text
        for code in ("en", "zh-hans", "en")
    ]
    assert texts == ["en ['read']", "zh-hans ['read']", "en ['read']"]
    assert MCPClient(ada).call_tool("language").text == "en []"


@pytest.mark.proves("T16b")
def test_errors_advice_and_crashes_are_not_kept(ada):
    count = Counter()

    @tool(cache="1h")
    def shaky(kind: Literal["error", "guidance", "crash", "result"]) -> Any:
        if (run := count()) % 2 == 0:
            return run
        if kind == "result":
            return ToolResult(content=["failed"], is_error=True)
        raise {"error": ToolError("Try again"), "guidance": Guidance("Sign in"), "crash": OSError()}[kind]

    client = MCPClient(ada, raise_tool_exceptions=False)
    for kind in ("error", "guidance", "crash", "result"):
        calls = [client.call_tool("shaky", {"kind": kind}) for _ in range(3)]
        assert [call.is_error for call in calls] == [True, False, False]
        assert calls[1].text == calls[2].text


@pytest.mark.proves("T16b")
def test_an_answer_that_came_too_late_is_not_kept(ada):
    release, ended = threading.Event(), []

    @tool(cache="1h", timeout=0.1)
    def slow() -> int:
        # Under WSGI the handler has the request's own thread: somebody else must let it go on after its deadline.
        threading.Timer(0.3, release.set).start()
        assert release.wait(SECONDS_TO_WAIT)
        ended.append(True)
        return len(ended)

    client = MCPClient(ada)
    assert client.call_tool("slow").text.startswith("[504]")
    wait_for(lambda: ended == [True])
    # On a busy machine a later call may be late as well; one that is in time runs anew.
    answers: list[str] = []

    def is_in_time() -> bool:
        answers.append(client.call_tool("slow").text)
        return not answers[-1].startswith("[504]")

    wait_for(is_in_time)
    assert answers[-1] == str(len(ended)) != "1"


@pytest.mark.proves("T16c")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_stale_answer_is_served_at_once_and_renewed_once_in_the_background(ada, clock, kind):
    count, finish = Counter(), threading.Event()
    finish.set()
    kept = CacheOptions("1m", swr=True, stale_max_age="1h")

    @tool(name="sync", cache=kept)
    def plain(ctx: Context) -> str:
        ctx.progress(1, 2, "half-way")
        run = count()
        assert finish.wait(SECONDS_TO_WAIT)
        return f"{run} for {User.objects.get(pk=ctx.user.pk).username}"

    @tool(name="async", cache=kept)
    async def awaited(ctx: Context) -> str:
        await ctx.aprogress(1, 2, "half-way")
        run = count()
        assert finish.wait(SECONDS_TO_WAIT)
        # Two queries, each on the thread that the first one found.
        assert await User.objects.acount() == 1
        return f"{run} for {(await User.objects.aget(pk=ctx.user.pk)).username}"

    client = MCPClient(ada)
    assert client.call_tool(kind).text == "1 for ada"
    clock.advance(61)
    finish.clear()
    assert [client.call_tool(kind).text for _ in range(5)] == ["1 for ada"] * 5
    finish.set()
    wait_for(lambda: client.call_tool(kind).text == "2 for ada")
    assert count.runs == 2
    clock.advance(60 + 3601)
    assert client.call_tool(kind).text == "3 for ada"


@pytest.mark.proves("T16c")
def test_inside_a_transaction_the_renewal_stays_on_its_thread(ada, clock):
    count = Counter()

    @tool(cache=CacheOptions("1m", swr=True))
    def rates() -> str:
        return f"{count()} {User.objects.count()}"

    client = MCPClient(ada)
    assert client.call_tool("rates").text == "1 1"
    clock.advance(61)
    assert client.call_tool("rates").text == "1 1"
    assert client.call_tool("rates").text == "2 1"


@pytest.mark.proves("T16b", "T16c")
def test_a_renewal_that_fails_leaves_the_stale_answer_and_the_next_call_tries_again(ada, clock):
    count = Counter()

    @tool(cache=CacheOptions("1m", swr=True))
    def rates() -> int:
        if (run := count()) in {2, 3}:
            raise ToolError("The service is away", 503)
        return run

    client = MCPClient(ada)
    texts = [client.call_tool("rates").text]
    clock.advance(61)
    texts += [client.call_tool("rates").text for _ in range(4)]
    assert texts == ["1", "1", "1", "1", "4"]


def test_a_stale_answer_is_not_served_without_swr(ada, clock):
    count = Counter()

    @tool(cache="1m")
    def rates() -> int:
        return count()

    client = MCPClient(ada)
    client.call_tool("rates")
    clock.advance(61)
    assert client.call_tool("rates").text == "2"


def test_a_claim_that_came_after_another_s_renewal_is_given_back(ada, rf):
    @tool(cache=CacheOptions("1m", swr=True))
    def rates() -> int:
        return 1

    from mcp_server.calls.results import Outcome

    request = rf.get("/")
    request.user = ada
    renewals: list[Any] = []
    definition = registry.endpoint("default").tools["rates"]
    place = place_answer(definition, {}, {}, Principal(request=request), renewals.append)
    assert place is not None
    assert place.find() is None
    place.keep(Outcome(json=b"1"))
    assert place.find() == Outcome(json=b"1")
    assert not place._claim()
    assert renewals == []
    assert caches["default"].get(place._lock) is None


@pytest.mark.proves("T15e", "T15b")
@pytest.mark.parametrize(
    "bad",
    ["soon", "-1s", 0, -5, "", True, dt.timedelta(0), float("inf"), CacheOptions("1h", stale_max_age="x")],
)
def test_a_cache_time_that_cannot_be_read_is_a_check_error_that_names_the_tool(bad):
    from django.core.checks import run_checks

    @tool(cache=bad)
    def rates() -> int:
        return 1

    @tool(cache=3_600_000)
    def hourly() -> int:
        return 1

    found = {item.id: item.msg for item in run_checks() if "mcp_toolkit" in str(item.id)}
    assert "Tool 'rates'" in found["mcp_toolkit.E003"]
    assert "tests.calls.test_caching:" in found["mcp_toolkit.E003"]
    assert "Tool 'hourly'" in found["mcp_toolkit.W001"]


def test_a_cached_tool_s_arguments_may_be_of_a_type_of_the_author_s(ada):
    count = Counter()

    class Money:
        def __init__(self, text: str) -> None:
            self.text = text

        @classmethod
        def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
            from pydantic_core import core_schema

            return core_schema.no_info_after_validator_function(cls, core_schema.str_schema())

    @tool(cache="1h")
    def convert(amount: Annotated[Money, "an amount"]) -> str:
        return f"{amount.text} {count()}"

    client = MCPClient(ada)
    assert [client.call_tool("convert", {"amount": text}).text for text in ("1", "2", "1")] == [
        "1 1",
        "2 2",
        "1 1",
    ]
