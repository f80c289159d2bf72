"""axe-core on all of our admin pages, in the light and in the dark, wide and narrow."""

import pytest

from tests.browser.accessibility import grave_faults
from tests.browser.site import DESKTOP, PHONE, wait_for

PAGES = (
    *("/process/", "/limits/", "/limits/code/change/", "/coderun/", "/toolcall/", "/token/", "/token/add/"),
    "/toolcall/try/?endpoint=code&tool=code",
)
SPEAKING = (
    'console.log("a");\nconsole.warn("b");\nconsole.error("c");\nawait codemode.list_users({ limit: 1 });\n'
)
KINDS = pytest.mark.parametrize(
    ("viewport", "scheme"), [(DESKTOP, "light"), (PHONE, "dark")], ids=["desktop-light", "phone-dark"]
)
pytestmark = [pytest.mark.proves("A05c"), pytest.mark.thorough]


def test_a_grave_fault_is_told_with_its_place(site):
    with site.visitor() as page:
        page.goto(site.admin("/process/"))
        page.evaluate("document.querySelector('.mcp-tabs a').style.color = '#ddd'")
        page.evaluate("document.querySelector('#content-main').append(document.createElement('button'))")
        assert {text.split()[0] for text in grave_faults(page)} == {"button-name", "color-contrast"}


@KINDS
def test_no_list_and_no_form_of_ours_has_a_grave_fault(site, viewport, scheme):
    site.run_code(SPEAKING)
    with site.visitor(viewport, scheme) as page:
        for path in PAGES:
            page.goto(site.admin(path))
            assert grave_faults(page) == [], path


@KINDS
def test_no_page_of_a_run_or_call_has_a_grave_fault(site, viewport, scheme):
    site.run_code(f"{SPEAKING}return 1;")
    site.run_code(f'{SPEAKING}throw new Error("x");')
    with site.visitor(viewport, scheme) as page:
        for path in ("/coderun/?outcome=ok", "/coderun/?outcome=error", "/toolcall/?origin=code"):
            page.goto(site.admin(path))
            page.locator("#result_list tbody th a").first.click()
            page.locator(".mcp-summary").wait_for()
            assert grave_faults(page) == [], path
        client, _ = site.watch_endless_run(page)
        assert grave_faults(page) == [], "a run that goes on"
        page.click(".mcp-stop")
        client.join(30)


@KINDS
def test_no_answer_and_no_refusal_has_a_grave_fault(site, viewport, scheme):
    with site.visitor(viewport, scheme) as page:
        page.goto(site.admin("/limits/code/change/"))
        page.evaluate("document.querySelector('form#limits_form').noValidate = true")
        page.fill("#id_memory_limit_mb", "100000")
        page.click("[name=_save]")
        page.locator(".mcp-limit-row .errorlist").wait_for()
        assert grave_faults(page) == [], "a limit that was refused"

        for arguments in ('{"limit": 1}', '{"limit": "many"}'):
            page.goto(site.admin("/toolcall/try/?tool=list-users"))
            page.fill("#id_arguments", arguments)
            page.click("input.default")
            page.locator("#mcp-answer").wait_for()
            assert grave_faults(page) == [], arguments

        page.goto(site.admin("/token/add/"))
        page.fill("#id_user", "staff")
        page.fill("#id_name", f"accessibility {scheme}")
        page.click("[name=_save]")
        page.locator("#mcp-token").wait_for()
        assert grave_faults(page) == [], "a token that was made"

        site.run_code("return 1;")
        restart = page.locator("text=Restart workers")
        # The process says every few seconds which workers it has.
        wait_for(lambda: page.goto(site.admin("/process/")) and restart.count())
        restart.click()
        page.locator(".cancel-link").wait_for()
        assert grave_faults(page) == [], "the question before a restart"
