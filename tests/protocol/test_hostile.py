"""Malformed bodies and headers never give a 500, HTML, or a request that hangs (P08)."""

import os

import pytest

from tests.protocol.test_differential import Generator, through_the_door, through_the_view, tools

__all__ = ["tools"]

pytestmark = pytest.mark.django_db(transaction=True)
REQUESTS = int(os.environ.get("HOSTILE_REQUESTS", "1500"))


class Hostile(Generator):
    """Requests that are bent and damaged more often than not."""

    def make(self) -> tuple[dict[str, str], bytes]:
        headers, body = super().make()
        for _ in range(self.random.choice([0, 1, 2])):
            body = self._damage(body) if body else body
        for _ in range(self.random.choice([0, 0, 3])):
            place = self.random.randrange(len(body) + 1)
            body = body[:place] + self.random.randbytes(self.random.choice([1, 3])) + body[place + 1 :]
        for name in list(headers):
            if self.random.random() < 0.1:
                headers[name] = "".join(chr(self.random.randrange(0x20, 0xFF)) for _ in range(8))
        return headers, body


def check(status: int, kind: str, body: bytes) -> None:
    assert 200 <= status < 500, (status, body)
    assert kind in {"application/json", "text/event-stream", ""}, (kind, body)


@pytest.mark.proves("P08")
def test_the_view_takes_whatever_comes() -> None:
    generator = Hostile(1)
    for _ in range(REQUESTS):
        headers, body = generator.make()
        status, kind, _ = through_the_view(headers, body)
        check(status, kind, body)


@pytest.mark.proves("P08")
async def test_the_door_takes_whatever_comes() -> None:
    generator = Hostile(2)
    for _ in range(REQUESTS):
        headers, body = generator.make()
        status, kind, _ = await through_the_door(headers, body)
        check(status, kind, body)
