"""The view for load balancers: 200 where the process can serve, 503 in words where it cannot (issue 9)."""

from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import RequestFactory, override_settings

from mcp_server.definitions.registry import registry
from mcp_server.health import health


def ask(method: str = "get") -> Any:
    return health(getattr(RequestFactory(), method)("/health/"))


@pytest.mark.django_db
def test_a_process_that_can_serve_is_healthy() -> None:
    answer = ask()
    assert answer.status_code == 200
    assert answer.content == b'{"status": "ok", "database": "ok", "definitions": "ok"}'
    assert "no-cache" in answer.headers["Cache-Control"]
    assert ask("post").status_code == 405


@pytest.mark.django_db
def test_a_database_that_is_away_is_told_without_a_detail() -> None:
    def refuse(*args: Any) -> None:
        raise OperationalError("could not connect to db.internal:5432")

    with connection.execute_wrapper(refuse):
        answer = ask()
    assert answer.status_code == 503
    assert answer.headers["Retry-After"]
    assert b'"database": "failed"' in answer.content
    assert b"internal" not in answer.content


@pytest.mark.django_db
def test_definitions_that_cannot_be_served_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Any
) -> None:
    package = tmp_path / "broken_app"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "mcp_tools.py").write_text("import no_such_module_at_all")
    monkeypatch.syspath_prepend(tmp_path)
    with (
        registry.isolated(empty=True),
        override_settings(INSTALLED_APPS=[*settings.INSTALLED_APPS, "broken_app"]),
    ):
        answer = ask()
    assert answer.status_code == 503
    assert b'"definitions": "failed"' in answer.content
    assert b"no_such_module" not in answer.content
