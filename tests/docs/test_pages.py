"""The pages say what the code does: generated parts are current, snippets are files, and no link is broken."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"^ *```(python|javascript|nginx|dockerfile)\b.*$", re.MULTILINE)
# Two lines that are their own proof: what they name is imported by tests/docs/test_examples.py and settings below.
UNQUOTED = ('pytest_plugins = ["mcp_server.testing.fixtures"]',)


def load_generator():
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs/generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pages() -> list[Path]:
    return [*ROOT.glob("README*.md"), *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.proves("D05c")
def test_generated_pages_and_snippets_are_current():
    outdated = [
        str(path.relative_to(ROOT))
        for path, text in load_generator().pages().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    assert outdated == [], "Run `python docs/generate.py`"


@pytest.mark.proves("D05b")
def test_every_snippet_is_a_file():
    loose = []
    for path in pages():
        lines = path.read_text(encoding="utf-8").split("\n")
        for number, line in enumerate(lines):
            if (
                CODE.match(line)
                and "<!-- from " not in lines[number - 1]
                and lines[number + 1].strip() not in UNQUOTED
            ):
                loose.append(f"{path.relative_to(ROOT)}:{number + 1}")
    assert loose == []


def test_relative_links_lead_somewhere():
    broken = []
    for path in [*pages(), ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", ROOT / "docs/llms.txt"]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
            if not (path.parent / target).exists():
                broken.append(f"{path.relative_to(ROOT)}: {target}")
    assert broken == []


@pytest.mark.proves("D01a")
def test_the_readme_opens_with_one_sentence_one_picture_two_commands_and_three_steps():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 150
    first = text.split("## What")[0]
    assert re.findall(r"!\[[^\]]+\]\((docs/images/\S+)\)", first) == ["docs/images/overview.png"]
    assert re.findall(r"```console\n(.*?)\n```", first) == [
        "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt && .venv/bin/python manage.py demo",
        ".venv/bin/python -m pytest",
    ]
    assert re.findall(r"^(\d)\. ", first, re.MULTILINE) == ["1", "2", "3"]


@pytest.mark.proves("D06")
def test_llms_txt_and_the_skill_name_every_public_name_and_page():
    import mcp_server

    text = (ROOT / "docs/llms.txt").read_text(encoding="utf-8")
    assert [name for name in mcp_server.__all__ if name not in text] == []
    missing = [path.name for path in (ROOT / "docs").glob("*.md") if path.name not in text]
    assert missing == []
    skill = (ROOT / "docs/skills/write-mcp-tools/SKILL.md").read_text(encoding="utf-8")
    assert skill.startswith("---\nname: write-mcp-tools\ndescription: ")


def test_both_languages_of_the_readme_have_the_same_code_numbers_and_links():
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "README.zh-CN.md")]
    for pattern in (
        r"```[\s\S]*?```",
        r"\]\((?!README)([^)]+)\)",
        r"`[^`\n]+`",
        r"\d[\d,.]*",
        r"^#+ ",
        r"^- |^\d\. ",
    ):
        english, chinese = (sorted(re.findall(pattern, text, re.MULTILINE)) for text in texts)
        assert english == chinese
