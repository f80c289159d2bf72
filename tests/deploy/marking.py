"""A pytest plugin: marks the tests that a database can break, so that `-m database` runs them on another one.

python -m pytest -p tests.deploy.marking -m database --ds tests.deploy.settings_postgresql
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

_LINES = (Path(__file__).parent / "database_tests.txt").read_text().splitlines()
LISTED = tuple(line for line in _LINES if line and not line.startswith("not "))
"""What runs on each database."""
_LEFT_OUT = tuple(line.split()[1] for line in _LINES if line.startswith("not "))


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", "database: depends on the database, and runs on each of them")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `database_tests.txt` lists.

    Raises:
        pytest.UsageError: the list names what is not there any more.
    """
    for item in items:
        if item.nodeid.startswith(LISTED) and not item.nodeid.startswith(_LEFT_OUT):
            item.add_marker(pytest.mark.database)
    listed = (*LISTED, *_LEFT_OUT)
    if unknown := [start for start in listed if not any(item.nodeid.startswith(start) for item in items)]:
        raise pytest.UsageError(f"database_tests.txt lists what was not collected: {', '.join(unknown)}")


@pytest.fixture(autouse=True)
def _stored_log(_django_db_marker: None) -> Iterator[None]:
    """Let the log's writer finish before the tables are emptied: TRUNCATE waits for nobody's rows."""
    yield
    from mcp_server.calls import journal

    journal.flush(10)
