"""What staff do in the admin, in a real browser, under a strict Content-Security-Policy."""

import pytest

from tests.browser.site import DESKTOP, PHONE

PAGES = (
    *("/process/", "/process/?period=week", "/limits/", "/limits/code/change/", "/coderun/", "/toolcall/"),
    *("/token/", "/token/add/", "/toolcall/try/?endpoint=code&tool=code"),
)


@pytest.mark.proves("A01c", "A04a", "A08", "A05c")
def test_staff_change_a_limit_watch_a_run_stop_it_filter_export_and_try_a_tool(site):
    with site.visitor() as page:
        page.goto(site.admin("/limits/code/change/"))
        page.fill("#id_max_tool_calls", "3")
        page.click("[name=_save]")
        five = "const found = [];\nfor (let n = 0; n < 5; n++) { try { await codemode.list_users({ limit: 1 }); found.push(1); } catch (e) { found.push(e.status); } }\nreturn found;"
        assert "[1,1,1,429,429]" in site.run_code(five)["content"][0]["text"].replace(" ", "")
        page.goto(site.admin("/limits/code/change/"))
        page.fill("#id_max_tool_calls", "500")
        page.click("[name=_save]")

        client, answers = site.watch_endless_run(page)
        page.click(".mcp-stop")
        client.join(30)
        assert answers[0]["isError"]
        assert "stopped" in answers[0]["content"][0]["text"].lower()
        page.locator(".mcp-headline", has_text="stopped").wait_for()
        assert page.locator("#mcp-console li").count() > 3

        page.goto(site.admin("/coderun/?outcome=stopped&user=staff"))
        rows = page.locator("#result_list tbody tr")
        assert rows.count() == page.locator("#result_list tbody tr", has_text="stopped").count() > 0
        with page.expect_download() as download:
            page.click("text=Export CSV")
        assert b"stopped" in download.value.path().read_bytes()

        page.goto(site.admin("/toolcall/try/?tool=list-users"))
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
        page.goto(site.admin("/coderun/?outcome=ok"))
        page.locator("#result_list tbody th a").first.click()
        for path in (None, *PAGES):
            if path is not None:
                assert page.goto(site.admin(path)).status == 200
            else:
                page.wait_for_url("**/change/**")
            width = page.locator("html").evaluate("html => html.scrollWidth")
            assert width <= viewport["width"], path
    assert site.complaints == []
