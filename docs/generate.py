"""Write the reference pages from the code: settings, limits, checks, commands. A test says when they are out of date.

python docs/generate.py
"""

import argparse
import dataclasses
import os
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
NOTE = "<!-- Written by docs/generate.py. -->\n\n"
SETTINGS = {
    "endpoints": "Options of endpoints by name, the keys in capitals; they win over `endpoint()` in code.",
    "tool_names": '`"kebab"` or `"snake"`: how names are made from functions.',
    "autodiscover": "False, or a list of apps whose `mcp_tools` are imported.",
    "authentication": "Classes that find the user of a request, in this order.",
    "allowed_origins": "Origins beyond the site's own whose pages may call the endpoints.",
    "page_size": "Entries per page of a list; None sends one page.",
    "text_limit": "Bytes of text in one result.",
    "cache": "Alias of the cache that keeps the answers of tools with `cache=`.",
    "channel_layer": "Alias of the channel layer that connects processes.",
    "threads": "Threads that run sync tools called from programs, per process.",
    "thread_context": "Dotted path to a context manager that takes the request and prepares such a thread (a tenant, say).",
    "limits": "Defaults of [limits](limits.md).",
    "limit_ceilings": "Ceilings of limits; a project can lower ours and cannot raise them.",
    "limits_pinned": "Limits that the admin shows and cannot change.",
    "rate_limits": 'Calls per user and tool, such as `{"default": "120/m"}`.',
    "sandbox.command": "Put before the worker's command line: another user, systemd-run, bwrap.",
    "sandbox.python": "The interpreter of workers where `sys.executable` is not one.",
    "sandbox.require_confinement": "Refuse to run programs without Landlock and seccomp.",
    "sandbox.jitless": "Keep V8 from making machine code.",
    "sandbox.min_workers": "Workers kept ready before the first run.",
    "sandbox.idle_seconds": "A worker without work ends after so long.",
    "sandbox.recycle_runs": "A worker is replaced after so many runs.",
    "log.level": '`"all"`, `"errors"` or `"off"`: which calls are recorded.',
    "log.redact": "Names of arguments whose values are never stored.",
    "log.max_bytes": "Bytes kept of arguments, results and code.",
    "log.keep_days": "Days for which runs and calls are kept.",
    "log.keep_failed_days": "The same for failed ones.",
    "log.max_rows": "Rows kept at most.",
    "log.auto_prune": "Whether processes prune by themselves.",
}

CHECKS = {
    "E001": "A value of `MCP_SERVER` is wrong.",
    "E002": "A `mcp_tools` module cannot be imported; until it can, no endpoint is served.",
    "E003": "A definition is wrong, or two tools of one name meet at an endpoint.",
    "E004": "Another distribution installs a package `mcp_server` too.",
    "E005": "Another distribution installs a package `py_mini_racer` too.",
    "E006": "A signature or a given schema cannot be read.",
    "E007": "An entry of `input_examples` is not valid.",
    "E008": "`atomic=True` on an async function.",
    "E009": 'A name or schema that model APIs refuse, where `result_format="json"`.',
    "E010": "A tool, resource or prompt names an endpoint that is not there.",
    "E011": "`RATE_LIMITS` with a cache that keeps nothing.",
    "E012": "A rate that cannot be read.",
    "E013": "An endpoint names an authentication class or middleware that cannot be imported or called.",
    "E014": "A tool kept beside code mode is named `code` or `search`.",
    "W001": "`cache=` with a number above a week: probably milliseconds.",
    "W002": "A permission that no model declares: only superusers have it.",
    "W003": '`ALLOWED_HOSTS = ["*"]`: any web page could reach the endpoints by DNS rebinding.',
    "W004": "An endpoint runs code for anybody.",
    "W005": "A name or schema that model APIs refuse.",
    "W006": "An endpoint chooses tools and finds none.",
    "W007": "`RATE_LIMITS` with a cache that each process has for itself.",
    "W008": "A rate limit that names no tool.",
    "W009": "Two tools would have one name in programs; they get different ones.",
    "W010": "`{{types}}` in the description of a progressive endpoint, where it is empty.",
}

ROOT = DOCS.parent
EMBEDDED = re.compile(
    r"^(?P<indent> *)<!-- from (?P<path>[^\s:]+)(?::(?P<section>\w+))? -->\n(?P<fence> *```.*)\n(?:.*\n)*?(?P=indent)```$",
    re.MULTILINE,
)


def pages() -> dict[Path, str]:
    """Return what every page should be: written from the code, or by hand with its snippets filled in."""
    written = {
        DOCS / "settings.md": NOTE + settings_page(),
        DOCS / "checks.md": NOTE + checks_page(),
        DOCS / "commands.md": NOTE + commands_page(),
    }
    by_hand = {*ROOT.glob("README*.md"), *DOCS.rglob("*.md")} - written.keys()
    return written | {path: fill_in(path.read_text(encoding="utf-8")) for path in by_hand}


def fill_in(text: str) -> str:
    """Return a page with the code of its snippets as it stands in their files."""
    table_of_limits = f"<!-- limits -->\n\n{limits_table()}\n<!-- end -->"
    text = re.sub(r"<!-- limits -->.*?<!-- end -->", lambda _: table_of_limits, text, flags=re.DOTALL)
    return EMBEDDED.sub(embed, text)


def embed(match: re.Match[str]) -> str:
    indent, section = match["indent"], match["section"]
    code = (ROOT / match["path"]).read_text(encoding="utf-8")
    if section:
        code = code.split(f"# [start:{section}]\n")[1].split(f"# [end:{section}]")[0]
    lines = [indent + line if line else "" for line in code.strip("\n").split("\n")]
    return "\n".join([match[0].split("\n")[0], match["fence"], *lines, f"{indent}```"])


def settings_page() -> str:
    from mcp_server.conf import Options

    lines = [
        "# Settings\n",
        "All of them are keys of one dict, `MCP_SERVER`. `manage.py check` reports a wrong one.\n",
    ]
    lines += table(("setting", "default", "what it does"), setting_rows(Options(), ""))
    example = "\n\nAn example:\n\n<!-- from docs/examples/settings.py -->\n```python\n```\n"
    return fill_in("\n".join(lines) + example)


def setting_rows(options: Any, path: str) -> Iterator[tuple[str, ...]]:
    for item in dataclasses.fields(options):
        value, name = getattr(options, item.name), f"{path}{item.name}"
        if dataclasses.is_dataclass(value):
            yield from setting_rows(value, f"{name}.")
        else:
            first, *rest = name.upper().split(".")
            keys = "".join(f'["{part}"]' for part in rest)
            yield f"`{first}{keys}`", f"`{plain(value)!r}`", SETTINGS[name]


def plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def limits_table() -> str:
    from mcp_server.conf import LIMIT_FIELDS

    rows = [
        (f"`{name}`", f"{field.default:,}", f"{field.ceiling:,}", field.unit)
        for name, field in LIMIT_FIELDS.items()
    ]
    return "\n".join(table(("limit", "default", "ceiling", "unit"), rows)) + "\n"


def checks_page() -> str:
    missing = sorted(check_numbers() ^ CHECKS.keys())
    if missing:
        raise SystemExit(f"CHECKS in docs/generate.py and the code's checks differ: {', '.join(missing)}")
    rows = [
        (f"`mcp_toolkit.{number}`", "error" if number[0] == "E" else "warning", CHECKS[number])
        for number in sorted(CHECKS)
    ]
    text = "# Checks\n\n`manage.py check` reports these, each with module and line where a definition is meant.\n\n"
    return text + "\n".join(table(("id", "level", "what it says"), rows)) + "\n"


def check_numbers() -> set[str]:
    """Return the numbers of all checks, as the code names them."""
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "mcp_server").rglob("*.py"))
    return {number for source in sources for number in re.findall(r'(?:"|\{TAG\}\.)([EW]\d{3})"', source)}


def commands_page() -> str:
    from django.core.management import BaseCommand, load_command_class

    shared = {action.dest for action in BaseCommand().create_parser("manage.py", "")._actions}
    text = "# Commands\n"
    for path in sorted((ROOT / "mcp_server/management/commands").glob("mcp_*.py")):
        parser = load_command_class("mcp_server", path.stem).create_parser("manage.py", path.stem)
        rows = option_rows(parser, shared)
        examples = textwrap.dedent((parser.epilog or "").partition("\n")[2]).strip()
        text += f"\n## {path.stem}\n\n{parser.description}\n\n```console\n{examples}\n```\n\n"
        text += "\n".join(table(("option", "what it does"), rows)) + "\n"
    return text


def option_rows(
    parser: argparse.ArgumentParser, left_out: set[str], prefix: str = ""
) -> Iterator[tuple[str, ...]]:
    """Return what a command takes; of one with actions, each action and what it takes."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for choice in action._choices_actions:
                yield f"`{choice.dest}`", choice.help or ""
                yield from option_rows(action.choices[choice.dest], left_out, f"`{choice.dest}` ")
        elif action.dest not in left_out:
            yield prefix + " ".join(f"`{word}`" for word in words_of(action)), action.help or ""


def words_of(action: argparse.Action) -> list[str]:
    return list(action.option_strings) or [str(action.metavar or action.dest)]


def table(head: tuple[str, ...], rows: Any) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]


def main() -> None:
    sys.path.insert(0, str(DOCS.parent))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "demo_project.settings")
    import django

    django.setup()
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
