"""Ten thousand malformed bodies and header sets never give a 500, HTML, or a request that hangs (P08)."""

import http.client
import os
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from tests.protocol.conftest import Served
from tests.protocol.test_differential import Generator, through_the_door, through_the_view, tools
from tests.protocol.wire import request

__all__ = ["tools"]

pytestmark = pytest.mark.django_db(transaction=True)
IN_PROCESS = int(os.environ.get("HOSTILE_REQUESTS", "500"))
"""For each of two doors, beside the ten thousand that reach real servers."""
OVER_THE_WIRE = {"door": 5500, "uvicorn": 2500, "gunicorn": 1500, "daphne": 500}
PATIENCE = 20.0
"""Seconds after which a request hangs."""
REFUSED_BY_SERVERS = str.maketrans("\x7f\x85", "~~")
"""What uvicorn and daphne do not let through in a header; they answer with pages of their own, as gunicorn does to a
second Content-Type."""

METHODS = [
    *("initialize", "ping", "server/discover", "logging/setLevel", "completion/complete"),
    *("resources/list", "resources/read", "resources/templates/list", "resources/subscribe"),
    *("prompts/list", "prompts/get", "tasks/get", "notifications/cancelled", "notifications/initialized"),
]
MEMBERS = [
    *("name", "uri", "level", "ref", "argument", "arguments", "cursor", "requestId", "context"),
    *("protocolVersion", "capabilities", "clientInfo", "inputResponses", "requestState"),
]
VALUES: list[Any] = [
    *(
        None,
        True,
        -1,
        1.5,
        2**70,
        "",
        "x",
        "é",
        "\ud800",
        "note://welcome",
        "files://../../etc/passwd",
        "2025-11-25",
    ),
    *([], [1], {}, {"name": "x", "version": "1"}, {"type": "ref/prompt", "name": "translate"}, {"x": [{}]}),
]
OTHER_VERBS = ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"]


class Hostile(Generator):
    """Requests that are bent and damaged more often than not, of every method that ends by itself."""

    def _message(self) -> dict[str, Any]:
        pick = self.random
        if pick.random() < 0.7:
            return super()._message()
        members = pick.sample(MEMBERS, pick.randrange(4))
        return request(pick.choice(METHODS), {name: pick.choice(VALUES) for name in members})

    def make(self) -> tuple[dict[str, str], bytes]:
        pick = self.random
        headers, body = super().make()
        harms = pick.sample([self._cut, self._scatter, self._garble], pick.choice([1, 1, 2, 3]))
        for harm in harms:
            headers, body = harm(headers, body)
        # As a client would that has nothing better for such a name.
        return {
            name: text.encode("latin-1", "replace").decode("latin-1") for name, text in headers.items()
        }, body

    def _cut(self, headers: dict[str, str], body: bytes) -> tuple[dict[str, str], bytes]:
        for _ in range(self.random.choice([1, 2])):
            body = self._damage(body) if body else body
        return headers, body

    def _scatter(self, headers: dict[str, str], body: bytes) -> tuple[dict[str, str], bytes]:
        for _ in range(self.random.choice([1, 3])):
            place = self.random.randrange(len(body) + 1)
            body = body[:place] + self.random.randbytes(self.random.choice([1, 3])) + body[place + 1 :]
        return headers, body

    def _garble(self, headers: dict[str, str], body: bytes) -> tuple[dict[str, str], bytes]:
        name = self.random.choice(sorted(headers))
        noise = "".join(chr(self.random.randrange(0x20, 0xFF)) for _ in range(8))
        return {**headers, name: noise}, body

    def other_verb(self) -> str:
        """Mostly POST."""
        return self.random.choice(OTHER_VERBS) if self.random.random() < 0.05 else "POST"

    def more(self, headers: dict[str, str]) -> list[tuple[str, str]]:
        """Now and then, one of the headers once more."""
        doubled = sorted(headers.keys() - {"content-type"}) if self.random.random() < 0.05 else []
        return [(self.random.choice(doubled), "x")] if doubled else []


def check(status: int, kind: str, *seen: Any) -> None:
    assert 200 <= status < 500, (status, *seen)
    assert kind in {"application/json", "text/event-stream", ""}, (kind, *seen)


@pytest.mark.proves("P08")
def test_the_view_takes_whatever_comes() -> None:
    generator = Hostile(1)
    for _ in range(IN_PROCESS):
        headers, body = generator.make()
        status, kind, _ = through_the_view(headers, body)
        check(status, kind, body)


@pytest.mark.proves("P08")
async def test_the_door_takes_whatever_comes() -> None:
    generator = Hostile(2)
    for _ in range(IN_PROCESS):
        headers, body = generator.make()
        status, kind, _ = await through_the_door(headers, body)
        check(status, kind, body)


@pytest.mark.thorough
@pytest.mark.proves("P08")
@pytest.mark.parametrize("kind", OVER_THE_WIRE)
def test_a_server_takes_whatever_comes(start: Callable[..., Served], kind: str) -> None:
    served, generator = start(kind), Hostile(len(kind))
    # Other tests have asked the same server for things that its log may tell.
    logged = served.log.stat().st_size
    host = served.root.removeprefix("http://")
    with closing(http.client.HTTPConnection(host, timeout=PATIENCE)) as connection:
        for _ in range(OVER_THE_WIRE[kind]):
            headers, body = generator.make()
            verb = generator.other_verb()
            connection.putrequest(verb, "/mcp", skip_accept_encoding=True)
            for name, value in [*headers.items(), *generator.more(headers)]:
                connection.putheader(name, value.translate(REFUSED_BY_SERVERS))
            connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            response = connection.getresponse()
            content = response.read()
            media = response.headers.get("Content-Type", "").partition(";")[0]
            check(response.status, media, content[:300], verb, headers, body[:300])
    assert served.process.poll() is None
    assert b"Traceback" not in served.log.read_bytes()[logged:]
