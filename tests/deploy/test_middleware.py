"""A project's middleware of any kind stands in front of the endpoints, under both kinds of servers (P12b)."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient, Client, override_settings
from django.utils.decorators import async_only_middleware, sync_only_middleware

from mcp_server import tool
from mcp_server.models import Token
from tests.door import serving
from tests.protocol.wire import request

pytestmark = pytest.mark.django_db

ACCEPT = {"Accept": "application/json, text/event-stream"}
MESSAGE = request("tools/call", {"name": "whoami", "arguments": {}})


@sync_only_middleware
def plain(get_response: Any) -> Any:
    def middleware(http: Any) -> Any:
        response = get_response(http)
        response.headers["X-Plain"] = "passed"
        return response

    return middleware


@async_only_middleware
def coroutine(get_response: Any) -> Any:
    async def middleware(http: Any) -> Any:
        response = await get_response(http)
        response.headers["X-Coroutine"] = "passed"
        return response

    return middleware


HERE = "tests.deploy.test_middleware"
SESSIONS = "django.contrib.sessions.middleware.SessionMiddleware"
AUTHENTICATION = "django.contrib.auth.middleware.AuthenticationMiddleware"
LOGIN = "django.contrib.auth.middleware.LoginRequiredMiddleware"
STACKS = [
    ([], set()),
    ([f"{HERE}.plain"], {"X-Plain"}),
    ([f"{HERE}.coroutine"], {"X-Coroutine"}),
    ([f"{HERE}.coroutine", SESSIONS, f"{HERE}.plain", AUTHENTICATION, LOGIN], {"X-Plain", "X-Coroutine"}),
]


@pytest.fixture
def headers() -> Any:
    with serving(ENDPOINTS={}):

        @tool
        def whoami() -> str:
            """Answer."""
            return "here"

        ada = User.objects.create_user("ada")
        yield {**ACCEPT, "Authorization": f"Bearer {Token.objects.issue(ada, 'test')[1]}"}


@pytest.mark.proves("P12b")
@pytest.mark.parametrize(("stack", "marks"), STACKS)
def test_a_wsgi_site_answers_through_any_middleware(headers: Any, stack: list[str], marks: set[str]) -> None:
    with override_settings(MIDDLEWARE=stack):
        check(Client().post("/mcp", MESSAGE, "application/json", headers=headers), marks)
        refused = Client().post("/mcp", MESSAGE, "application/json", headers=ACCEPT)
    assert refused.status_code == 401, "a login page would be no answer to a client"


@pytest.mark.proves("P12b")
@pytest.mark.parametrize(("stack", "marks"), STACKS)
async def test_an_asgi_site_answers_through_any_middleware(
    headers: Any, stack: list[str], marks: set[str]
) -> None:
    with override_settings(MIDDLEWARE=stack):
        check(await AsyncClient().post("/mcp", MESSAGE, "application/json", headers=headers), marks)
        refused = await AsyncClient().post("/mcp", MESSAGE, "application/json", headers=ACCEPT)
    assert refused.status_code == 401


def check(answer: Any, marks: set[str]) -> None:
    assert answer.json()["result"]["content"][0]["text"] == "here"
    assert {name for name in ("X-Plain", "X-Coroutine") if name in answer.headers} == marks
