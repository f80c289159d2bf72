"""From files of a project to served tools (T01, T03, T17, T20)."""

from pathlib import Path

import pytest

from tests.definitions.project import Project

TOOL = """
from mcp_server import tool

@tool
def {name}() -> None:
    "{description}"
"""


def tool_file(name: str, description: str = "") -> str:
    return TOOL.format(name=name, description=description)


@pytest.mark.proves("T01a", "T01b", "T02a", "T17a", "T17c")
def test_tools_of_modules_and_packages_are_served_with_their_groups(tmp_path: Path):
    project = Project(tmp_path, "shop", "crm")
    project.write("shop/mcp_tools.py", tool_file("list_documentation"))
    project.write("crm/mcp_tools/__init__.py", tool_file("at_the_top"))
    project.write("crm/mcp_tools/admin/__init__.py", tool_file("stats"))
    project.write("crm/mcp_tools/admin/users.py", tool_file("delete_user"))
    project.write("crm/mcp_tools/content.py", tool_file("listPages"))
    project.write(
        "crm/mcp_tools/own.py", tool_file("own").replace("@tool", '@tool(group="mine", tags=["a"])')
    )
    tools, _ = project.listed()
    assert {name: (item["title"], item["_meta"]) for name, item in tools.items()} == {
        "at-the-top": ("At The Top", {"group": "crm"}),
        "delete-user": ("Delete User", {"group": "admin"}),
        "list-documentation": ("List Documentation", {"group": "shop"}),
        "list-pages": ("List Pages", {"group": "content"}),
        "own": ("Own", {"group": "mine", "tags": ["a"]}),
        "stats": ("Stats", {"group": "admin"}),
    }
    assert "System check identified no issues" in project.check()


@pytest.mark.proves("T01c")
@pytest.mark.parametrize(
    ("chosen", "names"), [(False, []), (["shop"], ["one"]), ([], []), (True, ["one", "two"])]
)
def test_discovery_can_be_narrowed(tmp_path: Path, chosen: object, names: list[str]):
    project = Project(tmp_path, "shop", "crm", AUTODISCOVER=chosen)
    project.write("shop/mcp_tools.py", tool_file("one"))
    project.write("crm/mcp_tools.py", tool_file("two"))
    assert project.names() == names


@pytest.mark.proves("T03b")
def test_a_later_app_may_replace_a_tool_on_purpose(tmp_path: Path):
    project = Project(tmp_path, "shop", "crm")
    project.write("shop/mcp_tools.py", tool_file("one", "theirs"))
    project.write("crm/mcp_tools.py", tool_file("one", "ours").replace("@tool", "@tool(override=True)"))
    tools, _ = project.listed()
    assert [item["description"] for item in tools.values()] == ["ours"]
    assert "no issues" in project.check()


@pytest.mark.proves("T20a", "T20b")
def test_modules_that_cannot_be_imported_are_all_reported_and_close_the_endpoints(tmp_path: Path):
    project = Project(tmp_path, "shop", "crm", "fine")
    project.write("shop/mcp_tools.py", "def broken(:\n")
    project.write("crm/mcp_tools/__init__.py", "")
    project.write("crm/mcp_tools/admin.py", "import os\n\nimport nothing_there\n")
    project.write("fine/mcp_tools.py", tool_file("one"))
    said = project.check()
    for text in (
        f"{tmp_path}/shop/mcp_tools.py:1: shop.mcp_tools cannot be imported. SyntaxError: invalid syntax",
        f"{tmp_path}/crm/mcp_tools/admin.py:3: crm.mcp_tools.admin cannot be imported. ModuleNotFoundError: No module named 'nothing_there'",
    ):
        assert text in said
    assert said.count("(mcp_toolkit.E002)") == 2
    assert said.count("HINT: Mend the module; until then no endpoint is served.") == 2
    answer, log = project.listed()
    assert answer[0] == 503
    assert "nothing_there" not in answer[1]
    assert "crm.mcp_tools.admin cannot be imported" in log
