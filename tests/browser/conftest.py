"""One demo for the tests of each module in the browser."""

import importlib.util
import os
import shutil
from collections.abc import Iterator

import pytest

from tests import node
from tests.browser.site import Site, open_site


def missing() -> str:
    """Return why no browser can be driven here, "" when one can."""
    if importlib.util.find_spec("playwright") is None:
        return "playwright is not installed"
    if not (shutil.which("chromium") or shutil.which("chromium-browser")):
        return "chromium is not installed"
    return node.missing()


# Of a module, not of the session: while it is open, an event loop runs on this thread, where other tests want none.
@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    # CI installs everything: there these tests run, or fail.
    if not os.environ.get("CI") and (reason := missing()):
        pytest.skip(reason)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_SETTINGS_MODULE", "tests.browser.settings")
        patch.setenv("DEMO_DEBUG", "1")
        with open_site() as site:
            yield site
