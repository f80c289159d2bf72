"""`_meta` of what is no tool: resources, templates of them, and prompts (T17)."""

import json
from pathlib import Path
from typing import Any

import pytest

from mcp_server import prompt, resource
from tests.definitions.project import Project
from tests.door import client, serving

GUIDE = Path(__file__).parent / "project" / "things" / "files" / "guide.md"
LISTS = {
    "resources": "resources/list",
    "resourceTemplates": "resources/templates/list",
    "prompts": "prompts/list",
}

MODULE = """
from pathlib import Path
from mcp_server import prompt, resource

@resource("{app}://{part}")
def {part}_read() -> str: return "text"

@resource("{app}://{part}/{{number}}")
def {part}_one(number: int) -> str: return "text"

@prompt
def {part}_ask() -> str: return "text"

resource("file://{app}/{part}", file=Path(__file__), name="{part}-file")
"""

READ_LISTS = """
import json
import django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from mcp_server.testing import MCPClient
print(json.dumps({key: MCPClient().request(method)[key] for key, method in %r.items()}))
"""


def lists() -> dict[str, dict[str, Any]]:
    """What each list holds, by name."""
    asking = client()
    return {
        key: {item["name"]: item for item in asking.request(method)[key]} for key, method in LISTS.items()
    }


@pytest.mark.proves("T17b")
@pytest.mark.django_db
def test_meta_of_resources_and_prompts_is_exactly_what_their_author_said() -> None:
    full: dict[str, Any] = {"group": "g", "tags": ["b", "a"]}
    with serving():
        resource("note://full", name="full", **full, meta={"shop/owner": "crm"})(write)
        resource("note://tagged", name="tagged", group="", tags=["a"])(write)
        resource("note://bare", name="bare", group="")(write)
        resource("note://{number}", name="template", **full)(write_number)
        resource("note://file", file=GUIDE, **full)
        resource("note://folder/{+path}", root=GUIDE.parent, **full)
        prompt(name="full", **full, meta={"shop/owner": "crm"})(write)
        prompt(name="tagged", group="", tags=["a"])(write)
        prompt(name="bare", group="")(write)
        found = lists()
    assert {
        key: {name: item.get("_meta") for name, item in items.items()} for key, items in found.items()
    } == {
        "resources": {
            "full": {**full, "shop/owner": "crm"},
            "guide": full,
            "tagged": {"tags": ["a"]},
            "bare": None,
        },
        "resourceTemplates": {"template": full, "files": full},
        "prompts": {"full": {**full, "shop/owner": "crm"}, "tagged": {"tags": ["a"]}, "bare": None},
    }
    assert "_meta" not in found["resources"]["bare"]
    assert "_meta" not in found["prompts"]["bare"]


def write() -> str:
    return "text"


def write_number(number: int) -> str:
    return str(number)


@pytest.mark.proves("T17b", "T17c")
def test_the_group_of_resources_and_prompts_follows_from_the_module_and_no_file_is_named(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path, "shop", "crm")
    project.write("shop/mcp_tools.py", MODULE.format(app="shop", part="flat"))
    project.write("crm/mcp_tools/__init__.py", MODULE.format(app="crm", part="top"))
    project.write("crm/mcp_tools/admin/__init__.py", "")
    project.write("crm/mcp_tools/admin/users.py", MODULE.format(app="crm", part="nested"))
    project.write("crm/mcp_tools/content.py", MODULE.format(app="crm", part="single"))
    done = project.run("-c", READ_LISTS % LISTS)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    groups = {"flat": "shop", "top": "crm", "nested": "admin", "single": "content"}
    for key, kinds in {
        "resources": ["read", "file"],
        "resourceTemplates": ["one"],
        "prompts": ["ask"],
    }.items():
        assert {item["name"]: item["_meta"] for item in found[key]} == {
            f"{part}-{kind}": {"group": group} for part, group in groups.items() for kind in kinds
        }
    text = json.dumps(found)
    assert ".py" not in text
    assert str(tmp_path) not in text
