"""What the model reads about a wrong program, as a reviewed file: tests/cases/messages.txt."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User

from mcp_server import ToolError, endpoint, tool
from mcp_server.definitions.registry import registry
from mcp_server.models import Limits
from mcp_server.testing import MCPClient

SNAPSHOT = Path(__file__).parent.parent / "cases" / "messages.txt"

PROGRAMS = {
    "typo in a tool's name": "const users = await codemode.listUser();\nreturn users.length;",
    "typo in an argument's name": 'return await codemode.create_todo({titel: "Milk", user_id: "1"});',
    "wrong type": 'return await codemode.create_todo({title: "Milk", user_id: 1});',
    "missing await": "const users = codemode.list_users();\nreturn users.map(user => user.name);",
    "slow tool": "return await codemode.yearly_report();",
    "thrown string": 'const users = await codemode.list_users();\nif (users.length < 9) throw "too few users";',
    "thrown object": "throw {code: 7, reason: 'no stock'};",
    "limit hit": 'for (let n = 0; n < 9; n++) {\n  await codemode.create_todo({title: `Task ${n}`, user_id: "1"});\n}',
    "syntax error": "const users = await codemode.list_users(;\nreturn users;",
    "TypeScript enum": "enum Color { Red }\nreturn Color.Red;",
    "import": "import fs from 'node:fs';\nreturn fs.readFileSync('/etc/passwd', 'utf8');",
    "endless loop": "let n = 0;\nwhile (true) n++;",
    "tool refused": "const users = await codemode.list_users();\nconsole.log(users.length, 'users');\n"
    "return await codemode.delete_user({user_id: users[0].id});",
    "forgotten return": "const users = await codemode.list_users();",
    "function never called": "async function main() { return 1 }\nasync function other() { return 2 }",
    "never settles": "await new Promise(() => {});",
    "value that is no data": "return {users: [{greet() {}}]};",
}


@pytest.fixture
def client(db: None) -> Iterator[MCPClient]:
    with registry.isolated(empty=True):
        endpoint("code", code_mode="on")
        Limits.objects.create(
            endpoint="code", max_tool_calls=3, cpu_time_limit_ms=300, wall_time_limit_ms=2000
        )

        @tool(annotations="read")
        def list_users() -> list[dict[str, str]]:
            return [{"id": "1", "name": "Ada"}]

        @tool(annotations="read")
        async def yearly_report() -> list[dict[str, int]]:
            await asyncio.Event().wait()
            return []

        @tool(annotations="create")
        def create_todo(title: str, user_id: str, done: bool = False) -> str:
            return title

        @tool(annotations="delete", enabled="auth.delete_user")
        def delete_user(user_id: str) -> str:
            raise ToolError("The last user cannot be deleted. Create another one first.", 409)

        user = User.objects.create_user("ada")
        user.user_permissions.add(Permission.objects.get(codename="delete_user"))
        yield MCPClient(user, "code")


@pytest.mark.proves("C12a", "C12b", "C12c", "C12d", "C06d", "S09")
def test_messages_about_wrong_programs_read_as_they_were_reviewed(client: MCPClient) -> None:
    parts = []
    for title, program in PROGRAMS.items():
        result = client.run(program)
        answer = "\n".join(item["text"] for item in result.content)
        parts.append(f"=== {title}\n{program}\n--- {'error' if result.is_error else 'result'}\n{answer}\n")
    found = "\n".join(parts)
    if os.environ.get("UPDATE_SNAPSHOTS"):
        SNAPSHOT.write_text(found, encoding="utf-8")
    assert found == SNAPSHOT.read_text(encoding="utf-8")
    assert "/site-packages" not in found
    assert "mcp_server" not in found
