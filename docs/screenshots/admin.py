"""Take the pictures of the admin from a running demo that has seen some use, at desktop and phone width, light and dark.

    pip install playwright && python docs/screenshots/admin.py

Needs Chromium; the pictures are written beside this file, two of them for the documentation too.
"""

import os
import shutil
import sys
from itertools import product
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
PROGRAMS = ("parallel.js", "sequential.js", "reminders.js")
FAILING = """const users = await codemode.list_users({ limit: 8 });
console.log("users", users.length);
const lists = await Promise.all(users.map((user) => codemode.list_todos({ userId: user.id })));
console.warn("looking for the first open todo of each");
return lists.map((todos) => todos.find((todo) => !todo.done).owner.name);
"""
CALLS = (
    ("list-users", {"limit": 3}),
    ("get-user", {"id": "1"}),
    ("get-user", {"id": "9999"}),
    ("list-products", {}),
    ("list-orders", {"userId": "3"}),
)


def main() -> None:
    sys.path.insert(0, str(ROOT))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "demo_project.settings")
    import django

    django.setup()
    from tests.browser.site import DESKTOP, PHONE, open_site

    with open_site() as site:
        use(site)
        for (device, viewport), scheme in product(
            (("desktop", DESKTOP), ("phone", PHONE)), ("light", "dark")
        ):
            with site.visitor(viewport, scheme) as page:
                take(page, site.origin, f"{device}-{scheme}")
        for subject in ("overview", "run"):
            shutil.copy(FOLDER / f"{subject}-desktop-light.png", ROOT / f"docs/images/admin-{subject}.png")
        print("\n".join(site.complaints) or "Nothing to complain of.")


def use(site) -> None:
    """Do with the demo what clients do."""
    for number in range(6):
        for name in PROGRAMS:
            site.run_code((ROOT / "demo_project/programs" / name).read_text(encoding="utf-8"))
        for tool, arguments in CALLS[: 2 + number]:
            site.call("demo", tool, arguments)
    site.run_code(FAILING)
    with site.visitor() as page:
        page.goto(f"{site.origin}/admin/mcp_toolkit/limits/code/change/")
        page.fill("#id_cpu_time_limit_ms", "5000")
        page.fill("#id_rate_limits", "default 600/m\nsend-reminder 100/h")
        page.click("[name=_save]")


def take(page, origin: str, name: str) -> None:
    admin = f"{origin}/admin/mcp_toolkit"
    for subject, path in (
        ("overview", "/process/"),
        ("limits", "/limits/code/change/"),
        ("runs", "/coderun/"),
        ("try-it", "/toolcall/try/?endpoint=code&tool=code"),
    ):
        page.goto(f"{admin}{path}")
        page.screenshot(path=FOLDER / f"{subject}-{name}.png", full_page=subject != "runs")
    page.goto(f"{admin}/coderun/?outcome=error")
    page.locator("#result_list tbody th a").first.click()
    page.locator(".mcp-summary").wait_for()
    page.screenshot(path=FOLDER / f"run-{name}.png", full_page=True)


if __name__ == "__main__":
    main()
