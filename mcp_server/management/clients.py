"""What MCP clients want to read, each in its own form."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Servers = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ClientFormat:
    """How one client is configured: where the text goes, and what it is."""

    title: str
    place: str
    write: Callable[[Servers, str], str]


def server_entries(servers: Servers, token: str) -> dict[str, Any]:
    """Return the entries of `mcpServers`, which most clients read.

    Args:
        servers: URL by name.
        token: the plain text of a token.
    """
    return {name: {"type": "http", "url": url, "headers": _headers(token)} for name, url in servers.items()}


def _headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _json(value: Any) -> str:
    return json.dumps(value, indent=2)


def _most(servers: Servers, token: str) -> str:
    return _json({"mcpServers": server_entries(servers, token)})


def _claude_code(servers: Servers, token: str) -> str:
    header = f'--header "Authorization: Bearer {token}"'
    return "\n".join(
        f"claude mcp add --transport http {name} {url} {header}" for name, url in servers.items()
    )


def _claude_desktop(servers: Servers, token: str) -> str:
    # It starts local programs only; mcp-remote is one. Its header option takes no blanks, so the value comes by name.
    entries = {
        name: {
            "command": "npx",
            "args": [
                "-y",
                "mcp-remote",
                url,
                "--transport",
                "http-only",
                "--header",
                "Authorization:${MCP_AUTHORIZATION}",
            ],
            "env": {"MCP_AUTHORIZATION": f"Bearer {token}"},
        }
        for name, url in servers.items()
    }
    return _json({"mcpServers": entries})


def _vscode(servers: Servers, token: str) -> str:
    return _json({"servers": server_entries(servers, token)})


def _windsurf(servers: Servers, token: str) -> str:
    return _json(
        {
            "mcpServers": {
                name: {"serverUrl": url, "headers": _headers(token)} for name, url in servers.items()
            }
        }
    )


def _gemini(servers: Servers, token: str) -> str:
    return _json(
        {"mcpServers": {name: {"httpUrl": url, "headers": _headers(token)} for name, url in servers.items()}}
    )


def _codex(servers: Servers, token: str) -> str:
    tables = [
        f'[mcp_servers.{name}]\nurl = "{url}"\nhttp_headers = {{ Authorization = "Bearer {token}" }}'
        for name, url in servers.items()
    ]
    return "\n\n".join(tables)


CLIENTS: Mapping[str, ClientFormat] = {
    "claude-code": ClientFormat("Claude Code", "run in a shell", _claude_code),
    "claude-desktop": ClientFormat("Claude Desktop", "claude_desktop_config.json", _claude_desktop),
    "cursor": ClientFormat("Cursor", ".cursor/mcp.json", _most),
    "vscode": ClientFormat("VS Code", ".vscode/mcp.json", _vscode),
    "windsurf": ClientFormat("Windsurf", "~/.codeium/windsurf/mcp_config.json", _windsurf),
    "gemini": ClientFormat("Gemini CLI", "~/.gemini/settings.json", _gemini),
    "codex": ClientFormat("Codex", "~/.codex/config.toml", _codex),
    "other": ClientFormat("Most others", "mcp.json", _most),
}
