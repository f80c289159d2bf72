"""Whatever text arrives, it is read in time and either prepared or refused with a place inside it."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcp_server.codemode.source import SourceError, excerpt, prepare, summarize
from tests.codemode.test_source import FORMS, LINE_END, units

TOOLS = {"get_user": summarize("get-user", {"properties": {"id": {}}, "required": ["id"]})}
PIECES = [
    *"(){}[]<>;:,.?!=+-*/'\"`\\\n\r\t #@$",
    *(
        " => ",
        "async ",
        "await ",
        "function ",
        "return ",
        "const x",
        "class A ",
        "import ",
        "export default ",
        "```js\n",
    ),
    *(
        "codemode",
        ".get_user",
        "({id: 1})",
        " as T",
        ": number",
        "<T>",
        "${",
        "//",
        "/*",
        "*/",
        "if (",
        "else ",
        "try ",
    ),
    *(
        "\u2028",
        "\ufeff",
        "\x00",
        "😀",
        "\ud83d",
        "漢",
        "é",
        "type X = ",
        "enum E ",
        "x",
        "1",
        "main",
        "interface I ",
    ),
]
bounded = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=True,
    database=None,
)


def attempt(text):
    try:
        return prepare(text, TOOLS), None
    except SourceError as error:
        return None, error


def read(text):
    """Prepare a text; check what must hold for each."""
    lines = LINE_END.split(units(text))
    program, error = attempt(text)
    if program is None:
        assert 1 <= error.line <= len(lines)
        assert 1 <= error.column <= len(lines[error.line - 1]) + 1
        assert excerpt(text, error.line, error.column).endswith("^")
        return
    code = LINE_END.split(units(program.code))
    assert len(code) == len(lines)
    for number, (before, after) in enumerate(zip(lines, code, strict=True), start=1):
        assert len(after) == len(before) + sum(
            shift.length for shift in program.shifts if shift.line == number
        )
        assert program.locate(number, len(after) + 1) == (number, len(before) + 1)
    program.code.encode()


@pytest.mark.proves("C06d", "C12a")
@bounded
@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_any_mixture_of_code_is_read_without_another_error(text):
    read(text)


@pytest.mark.proves("C06d", "C12a")
@bounded
@given(st.text(max_size=200))
def test_any_text_is_read_without_another_error(text):
    read(text)


@pytest.mark.proves("C06d", "C12a")
@bounded
@given(st.sampled_from([case["text"] for case in FORMS["values"]]), st.data())
def test_any_part_of_a_good_program_is_read_without_another_error(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    read(text[:start] + text[end:])


DEEP = {
    "open brackets": "(" * 100_000,
    "paired brackets": "(" * 50_000 + "1" + ")" * 50_000,
    "open braces": "{" * 100_000,
    "quotes": "'" * 100_000,
    "backquotes": "`" * 100_000,
    "tildes": "~>" * 8_000,
    "regular expressions": "/a[" * 60_000,
    "comparisons": "a<" * 60_000,
    "generics": "f<" * 30_000 + "T" + ">" * 30_000,
    "generic calls": "f<a>(b);" * 15_000,
    "casts": "x as T /* " * 10_000,
    "arrows": "(a)=>" * 20_000 + "1",
    "called arrows": "(()=>{" * 15_000 + "})()" * 15_000,
    "conditions": "if(a){}else " * 10_000 + "{}",
    "nested conditions": "if(a)" * 20_000 + "1",
    "nested calls": "codemode.get_user(" * 6_000 + ")" * 6_000,
    "many calls": "codemode.getUser({id: 1});" * 5_000,
    "nested forEach": "a.forEach(async()=>{codemode.x;" * 3_000 + "})" * 3_000,
    "templates": "`${" * 30_000,
    "prose": "Here is the code that I wrote for you. " * 3_000,
    "fences": "```js\nx\n```\n" * 10_000,
    "unclosed fences": "```js\n" * 20_000,
    "many functions": "".join(f"function f{number}() {{}}\n" for number in range(5_000)),
    "types": "type A = {a: number[]};\n" * 5_000,
    "indexed type": "let x: T" + "[]" * 30_000,
    "members": "a" + ".b" * 50_000,
    "blanks": " " * 200_000,
    "hashbangs": "#!" * 50_000,
    "blocks": "{a," * 30_000,
    "objects": "{a,{" * 10_000 + "}}" * 10_000,
}


@pytest.mark.proves("C06d")
@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP.keys())
def test_deep_and_long_programs_are_read_in_bounded_time(text):
    started = time.thread_time()
    read(text)
    assert time.thread_time() - started < 10


@pytest.mark.proves("C06a")
def test_ten_times_the_code_takes_about_ten_times_as_long():
    program = """
const users = await codemode.get_user({ id: 10 });
for (const user of users) {
  const todos: Array<{ id: number }> = (await load({ userId: user.id as number }))!;
  if (todos.some((t: any) => t.overdue)) await remind(`Hello ${user.name}`);
}
"""
    assert seconds(program * 400) < 25 * seconds(program * 40)


def seconds(text):
    best = 60.0
    for _ in range(3):
        started = time.thread_time()
        prepare(text, TOOLS)
        best = min(best, time.thread_time() - started)
    return best
