"""What staff do in the admin, in a real browser, under a strict Content-Security-Policy."""

import shutil
import threading
import time

import pytest

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
if not (shutil.which("chromium") or shutil.which("chromium-browser")):
    pytest.skip("chromium is not installed", allow_module_level=True)

from tests.browser.site import DESKTOP, PHONE, open_site

ENDLESS = """
for (let n = 0; ; n++) {
  console.log("round", n);
  await codemode.list_users({ limit: 1 });
  await new Promise((resolve) => setTimeout(resolve, 200));
}
"""
PAGES = (
    *("/process/", "/process/?period=week", "/limits/", "/limits/code/change/", "/coderun/", "/toolcall/"),
    *("/token/", "/token/add/", "/toolcall/try/?endpoint=code&tool=code"),
)


@pytest.fixture(scope="module")
def site():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_SETTINGS_MODULE", "tests.browser.settings")
        patch.setenv("DEMO_DEBUG", "1")
        with open_site() as site:
            yield site


def admin(site, path):
    return f"{site.origin}/admin/mcp_toolkit{path}"


@pytest.mark.proves("A01c", "A04a", "A04b", "A08", "A05c")
def test_staff_change_a_limit_watch_a_run_stop_it_filter_export_and_try_a_tool(site):
    with site.visitor() as page:
        page.goto(admin(site, "/limits/code/change/"))
        page.fill("#id_max_tool_calls", "3")
        page.click("[name=_save]")
        five = "const found = [];\nfor (let n = 0; n < 5; n++) { try { await codemode.list_users({ limit: 1 }); found.push(1); } catch (e) { found.push(e.status); } }\nreturn found;"
        assert "[1,1,1,429,429]" in site.run_code(five)["content"][0]["text"].replace(" ", "")
        page.goto(admin(site, "/limits/code/change/"))
        page.fill("#id_max_tool_calls", "500")
        page.click("[name=_save]")

        answers = []
        client = threading.Thread(target=lambda: answers.append(site.run_code(ENDLESS)))
        client.start()
        running = page.locator("#result_list tr", has_text="running").first
        wait_for(lambda: page.goto(admin(site, "/coderun/?outcome=running")) and running.count())
        running.locator("th a").click()
        page.locator("#mcp-console li", has_text="round 3").wait_for()
        page.locator(".mcp-lane").nth(2).wait_for()
        began = time.monotonic()
        page.click(".mcp-stop")
        client.join(30)
        assert time.monotonic() - began < 10, "the contract says 2 s; this machine may be busy"
        assert answers[0]["isError"]
        assert "stopped" in answers[0]["content"][0]["text"].lower()
        page.locator(".mcp-headline", has_text="stopped").wait_for()
        assert page.locator("#mcp-console li").count() > 3

        page.goto(admin(site, "/coderun/?outcome=stopped&user=staff"))
        assert page.locator("#result_list tbody tr").count() == 1
        with page.expect_download() as download:
            page.click("text=Export CSV")
        assert b"stopped" in download.value.path().read_bytes()

        page.goto(admin(site, "/toolcall/try/?tool=list-users"))
        page.fill("#id_arguments", '{"limit": 2}')
        page.click("input.default")
        page.locator("#mcp-answer").wait_for()
        assert "name" in page.locator("#mcp-answer").inner_text()
    assert site.complaints == []


@pytest.mark.proves("A05c")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_every_page_keeps_to_the_policy_and_to_the_width_of_the_screen(site, viewport, scheme):
    site.run_code("return await codemode.list_users({ limit: 2 });")
    with site.visitor(viewport, scheme) as page:
        page.goto(admin(site, "/coderun/?outcome=ok"))
        page.locator("#result_list tbody th a").first.click()
        for path in (None, *PAGES):
            if path is not None:
                assert page.goto(admin(site, path)).status == 200
            width = page.evaluate("document.documentElement.scrollWidth")
            assert width <= viewport["width"], path
    assert site.complaints == []


def wait_for(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
