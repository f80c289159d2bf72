"""What models send runs and gives its value, or is explained, with every position true; V8 is the judge."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mcp_server.codemode.source import Program, SourceError, excerpt, prepare, summarize
from tests.codemode.sandbox import run

FORMS = json.loads((Path(__file__).parent.parent / "cases" / "forms.json").read_text(encoding="utf-8"))
V8 = Path(__file__).parent / "run_in_v8.py"
LINE_END = re.compile("\r\n|[\n\r\u2028\u2029]")


def tool(name, required=(), optional=()):
    properties = {key: {} for key in (*required, *optional)}
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
    return summarize(name, schema)


TOOLS = {
    "get_user": tool("get-user", ["id"], ["verbose"]),
    "list_users": tool("list-users", [], ["limit"]),
    "add": tool("add", ["a", "b"]),
    "ping": tool("ping"),
}


def refusal(text):
    with pytest.raises(SourceError) as caught:
        prepare(text, TOOLS)
    return caught.value


def units(text):
    """The text as UTF-16 code units, each one character."""
    data = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(int.from_bytes(data[place : place + 2], "little")) for place in range(0, len(data), 2))


def place_of(text, index):
    lines = LINE_END.split(units(text)[:index])
    return len(lines), len(lines[-1]) + 1


def in_v8(programs):
    """The outcomes of program bodies, run in V8 in a process of its own."""
    given = json.dumps([program.code for program in programs])
    done = subprocess.run(
        [sys.executable, V8], input=given, capture_output=True, text=True, check=True, timeout=120
    )
    return json.loads(done.stdout)


@pytest.mark.proves("C06a", "C06b", "C06c")
def test_every_form_that_models_send_gives_its_value():
    programs = [prepare(case["text"], TOOLS) for case in FORMS["values"]]
    outcomes = in_v8(programs)
    wrong = [
        (case["name"], program.code, outcome)
        for case, program, outcome in zip(FORMS["values"], programs, outcomes, strict=True)
        if outcome != {"value": "undefined" if case["value"] is None else case["value"]}
    ]
    assert wrong == []


@pytest.mark.proves("C06d", "C12a", "C12b")
@pytest.mark.parametrize("case", FORMS["errors"], ids=lambda case: case["name"])
def test_a_program_that_cannot_run_is_explained_at_its_place(case):
    error = refusal(case["text"])
    assert error.kind == case["kind"]
    assert case["says"] in error.message
    assert error.suggestion == case["suggestion"]
    assert (error.line, error.column) == place_of(case["text"], case["text"].index(case["at"]))


@pytest.mark.proves("C12a")
async def test_the_sandbox_reports_an_undeclared_name_where_it_stands():
    wrong = []
    for text in FORMS["places"]:
        program = prepare(text, TOOLS)
        error = (await run(program.code)).error
        found = program.locate(error.line, error.column, "boom")
        if found != place_of(text, units(text).index("boom")):
            wrong.append((text, program.code, found))
    assert wrong == []


@pytest.mark.proves("C06b", "C12a")
def test_v8_reports_the_line_and_column_of_the_text_that_was_sent():
    programs = [prepare(text, TOOLS) for text in FORMS["places"]]
    wrong = []
    for text, program, outcome in zip(FORMS["places"], programs, in_v8(programs), strict=True):
        frame = re.search(r"<anonymous>:(\d+):(\d+)\)?$", outcome.get("stack", ""), re.MULTILINE)
        assert frame is not None, (text, program.code, outcome)
        # V8 puts two lines before a function's body.
        found = program.locate(int(frame[1]) - 2, int(frame[2]))
        if found != place_of(text, units(text).index("boom")):
            wrong.append((text, program.code, found))
    assert wrong == []


@pytest.mark.proves("C12a")
def test_only_blanks_and_insertions_distinguish_the_code_from_the_text():
    for case in FORMS["values"]:
        program = prepare(case["text"], TOOLS)
        sent, code = LINE_END.split(units(case["text"])), LINE_END.split(units(program.code))
        assert len(sent) == len(code), case["name"]
        for number, (before, after) in enumerate(zip(sent, code, strict=True), start=1):
            added = sum(shift.length for shift in program.shifts if shift.line == number)
            assert len(after) == len(before) + added, case["name"]


@pytest.mark.proves("C12b")
def test_an_answer_names_all_certain_mistakes_at_once():
    error = refusal(
        "const a = await codemode.getUser({ id: 1 });\nconst b = await codemode.add({ a: 1, c: 2 });"
    )
    assert (error.line, error.column) == (1, 26)
    assert [(other.line, other.column, other.suggestion) for other in error.others] == [(2, 38, "b")]
    assert "line 2, column 38" in error.message


@pytest.mark.proves("C12d")
def test_an_unknown_tool_never_lists_all_names():
    many = {f"tool_number_{number}": tool(f"tool-number-{number}") for number in range(500)}
    with pytest.raises(SourceError) as caught:
        prepare("await codemode.something_else()", many)
    assert len(caught.value.message) < 300


@pytest.mark.proves("C12b")
@pytest.mark.parametrize(
    "text",
    [
        "await codemode.nope().catch(() => 1)",
        "await Promise.allSettled([codemode.nope()])",
        "await codemode.nope().then((x) => x, () => null)",
        "const safe = async (f) => { try { return await f() } catch { return null } };\nawait safe(() => codemode.nope())",
        "if (Object.keys(codemode).includes('nope')) await codemode.nope()",
        "const { nope } = codemode;\nif (nope) await codemode.nope()",
        "codemode?.nope()",
        "const f = codemode.nope; return f && codemode.nope()",
        "codemode.toString()",
        "await codemode.$search('x')",
        "await codemode[name]()",
        "await codemode.get_user(argument)",
        "await codemode.get_user(...all)",
    ],
)
def test_what_is_not_certain_is_left_to_the_run(text):
    assert isinstance(prepare(text, TOOLS), Program)


@pytest.mark.proves("C12b")
def test_open_schemas_accept_any_argument_and_still_want_the_required_ones():
    schema = {"type": "object", "properties": {"id": {}}, "required": ["id"]}
    tools = {"open_tool": summarize("open-tool", schema)}
    assert prepare("return codemode.open_tool({ id: 1, other: 2 })", tools).warnings == ()
    with pytest.raises(SourceError, match="needs `id`"):
        prepare("return codemode.open_tool({ other: 2 })", tools)


@pytest.mark.proves("C12b")
async def test_a_dynamic_import_runs_and_rejects_with_what_is_available():
    program = prepare("const a = 1;\nreturn await import('fs').catch((e) => `${e}`)", TOOLS)
    (warning,) = program.warnings
    assert (warning.line, warning.column) == (2, 14)
    assert "`codemode` (the tools)" in warning.message
    outcome = await run(program.code)
    assert json.loads(outcome.value).startswith("Error: Modules are not available")
    uncaught = (await run(prepare("const fs = await import('fs');", TOOLS).code)).error
    assert "await codemode.<name>({...})" in uncaught.message


@pytest.mark.proves("C12b")
def test_a_thousand_imports_get_one_warning():
    assert len(prepare("import('fs');\n" * 1000, TOOLS).warnings) == 1


@pytest.mark.proves("C10e")
@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("const a = 1;\ncodemode.add({ a, b: 2 });\nreturn a", (2, 1), "await codemode.add(...)"),
        ("const a = 1;\n[a].forEach((x) => codemode.add({ a: x, b: 1 }));\nreturn a", (2, 20), "not awaited"),
        ("[1].forEach(async (x) => { await codemode.add({ a: x, b: 1 }) });\nreturn 1", (1, 13), "`forEach`"),
    ],
)
def test_a_call_that_nothing_waits_for_is_named_in_a_warning(text, place, says):
    (warning,) = prepare(text, TOOLS).warnings
    assert (warning.line, warning.column) == place
    assert says in warning.message


@pytest.mark.proves("C10e")
@pytest.mark.parametrize(
    "text",
    [
        "codemode.add({ a: 1, b: 2 })",
        "return codemode.add({ a: 1, b: 2 })",
        "const p = codemode.ping();\nawait p",
    ],
)
def test_a_call_whose_promise_is_used_is_no_warning(text):
    assert prepare(text, TOOLS).warnings == ()


@pytest.mark.proves("C12a")
def test_syntax_errors_are_left_to_v8_unless_a_bracket_is_missing():
    broken = ("let x = ;", "const a = 'it", "await codemode.add({ a: 1)", "return 4 /[ 2")
    programs = [prepare(text, TOOLS) for text in broken]
    assert all("SyntaxError" in outcome["syntax"] for outcome in in_v8(programs))


@pytest.mark.proves("C12a")
@pytest.mark.parametrize(
    ("line", "column", "shown"),
    [
        ("return codemode.nope()", 17, "1 | return codemode.nope()\n  |                 ^"),
        ("\treturn x", 9, "1 | \treturn x\n  | \t       ^"),
        ("'漢字' + x", 8, "1 | '漢字' + x\n  |          ^"),
        ("'😀' + x", 8, "1 | '😀' + x\n  |        ^"),
        ("a\x00\x1b[31m b", 99, "1 | a\ufffd\ufffd[31m b\n  |          ^"),
    ],
)
def test_an_excerpt_has_the_caret_under_the_column(line, column, shown):
    assert excerpt(line, 1, column) == shown


@pytest.mark.proves("C12a")
def test_an_excerpt_of_a_long_line_shows_what_is_around_the_column():
    line = "a" * 5000 + "HERE" + "b" * 5000
    shown, caret = excerpt(f"first\n{line}", 2, 5001).split("\n")
    assert len(shown) < 120
    assert shown[caret.index("^") :].startswith("HERE")
    assert excerpt("only", 9, 9).startswith("1 | only")
