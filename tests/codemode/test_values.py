"""Values cross from JavaScript to JSON and back as documented (contract C07, C10)."""

import json

import pytest

from mcp_server.codemode.executor import ToolSuccess
from tests.codemode.sandbox import error, run, value

CONVERSIONS = {
    "undefined_is_no_value": ("return undefined", None),
    "undefined_member_is_dropped": ("return {a: undefined, b: 1}", {"b": 1}),
    "undefined_item_is_null": ("return [undefined, 1]", [None, 1]),
    "big_integer_is_decimal_text": ("return [12345678901234567890n, {n: -1n}]", ["12345678901234567890", {"n": "-1"}]),
    "date_is_iso_text": ("return {at: new Date(0)}", {"at": "1970-01-01T00:00:00.000Z"}),
    "invalid_date_is_null": ("return [new Date(NaN), 1n]", [None, "1"]),
    "map_with_text_keys_is_an_object": ("return new Map([['a', 1], ['b', new Map([['c', 2]])]])", {"a": 1, "b": {"c": 2}}),
    "map_with_other_keys_is_entries": ("return new Map([[{id: 1}, 'x'], ['k', 2]])", [[{"id": 1}, "x"], ["k", 2]]),
    "map_with_a_proto_key_changes_no_prototype": ("return new Map([['__proto__', 1]])", {"__proto__": 1}),
    "set_is_an_array": ("return {s: new Set([1, 'a', new Set([2])])}", {"s": [1, "a", [2]]}),
    "not_a_number_is_null": ("return [NaN, Infinity, {n: -Infinity}, 1n]", [None, None, {"n": None}, "1"]),
    "minus_zero_is_zero": ("return -0", 0),
    "error_is_name_and_message": ("return [new RangeError('far')]", [{"name": "RangeError", "message": "far"}]),
    "typed_array_is_an_array": ("return {b: new Uint8Array([1, 2]), i: new BigInt64Array([5n])}", {"b": [1, 2], "i": ["5"]}),
    "iterator_is_an_array": ("return new Map([['a', 1]]).keys()", ["a"]),
    "generator_is_an_array": ("return (function* () { yield 1; yield {a: 2} })()", [1, {"a": 2}]),
    "url_is_its_text": ("return {u: new URL('https://a.example/b?c=1')}", {"u": "https://a.example/b?c=1"}),
    "class_instance_is_its_own_members": ("class P { x = 1; #y = 2; get z() { return 3 } } return new P()", {"x": 1}),
    "object_without_prototype": ("return Object.assign(Object.create(null), {a: 1})", {"a": 1}),
    "to_json_is_asked": ("return {toJSON() { return {a: 1n} }}", {"a": "1"}),
    "promise_inside_is_awaited": ("return {a: Promise.resolve([codemode.echo({b: 1})])}", {"a": [{"b": 1}]}),
    "promise_in_a_map_is_awaited": ("return new Map([['a', codemode.echo({b: 1})]])", {"a": {"b": 1}}),
    "shared_part_is_no_cycle": ("const s = {x: new Set([1])}; return [s, s]", [{"x": [1]}, {"x": [1]}]),
    "text_keeps_every_character": ("return 'é\\u2028\\u{1F600}\\\\\"'", 'é\u2028\U0001f600\\"'),
}  # fmt: skip


@pytest.mark.proves("C10c", "C10e")
@pytest.mark.parametrize("name", sorted(CONVERSIONS))
async def test_a_value_becomes_plain_data(name):
    code, expected = CONVERSIONS[name]
    assert await value(code) == expected


@pytest.mark.proves("C10d")
@pytest.mark.parametrize(
    ("code", "path", "what"),
    [
        ("const a = {list: []}; a.list.push({back: a}); return a", "result.list[0].back", "a cycle"),
        ("return {rows: [1, () => 2]}", "result.rows[1]", "a function"),
        ("return {'a b': {c: Symbol('x')}}", 'result["a b"].c', "a symbol"),
        ("return codemode.echo", "result", "a function"),
        ("await codemode.echo({f() {}})", "arguments.f", "a function"),
        ("return (async function* () {})()", "result", "an async iterator"),
    ],
)
async def test_what_has_no_json_form_is_an_error_that_names_the_path(code, path, what):
    found = await error(code)
    assert found.kind == "type"
    assert f"at {path} is {what}" in found.message


async def test_a_promise_inside_that_fails_fails_the_run():
    found = await error("return {a: codemode.missing_user({id: 7})}")
    assert (found.message, found.status) == ("[404] User not found", 404)


@pytest.mark.proves("C10e", "C13e")
async def test_a_call_that_nobody_awaits_is_named_and_cancelled():
    outcome = await run("codemode.slow({}); return 'early'")
    assert (outcome.value, outcome.unawaited) == ('"early"', ["slow"])


@pytest.mark.proves("C10e")
@pytest.mark.parametrize("pause", ["", "await new Promise(r => setTimeout(r, 1));"])
async def test_what_is_named_does_not_depend_on_how_fast_the_tool_is(pause):
    # The last answer that the program heard decides, not what the host had done by then.
    call = "codemode.echo({}); codemode.$search('echo');"
    for _ in range(20):
        outcome = await run(f"{pause} {call} return 1")
        assert (outcome.unawaited, outcome.calls) == (["echo"], 1)


@pytest.mark.proves("C10e")
async def test_a_call_that_was_answered_is_not_named():
    code = "let heard; codemode.echo({}).then(() => heard()); await new Promise(r => { heard = r }); return 1"
    assert (await run(code)).unawaited == []


@pytest.mark.proves("C10e", "S09")
async def test_a_call_whose_arguments_never_settle_is_reported_at_once():
    found = await run("return await codemode.echo({a: new Promise(() => {})})")
    assert found.error.kind == "never_settles"
    assert (found.unawaited, found.calls) == ([], 0)
    assert found.wall_ms < 5_000


@pytest.mark.proves("C08a")
async def test_a_failed_tool_throws_an_error_with_status_data_and_tool():
    caught = await value(
        """
        try { await codemode.missing_user({id: 7}) }
        catch (e) { return [e instanceof Error, e.message, e.status, e.data, e.tool, e.stack] }
        """
    )
    assert caught[:5] == [True, "[404] User not found", 404, {"id": 7}, "missing-user"]
    assert "program:2" in caught[5]


@pytest.mark.proves("C09")
async def test_calls_of_promise_all_meet_at_a_barrier():
    import asyncio

    barrier = asyncio.Barrier(10)

    async def meet(name, arguments):
        await asyncio.wait_for(barrier.wait(), 10)
        return ToolSuccess(b"1")

    assert (
        await value(
            "return (await Promise.all(Array.from({length: 10}, () => codemode.echo()))).length", call=meet
        )
        == 10
    )


async def test_a_tool_answers_to_its_own_name_too():
    assert (
        await value("try { await codemode['missing-user']({}) } catch (e) { return e.tool }")
        == "missing-user"
    )


@pytest.mark.proves("C12b")
async def test_an_unknown_tool_is_named_with_the_closest_one():
    found = await error("const x = 1;\nawait codemode.ehco({})")
    assert "Did you mean codemode.echo?" in found.message
    assert (found.line, found.column) == (2, 16)
    assert "slow" not in found.message


async def test_more_than_one_argument_is_refused_by_name():
    assert "takes one object" in (await error("await codemode.echo('a', 'b')")).message


async def test_the_reserved_functions_take_their_parameters_in_order():
    async def reply(name, arguments):
        return ToolSuccess(json.dumps([name, arguments]).encode())

    found = await value(
        "return [await codemode.$search('users', {limit: 2}), await codemode.$describe('echo')]", call=reply
    )
    assert found == [
        ["$search", {"query": "users", "options": {"limit": 2}}],
        ["$describe", {"name": "echo"}],
    ]


@pytest.mark.proves("C07c")
async def test_integers_that_javascript_cannot_hold_arrive_as_text():
    async def rows(name, arguments):
        return ToolSuccess(
            b'{"a":9007199254740991,"b":9007199254740993,"c":-12345678901234567890,"d":0.12345678901234567,"e":"12345678901234567890"}'
        )

    found = await value("const r = await codemode.echo(); return [r, typeof r.a, typeof r.b]", call=rows)
    assert found[0]["b"] == "9007199254740993"
    assert found[0]["c"] == "-12345678901234567890"
    assert found[1:] == ["number", "string"]


@pytest.mark.proves("S08")
async def test_what_a_tool_gets_is_safe_to_store():
    got = []

    async def keep(name, arguments):
        got.append(arguments)
        return ToolSuccess(None)

    await value(
        "await codemode.echo({'k\\ud800': 'a\\u0000b\\udfff', n: 12345678901234567890, f: 1e300, deep: [[['\\ud800']]]})",
        call=keep,
    )
    assert got == [
        {"k\ufffd": "a\ufffdb\ufffd", "n": 12345678901234567168.0, "f": 1e300, "deep": [[["\ufffd"]]]}
    ]
    json.dumps(got, ensure_ascii=False).encode()


@pytest.mark.proves("S08")
async def test_console_errors_and_values_hold_no_nul_and_no_lone_surrogate():
    outcome = await run("console.log('a\\u0000\\ud800'); throw new Error('b\\u0000\\udfff')")
    assert outcome.logs[0].text == "a\ufffd\ufffd"
    assert outcome.error.message == "b\ufffd\ufffd"


@pytest.mark.proves("C10b")
async def test_console_comes_along_with_levels_also_when_the_run_fails():
    outcome = await run(
        "console.log('%s has %d', 'Bob', 2, {a: [1]}); console.warn('w'); console.error(new TypeError('t')); for (;;);",
        cpu_time_limit_ms=200,
    )
    assert outcome.status == "limit"
    assert [(entry.level, entry.text) for entry in outcome.logs] == [
        ("log", "Bob has 2 {a: [1]}"),
        ("warn", "w"),
        ("error", "TypeError: t"),
    ]


async def test_console_lines_reach_an_observer_while_the_run_goes_on():
    seen = []
    await value("console.info('first'); await codemode.echo({}); console.log('second')", observer=seen.append)
    assert [(entry.level, entry.text) for entry in seen] == [("info", "first"), ("log", "second")]


ENVIRONMENT = {
    "timers": ("const t = []; setTimeout(() => t.push(2), 2); setTimeout(() => t.push(1)); const i = setInterval(() => { t.push('i'); clearInterval(i) }, 1); await new Promise(r => setTimeout(r, 20)); return t.sort()", [1, 2, "i"]),
    "microtask": ("const t = []; queueMicrotask(() => t.push(1)); t.push(0); await 0; await 0; return t", [0, 1]),
    "clone": ("const o = {d: new Date(5), m: new Map([[1, {a: 2}]]), b: new Uint8Array([7])}; o.o = o; const c = structuredClone(o); return [c !== o, c.o === c, c.d.getTime(), c.m.get(1).a, c.b[0]]", [True, True, 5, 2, 7]),
    "clone_refuses_functions": ("try { structuredClone({f() {}}) } catch (e) { return e.name }", "DataCloneError"),
    "url_parts": ("const u = new URL('../x/./y?q=é#f', 'https://me:pw@Exämple.com:8443/a/b/c'); return [u.href, u.host, u.hash]", ["https://me:pw@xn--exmple-cua.com:8443/a/x/y?q=%C3%A9#f", "xn--exmple-cua.com:8443", "#f"]),
    "url_parameters": ("const u = new URL('http://a.example/?x=1&x=2'); u.searchParams.append('y', 'a b&'); u.searchParams.delete('x', '1'); return [u.search, u.searchParams.getAll('x')]", ["?x=2&y=a+b%26", ["2"]]),
    "url_refused": ("try { new URL('nope') } catch (e) { return [e.name, URL.canParse('http://[::1]:80/')] }", ["TypeError", True]),
    "base64": ("return [btoa('h\\u00e9'), atob('aGk='), atob(btoa('\\u00ff'))]", ["aOk=", "hi", "ÿ"]),
    "text": ("const b = new TextEncoder().encode('€𝄞'); return [[...b], new TextDecoder().decode(b), new TextDecoder().decode(new Uint8Array([0xff, 97]))]", [[226, 130, 172, 240, 157, 132, 158], "€𝄞", "\ufffda"]),
    "uuid": ("const a = crypto.randomUUID(), b = crypto.randomUUID(); return [/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(a), a === b, crypto.getRandomValues(new Uint32Array(2)).length]", [True, False, 2]),
    "missing_names_are_undeclared": ("return [typeof fetch, typeof require, typeof process, typeof WebAssembly, typeof eval]", ["undefined"] * 5),
    "time_zone_is_utc": ("return new Date(2026, 0, 1).toISOString()", "2026-01-01T00:00:00.000Z"),
    "intl": ("return new Intl.NumberFormat('de', {style: 'currency', currency: 'EUR'}).format(1234.5)", "1.234,50\xa0€"),
    "tools_can_be_listed": ("return [Object.keys(codemode).sort(), 'echo' in codemode, 'nope' in codemode, codemode.echo.name]", [["big", "echo", "missing_user", "nothing", "slow"], True, False, "echo"]),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(ENVIRONMENT))
async def test_programs_find_what_they_expect(name):
    code, expected = ENVIRONMENT[name]
    assert await value(code) == expected


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("await fetch('http://x')", "There is no network"),
        ("require('fs')", "There are no modules"),
        ("process.env.SECRET", "This is not Node.js"),
        ("eval('1')", "Text cannot be run as code"),
        ("new Function('return 1')()", "Text cannot be run as code"),
        ("new WebAssembly.Memory({initial: 1})", "WebAssembly is not available"),
        ("await import('fs')", "Modules are not available"),
        ("Buffer.from('a')", "use Uint8Array"),
    ],
)
async def test_what_is_missing_says_what_there_is_instead(code, says):
    assert says in (await error(code)).message


@pytest.mark.proves("C12a", "C12d")
@pytest.mark.parametrize(
    ("code", "kind", "line", "column"),
    [
        ("\n\nthrow new Error('x')", "error", 3, 7),
        ("const a = 1;\nlet b = ;", "syntax", 2, 9),
        ("const f = () => {\n  null.x;\n};\nf()", "type", 2, 8),
        ("await 1;\nawait (async () => {\n  await 1;\n  undefinedName;\n})()", "reference", 4, 3),
        ("function f() {\n  return 1", "syntax", 2, None),
    ],
)
async def test_an_error_has_its_place_in_the_program(code, kind, line, column):
    found = await error(code)
    assert (found.kind, found.line, found.column) == (kind, line, column)
    assert not any("runtime" in frame or "/" in frame for frame in found.stack)
