"""Each call and run is one line of Python's logging with fields that stay (A07, T14)."""

import logging
from typing import Any

import pytest
from django.contrib.auth.models import User

from mcp_server import tool
from tests.door import call, run, serving

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def served(caplog: Any) -> Any:
    caplog.set_level(logging.INFO, "mcp_server.calls")
    caplog.set_level(logging.INFO, "mcp_server.runs")
    with serving():

        @tool
        def double(number: int, password: str = "") -> int:
            """Double a number."""
            if number < 0:
                raise RuntimeError("no secrets here, but none for clients either")
            return 2 * number

        yield


def lines(caplog: Any, logger: str) -> list[dict[str, Any]]:
    return [
        {name.removeprefix("mcp_"): value for name, value in vars(record).items() if name.startswith("mcp_")}
        for record in caplog.records
        if record.name == logger and hasattr(record, "mcp_status")
    ]


@pytest.mark.proves("A07b")
def test_a_call_is_one_line_with_its_fields_and_none_of_its_arguments(caplog: Any) -> None:
    ada = User.objects.create_user("ada")
    assert call("double", {"number": 21, "password": "hunter2"}, user=ada).text == "42"
    (line,) = lines(caplog, "mcp_server.calls")
    expected = {"endpoint": "default", "tool": "double", "status": "ok", "user_id": ada.pk, "run_id": None}
    assert {name: line[name] for name in expected} == expected
    assert line["duration_ms"] > 0
    assert line["response_bytes"] == 2
    assert not any("hunter2" in str(value) for record in caplog.records for value in vars(record).values())


@pytest.mark.proves("T14d", "A07b")
@pytest.mark.parametrize(
    ("arguments", "status", "level"),
    [({"number": "x"}, "invalid", "INFO"), ({"number": -1}, "crashed", "WARNING")],
)
def test_a_failed_call_says_how_it_failed(caplog: Any, arguments: Any, status: str, level: str) -> None:
    answer = call("double", arguments).text
    (line,) = lines(caplog, "mcp_server.calls")
    assert line["status"] == status
    assert (line["reference"] or "") in answer
    assert bool(line["reference"]) == (status == "crashed")
    assert [record.levelname for record in caplog.records if hasattr(record, "mcp_status")] == [level]


@pytest.mark.proves("A07b")
def test_a_run_and_its_calls_are_lines_that_name_each_other(caplog: Any) -> None:
    assert run("return await codemode.double({number: 1}) + await codemode.double({number: 2})") == 6
    (line,) = lines(caplog, "mcp_server.runs")
    assert (line["status"], line["calls"], line["endpoint"]) == ("ok", 2, "code")
    assert line["wall_ms"] > 0
    inner = lines(caplog, "mcp_server.calls")
    assert [(item["run_id"], item["sequence"]) for item in inner] == [(line["id"], 1), (line["id"], 2)]
