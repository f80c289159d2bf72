"""Host and Origin rules, through the view (G07)."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client, override_settings

from tests.door import OPEN, serving
from tests.protocol.wire import JSON_HEADERS, request


@pytest.fixture(autouse=True)
def tools(db: Any) -> Iterator[None]:
    with serving():
        yield


def status(**headers: str) -> int:
    response = Client().post(
        "/mcp",
        data=request("ping"),
        content_type="application/json",
        headers={"Accept": JSON_HEADERS["Accept"], **headers},
    )
    if response.status_code != 200:
        assert response["Content-Type"] == "application/json"
        assert "administrator" in response.json()["error"]["message"]
    return int(response.status_code)


@pytest.mark.proves("G07a")
@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("http://testserver", 200),
        ("https://shop.example", 200),
        ("https://a.wild.example", 200),
        ("https://friend.example:8443", 200),
        ("https://friend.example", 403),
        ("https://evil.example", 403),
        ("https://shop.example.evil.example", 403),
        ("https://evilshop.example", 403),
        ("https://shop.example@evil.example", 403),
        ("null", 403),
        ("file://", 403),
        ("", 403),
        ("http://[::1", 403),
        ("*", 403),
    ],
)
@override_settings(ALLOWED_HOSTS=["testserver", "shop.example", ".wild.example"])
def test_an_origin_counts_when_its_host_or_itself_is_allowed(origin: str, expected: int):
    with override_settings(MCP_SERVER={**OPEN, "ALLOWED_ORIGINS": ["https://friend.example:8443"]}):
        assert status(Origin=origin) == expected


@pytest.mark.proves("G07a")
@override_settings(ALLOWED_HOSTS=["*"])
def test_a_wildcard_for_hosts_lets_no_foreign_page_in():
    assert status(Origin="https://evil.example") == 403
    assert status(Origin="http://testserver") == 200


@pytest.mark.proves("G07a")
@override_settings(ALLOWED_HOSTS=[], DEBUG=True)
def test_during_development_local_pages_may_call():
    assert status(Origin="http://localhost:5173", Host="localhost") == 200
    assert status(Origin="http://[::1]:5173", Host="127.0.0.1:8000") == 200
    assert status(Origin="https://evil.example", Host="localhost") == 403


@pytest.mark.proves("G07a")
@override_settings(MIDDLEWARE=[])
def test_a_host_that_is_not_served_is_refused():
    assert status(Host="evil.example") == 403
    assert status(Host="testserver") == 200
