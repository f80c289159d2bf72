"""Resources, prompts and completions through the official client, in both eras (P03)."""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    BlobResourceContents,
    EmbeddedResource,
    ImageContent,
    PromptReference,
    ResourceTemplateReference,
    TextContent,
    TextResourceContents,
)

from tests.protocol.conftest import Served
from tests.protocol.test_clients import ERAS, connect
from tests.protocol.test_questions import accept, answers

FILES = Path(__file__).parent / "project" / "things" / "files"


async def read(client: Client, uri: str) -> tuple[str | None, str]:
    """The type and the text of a resource with one content."""
    (content,) = (await client.read_resource(uri)).contents
    assert content.uri == uri
    if isinstance(content, BlobResourceContents):
        return content.mime_type, base64.b64decode(content.blob).decode("latin-1")
    assert isinstance(content, TextResourceContents)
    return content.mime_type, content.text


@ERAS
@pytest.mark.proves("P03a", "P03c")
async def test_resources_are_listed_and_read(served: Served, mode: str, version: str) -> None:
    async with connect(served, mode, served.site.plain) as client:
        listed = {item.uri: item for item in (await client.list_resources()).resources}
        assert list(listed) == ["file://guide", "note://data", "note://picture", "note://welcome"]
        assert listed["note://welcome"].description == "Read the welcome."
        templates = (await client.list_resource_templates()).resource_templates
        assert [item.uri_template for item in templates] == ["files://{+path}", "user://{name}/{field}"]
        assert await read(client, "note://welcome") == ("text/plain", "Wëlcome")
        assert await read(client, "note://data") == ("application/json", '{"numbers":[1,2]}')
        assert await read(client, "note://picture") == ("image/png", "\x89PNG")
        assert await read(client, "file://guide") == ("text/markdown", "# Guide\n")
        kind, text = await read(client, "user://staff/username")
        assert (kind, text) == ("application/json", '{"username":"staff","reader":"plain"}')


@ERAS
@pytest.mark.proves("P03c", "G02a")
@pytest.mark.parametrize(
    "uri",
    [
        "secret://plan",
        "never://was",
        "user://nobody/username",
        "user://staff/",
        "files://.hidden",
        "files://deep",
        "files://nothing.txt",
        "x" * 5000,
    ],
)
async def test_what_is_hidden_and_what_is_missing_are_not_found(
    start: Callable[..., Served], mode: str, version: str, uri: str
) -> None:
    async with connect(start("uvicorn"), mode) as client:
        with pytest.raises(MCPError) as caught:
            await client.read_resource(uri)
    assert caught.value.error.code == (-32602 if mode == "auto" else -32002)
    assert caught.value.error.message == "Resource not found"
    assert caught.value.error.data == {"uri": uri}


@ERAS
@pytest.mark.proves("P03c")
async def test_a_variable_of_the_wrong_type_is_refused_with_the_reason(
    start: Callable[..., Served], mode: str, version: str
) -> None:
    async with connect(start("uvicorn"), mode) as client:
        with pytest.raises(MCPError) as caught:
            await client.read_resource("user://staff/password")
    assert caught.value.error.code == -32602
    assert "field" in caught.value.error.message


ESCAPES = [
    "../mcp_tools.py",
    "%2e%2e/mcp_tools.py",
    "..%2fmcp_tools.py",
    "deep/../../mcp_tools.py",
    "/etc/passwd",
    "//etc/passwd",
    "%2fetc/passwd",
    "deep/..\\..\\mcp_tools.py",
    "guide.md%00.txt",
    "outside/mcp_tools.py",
    "outside.py",
    "./guide.md",
    "deep//table.csv",
]


@pytest.fixture
def links() -> Any:
    """Links that point out of the folder."""
    made = {FILES / "outside": FILES.parent, FILES / "outside.py": FILES.parent / "mcp_tools.py"}
    for link, target in made.items():
        link.symlink_to(target)
    yield
    for link in made:
        link.unlink()


@pytest.mark.proves("P03a")
async def test_files_below_a_root_are_read_and_nothing_else_is(
    start: Callable[..., Served], links: None
) -> None:
    async with connect(start("uvicorn"), "auto") as client:
        assert await read(client, "files://guide.md") == ("text/markdown", "# Guide\n")
        assert await read(client, "files://deep/table.csv") == ("text/csv", "a,b\n")
        for path in ESCAPES:
            with pytest.raises(MCPError, match="Resource not found"):
                await client.read_resource(f"files://{path}")
        found = await client.complete(
            ResourceTemplateReference(uri="files://{+path}"), {"name": "path", "value": ""}
        )
        assert found.completion.values == ["guide.md", "deep/table.csv"]


@ERAS
@pytest.mark.proves("P03b", "P03c")
async def test_prompts_are_listed_and_given(served: Served, mode: str, version: str) -> None:
    async with connect(served, mode, served.site.plain) as client:
        listed = {item.name: item for item in (await client.list_prompts()).prompts}
        assert list(listed) == ["survey", "translate"]
        arguments = [
            (item.name, item.required, item.description) for item in listed["translate"].arguments or []
        ]
        assert arguments == [
            ("text", True, "what to translate."),
            ("language", True, "into which."),
            ("tone", False, None),
        ]
        given = await client.get_prompt("translate", {"text": "Hello", "language": "Dutch"})
        assert given.description == "Translate a text."
        assert [item.role for item in given.messages] == ["assistant", "user", "user", "user"]
        first, second, third, fourth = (item.content for item in given.messages)
        assert isinstance(first, TextContent)
        assert first.text == "I translate into Dutch, plain."
        assert isinstance(second, TextContent)
        assert second.text == "Hello"
        assert isinstance(third, EmbeddedResource)
        assert isinstance(fourth, ImageContent)
        for name, arguments_ in (("plan-attack", {}), ("never-was", {}), ("translate", {"text": "x"})):
            with pytest.raises(MCPError) as caught:
                await client.get_prompt(name, arguments_)
            assert caught.value.error.code == -32602


@ERAS
@pytest.mark.proves("P03b", "P05b")
async def test_a_prompt_may_ask_too(served: Served, mode: str, version: str) -> None:
    person, _ = answers(accept(color="red", count=2))
    async with connect(served, mode, elicitation_callback=person) as client:
        (message,) = (await client.get_prompt("survey", {"count": "7"})).messages
        assert isinstance(message.content, TextContent)
        assert message.content.text == "red 7"


@ERAS
@pytest.mark.proves("P03a", "P03b", "P03c")
async def test_parameters_are_completed_from_lists_querysets_types_and_functions(
    served: Served, mode: str, version: str
) -> None:
    user = ResourceTemplateReference(uri="user://{name}/{field}")
    prompt = PromptReference(name="translate")
    async with connect(served, mode, served.site.plain) as client:

        async def complete(reference: Any, name: str, typed: str, **others: str) -> list[str]:
            found = await client.complete(reference, {"name": name, "value": typed}, others or None)
            return found.completion.values

        assert await complete(user, "name", "ST") == ["staff"]
        assert await complete(user, "field", "") == ["username", "email"]
        assert await complete(prompt, "language", "d") == ["Dutch", "Danish"]
        assert await complete(prompt, "tone", "so", language="Dutch") == ["Dutch-so"]
        assert await complete(prompt, "text", "x") == []
        for missing in (PromptReference(name="plan-attack"), PromptReference(name="never-was")):
            with pytest.raises(MCPError, match="nothing of this name"):
                await complete(missing, "x", "")
