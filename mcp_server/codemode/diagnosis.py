"""What V8 says about a failed program, as an error that tells the model where and what to do (contract C12)."""

import re
from typing import Any, Final

from mcp_server.codemode.outcome import ErrorKind, RunError
from mcp_server.codemode.safety import UnsafeJson, read_json, safe_text

_FRAME: Final = re.compile(
    r"^\s*at (?:(?P<name>[^(\n]*) \()?program:(?P<line>\d{1,9}):(?P<column>\d{1,9})\)?\s*$", re.MULTILINE
)
_PARSE: Final = re.compile(
    r"^(?:code\.js|<anonymous>):(?P<line>\d{1,9}): (?P<name>\w+)?(?:: )?(?P<message>[^\n]*)\n(?P<source>[^\n]*)\n(?P<caret>\s*\^)?"
)
_LINES_BEFORE: Final = 1
_KINDS: Final[dict[str, ErrorKind]] = {
    "TypeError": "type",
    "ReferenceError": "reference",
    "RangeError": "range",
    "EvalError": "eval",
    "SyntaxError": "syntax",
    "ToolError": "tool",
    "Thrown": "thrown",
}
_TOOLS_ONLY: Final = "The program can only reach the tools: await codemode.<name>({...})."
_ADVICE: Final = {
    "fetch": f"There is no network. {_TOOLS_ONLY}",
    "XMLHttpRequest": f"There is no network. {_TOOLS_ONLY}",
    "WebSocket": f"There is no network. {_TOOLS_ONLY}",
    "require": f"There are no modules. {_TOOLS_ONLY}",
    "module": "There are no modules: return the value.",
    "exports": "There are no modules: return the value.",
    "process": f"This is not Node.js: there is no environment and no process. {_TOOLS_ONLY}",
    "Buffer": "This is not Node.js: use Uint8Array, TextEncoder, atob and btoa.",
    "fs": f"There are no files. {_TOOLS_ONLY}",
    "Deno": f"This is not Deno. {_TOOLS_ONLY}",
    "Bun": f"This is not Bun. {_TOOLS_ONLY}",
    "window": "This is not a browser: globalThis has the standard objects.",
    "document": "This is not a browser: there is no page.",
    "localStorage": "This is not a browser: nothing is kept between runs.",
    "eval": "Text cannot be run as code: write the code itself.",
    "WebAssembly": "WebAssembly is not available: write it in JavaScript.",
    "SharedArrayBuffer": "There is one thread: use ArrayBuffer.",
    "Atomics": "There is one thread: use ordinary variables, and await for waiting.",
    "Worker": "There is one thread: use Promise.all to overlap tool calls.",
}
_MISSING: Final = re.compile(r"^(\w+) is not defined$")
_NO_CODE_FROM_TEXT: Final = "Code generation from strings disallowed for this context"
_NO_MODULES: Final = "Not supported"


def explain_thrown(found: dict[str, Any]) -> RunError:
    """Return the error for what the program threw, as the runtime described it."""
    name, message = _text(found.get("name"), "Error"), _text(found.get("message"), "")
    frames = list(_FRAME.finditer(_text(found.get("stack"), "")))[:10]
    status = found.get("status")
    return RunError(
        kind=_KINDS.get(name, "error"),
        name=name,
        message=advise(name, message),
        line=int(frames[0]["line"]) if frames else None,
        column=int(frames[0]["column"]) if frames else None,
        stack=tuple(_frame(match) for match in frames),
        status=int(status) if isinstance(status, int | float) and 0 <= status < 1000 else None,
        data=_data(found.get("data")),
        tool=_text(found.get("tool"), "") or None,
    )


def explain_uncompiled(text: bytes, lines: int) -> RunError:
    """Return the error for what V8 said about a program that did not compile; `lines` is the program's length."""
    shown = safe_text(text.decode(errors="replace"))
    found = _PARSE.match(shown)
    if found is None:
        return RunError(kind="syntax", name="SyntaxError", message="The program does not compile.")
    name, message = found["name"] or "Error", found["message"]
    line = _line(found["line"])
    if line > lines:
        # V8 stumbled over our own closing bracket: something of the program's is not closed.
        return RunError(
            kind="syntax",
            name="SyntaxError",
            message=f"{message} (a bracket, quote or comment is not closed)",
            line=lines,
        )
    column = len(found["caret"]) if found["caret"] else None
    return RunError(
        kind=_KINDS.get(name, "error"), name=name, message=advise(name, message), line=line, column=column
    )


def advise(name: str, message: str) -> str:
    """Return `message` with what is available instead, where the program asked for what there is not."""
    missing = _MISSING.match(message) if name == "ReferenceError" else None
    if missing and missing[1] in _ADVICE:
        return f"{message}. {_ADVICE[missing[1]]}"
    if name == "EvalError" and message == _NO_CODE_FROM_TEXT:
        return f"{message}. {_ADVICE['eval']}"
    if message == _NO_MODULES:
        return f"Modules are not available. {_TOOLS_ONLY}"
    return message


def _frame(match: re.Match[str]) -> str:
    place = f"line {match['line']}, column {match['column']}"
    return f"at {match['name']} ({place})" if match["name"] else f"at {place}"


def _line(text: str) -> int:
    return max(1, int(text) - _LINES_BEFORE)


def _data(text: Any) -> Any:
    try:
        return read_json(text.encode(errors="replace")) if isinstance(text, str) else None
    except UnsafeJson:
        return None


def _text(value: Any, default: str) -> str:
    return safe_text(value) if isinstance(value, str) else default
