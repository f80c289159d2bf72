"""Take the README's picture: a tool module, a program, and that program's page in the admin of a running demo.

    pip install playwright pygments && python docs/screenshots/overview.py

Needs Chromium; CHROMIUM names it where it is not `chromium` on the path.
"""

import asyncio
import html
import os
import shutil
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs/images"
PROGRAM = ROOT / "demo_project/programs/reminders.js"
WIDTH = 1400
STYLE = """
body { margin: 0; padding: 28px; background: #f3f4f6; font: 15px system-ui, sans-serif; width: 1344px; }
.columns { display: grid; grid-template-columns: 1fr 1fr; gap: 24px; }
.pane { background: #fff; border-radius: 10px; box-shadow: 0 1px 4px #0002; overflow: hidden; }
.pane h2 { margin: 0; padding: 10px 16px; font-size: 14px; font-weight: 600; color: #374151; background: #e5e7eb; }
.pane pre { margin: 0; padding: 14px 16px; font: 14px/1.5 ui-monospace, 'DejaVu Sans Mono', monospace; }
.highlight { background: #fff; }
.admin { margin-top: 24px; }
.admin img { display: block; width: 100%; }
"""
TOOLS = '''from mcp_server import has_perm, tool

@tool(annotations="read")
def list_todos(user_id: UserId) -> list[TodoRow]:
    """List what a user has to do."""
    return [todo_row(todo) for todo in Todo.objects.filter(user=user_id)]

@tool(annotations="create")
def send_reminder(user_id: UserId) -> ReminderRow:
    """Remind a user of all overdue todos."""
    ...

@tool(annotations="delete", enabled=has_perm("auth.delete_user"))
def delete_user(id: UserId) -> str:
    """Delete a user with all of their todos and orders."""
    ...
'''


def main() -> None:
    sys.path.insert(0, str(ROOT))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "demo_project.settings")
    import django

    django.setup()
    from demo_project.checking import running_demo

    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    with running_demo() as servers:
        asyncio.run(run_program(servers["demo-code"]))
        with sync_playwright() as playwright:
            take_pictures(playwright.chromium.launch(executable_path=chromium), servers["demo"]["url"])


def take_pictures(browser: Browser, url: str) -> None:
    take_admin_page(browser, url.removesuffix("/mcp"), IMAGES / "run.png")
    compose(browser, IMAGES / "run.png", IMAGES / "overview.png")
    browser.close()


async def run_program(server) -> None:
    import httpx2
    from mcp.client import Client
    from mcp.client.streamable_http import streamable_http_client

    async with (
        httpx2.AsyncClient(headers=server["headers"], timeout=60) as http,
        Client(streamable_http_client(server["url"], http_client=http)) as client,
    ):
        result = await client.call_tool("code", {"code": PROGRAM.read_text().strip()})
        assert not result.is_error, result


def take_admin_page(browser: Browser, address: str, target: Path) -> None:
    from demo_project.accounts import STAFF

    page = browser.new_page(viewport={"width": WIDTH, "height": 900}, color_scheme="light")
    page.goto(f"{address}/admin/login/?next=/admin/mcp_toolkit/coderun/")
    page.fill("#id_username", STAFF.username)
    page.fill("#id_password", STAFF.password)
    page.click("input[type=submit]")
    page.click("#result_list tbody tr:first-child a")
    page.wait_for_load_state("networkidle")
    page.screenshot(path=target)


def compose(browser: Browser, admin: Path, target: Path) -> None:
    formatter = HtmlFormatter(style="default", nowrap=False)
    panes = [
        ("mcp_tools.py, shortened", "python", TOOLS),
        ("The program that a model wrote", "javascript", PROGRAM.read_text()),
    ]
    code = "".join(
        f"<div class=pane><h2>{html.escape(title)}</h2>{highlight(text, get_lexer_by_name(language), formatter)}</div>"
        for title, language, text in panes
    )
    below = f"<div class='pane admin'><h2>That run in the Django admin</h2><img src='{admin.as_uri()}'></div>"
    source = target.with_suffix(".html")
    source.write_text(
        f"<meta charset=utf-8><style>{STYLE}{formatter.get_style_defs()}</style>"
        f"<div class=columns>{code}</div>{below}"
    )
    page = browser.new_page(viewport={"width": WIDTH, "height": 600})
    page.goto(source.as_uri())
    page.screenshot(path=target, full_page=True)
    source.unlink()


if __name__ == "__main__":
    main()
