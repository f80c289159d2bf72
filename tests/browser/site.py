"""A running demo, and a browser that has signed in to its admin and notes whatever it should not see."""

import json
import shutil
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

SWITCHES = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}

ENDLESS = """
for (let n = 0; ; n++) {
  console.log("round", n);
  await codemode.list_users({ limit: 1 });
  await new Promise((resolve) => setTimeout(resolve, 200));
}
"""


@dataclass
class Site:
    """The demo's addresses and the token of its staff user; `complaints` is what browsers saw and should not."""

    servers: dict[str, Any]
    browser: "Browser"
    complaints: list[str] = field(default_factory=list)

    @property
    def origin(self) -> str:
        parts = urlsplit(self.servers["demo"]["url"])
        return f"{parts.scheme}://{parts.netloc}"

    def admin(self, path: str) -> str:
        """Return the address of one of our pages in the admin."""
        return f"{self.origin}/admin/mcp_toolkit{path}"

    def run_code(self, code: str) -> dict[str, Any]:
        """Return the result of a program that a client sends over MCP."""
        return self.call("demo-code", "code", {"code": code})

    def call(self, server: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the result of a tool that a client calls over MCP."""
        params = {"name": tool, "arguments": arguments}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
        headers = {
            **self.servers[server]["headers"],
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-06-18",
        }
        request = urllib.request.Request(self.servers[server]["url"], body, headers)
        with urllib.request.urlopen(request, timeout=90) as answer:
            text = answer.read().decode()
        if answer.headers.get_content_type() == "text/event-stream":
            text = next(
                line[5:]
                for line in reversed(text.splitlines())
                if line.startswith("data:") and '"id"' in line
            )
        return json.loads(text)["result"]

    def watch_endless_run(self, page: "Page") -> tuple[threading.Thread, list[dict[str, Any]]]:
        """Start a program that goes on until it is stopped, show its page, and wait until its console and calls appear.

        Returns:
            The thread of the client, and where it puts the answer when it has one.
        """
        answers: list[dict[str, Any]] = []
        client = threading.Thread(target=lambda: answers.append(self.run_code(ENDLESS)))
        client.start()
        running = page.locator("#result_list tr", has_text="running").first
        wait_for(lambda: page.goto(self.admin("/coderun/?outcome=running")) and running.count())
        running.locator("th a").click()
        # The first of them: on a busy machine there may be a round 30 by now.
        page.locator("#mcp-console li", has_text="round 3").first.wait_for()
        page.locator(".mcp-lane").nth(2).wait_for()
        return client, answers

    @contextmanager
    def visitor(
        self, viewport: dict[str, int] = DESKTOP, scheme: str = "light", **options: Any
    ) -> Iterator["Page"]:
        """Give a page of a browser in which the demo's staff user has signed in."""
        context = self.browser.new_context(viewport=viewport, color_scheme=scheme, **options)
        context.set_default_timeout(20_000)
        page = context.new_page()
        self._listen(context, page)
        page.goto(f"{self.origin}/admin/login/?next=/admin/mcp_toolkit/process/")
        page.fill("#id_username", "staff")
        page.fill("#id_password", "staff-demo")
        page.click("[type=submit]")
        page.wait_for_url("**/process/")
        yield page
        context.close()

    def _listen(self, context: "BrowserContext", page: "Page") -> None:
        page.on("console", lambda message: self._complain(message.type, message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        context.on("request", lambda request: self._check_host(request.url))

    def _complain(self, kind: str, text: str) -> None:
        # Browsers ask every site for this picture by themselves.
        if kind in ("error", "warning") and "favicon" not in text and "404 (Not Found)" not in text:
            self.complaints.append(text)

    def _check_host(self, url: str) -> None:
        if not url.startswith((self.origin, "data:", "blob:")):
            self.complaints.append(f"a request to another host: {url}")


@contextmanager
def open_site() -> Iterator[Site]:
    """Give a site with a fresh demo, under the settings that the environment names."""
    from playwright.sync_api import sync_playwright

    from demo_project.checking import running_demo

    with running_demo() as servers, sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=chromium, args=SWITCHES)
        yield Site(servers, browser)
        browser.close()


def wait_for(condition: Callable[[], Any], seconds: float = 20) -> None:
    """Wait until a condition holds.

    Raises:
        TimeoutError: when it does not in time.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("it did not happen in time")
