"""Every attack ends as it should, is followed by a right run, and leaves its neighbour alone (contract S12)."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.codemode.sandbox import HARMLESS, expected, run, value

FOLDER = Path(__file__).parent.parent / "attacks"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())

# Ends at the memory limit: needs processor time to get there, more on a busy machine.
PATIENT = {"05_heap_objects", "15_call_flood", "10_string_join_flat", "07_arraybuffers"}
WALL = {"24_slow_tool", "25_timers_forever", "26_timer_long"}


def _limits(name: str) -> dict[str, int]:
    if name in WALL:
        return {"wall_time_limit_ms": 500, "cpu_time_limit_ms": 2000}
    return {"cpu_time_limit_ms": 6000 if name in PATIENT else 400, "wall_time_limit_ms": 30_000}


@pytest.mark.proves("S12")
@pytest.mark.parametrize("name", sorted(EXPECTED))
async def test_an_attack_ends_as_expected_and_harms_nobody(name):
    attack = (FOLDER / f"{name}.js").read_text()
    outcome, neighbour = await asyncio.gather(
        run(attack, owner="attacker", **_limits(name)), value(HARMLESS, owner="neighbour")
    )
    assert expected(outcome, EXPECTED[name]["outcomes"]), outcome
    assert neighbour == 42
    assert await value(HARMLESS) == 42


VALUES = {
    "13_huge_result": None,
    "14_log_flood": 1,
    "17_proto_pollution": 1,
    "23_never_awaited_call": "early",
    "45_proto_arg": {"__proto__": {"admin": True}},
    "44_lone_surrogate": {"s": "\ufffd\u2028\u2029\ufffd"},
    "55_state_leak_write": 1,
    "56_state_leak_read": ["undefined", None, None],
    "54_unhandled": 1,
    "46_date_invalid": [
        None, 0, {"name": "TypeError", "message": "The value at result[2] is a symbol, which has no JSON form."},
        "1", True, [0, 0, 0], "/r/g", [None, 1],
    ],
}  # fmt: skip


@pytest.mark.proves("S12", "C10c")
@pytest.mark.parametrize("name", sorted(name for name in VALUES if VALUES[name] is not None))
async def test_an_attack_that_has_a_value_has_the_right_one(name):
    assert await value((FOLDER / f"{name}.js").read_text(), cpu_time_limit_ms=5000) == VALUES[name]


async def test_an_import_says_that_there_are_no_modules():
    assert "Modules are not available" in await value((FOLDER / "21_import.js").read_text())


async def test_call_sites_reach_no_function_and_no_object_of_the_bridge():
    for _, function, receiver, _ in await value((FOLDER / "19_prepareStackTrace.js").read_text()):
        assert (function, receiver) == ("undefined", "undefined")


async def test_no_trick_with_names_finds_anything_but_tools():
    answers = await value((FOLDER / "50_tool_name_tricks.js").read_text())
    pairs = dict(item for item in answers if isinstance(item, list))
    assert "function" not in pairs.values()
    assert answers[-1] == "function"


async def test_an_error_thrown_in_a_timer_is_seen_by_the_model():
    outcome = await run((FOLDER / "52_label_break.js").read_text())
    assert any("in timer" in entry.text and "line 1" in entry.text for entry in outcome.logs)


MORE = {
    "regexp_sticky_loop": ("const r = /a/y; let n = 0; while (true) { r.lastIndex = 0; n += r.test('a'); }", ["cpu_limit"]),
    "regexp_lookbehind": ("return /(?<=^(a+)+)$/.test('a'.repeat(40) + 'b')", ["value", "cpu_limit"]),
    "regexp_backreference": (r"return /^(a|a?)+\1$/.test('a'.repeat(35) + 'b')", ["value", "cpu_limit"]),
    "regexp_replace_callback_loop": ("'aaa'.replace(/a/g, () => { for (;;); })", ["cpu_limit"]),
    "endless_iterator": ("for (const x of {[Symbol.iterator]: () => ({next: () => ({done: false})})}) ;", ["cpu_limit"]),
    "endless_generator_spread": ("function* g() { while (true) yield 1 } return [...g()]", ["memory_limit", "cpu_limit", "js_error:RangeError"]),
    "endless_generator_returned": ("function* g() { while (true) yield 1 } return g()", ["size_limit", "memory_limit", "cpu_limit"]),
    "endless_async_generator": ("async function* g() { while (true) yield 1 } for await (const x of g()) ;", ["cpu_limit"]),
    "async_generator_returned": ("async function* g() { yield 1 } return g()", ["js_error:TypeError"]),
    "getter_loop_in_argument": ("await codemode.echo({get x() { for (;;); }})", ["cpu_limit"]),
    "getter_that_throws_in_argument": ("await codemode.echo({get x() { throw new RangeError('mine') }})", ["js_error:RangeError"]),
    "to_json_loop": ("return {toJSON() { for (;;); }}", ["cpu_limit"]),
    "to_json_that_returns_itself": ("const o = {toJSON() { return o }}; return o", ["js_error:TypeError"]),
    "proxy_as_argument": ("await codemode.echo(new Proxy({}, {ownKeys() { for (;;); }}))", ["cpu_limit"]),
    "proxy_that_lies_about_its_keys": ("return new Proxy({}, {ownKeys: () => ['a', 'a']})", ["js_error:TypeError"]),
    "proxy_array_without_end": ("return new Proxy([], {get: (t, k) => k === 'length' ? 2 ** 40 : 1})", ["size_limit"]),
    "revoked_proxy": ("const {proxy, revoke} = Proxy.revocable({}, {}); revoke(); return proxy", ["js_error:TypeError"]),
    "timer_flood": ("for (let i = 0; i < 1e5; i++) setTimeout(() => {}, 1)", ["js_error:RangeError"]),
    "timer_that_starts_two": ("const f = () => { setTimeout(f); setTimeout(f) }; f(); await new Promise(() => {})", ["value", "js_error", "cpu_limit", "wall_limit"]),
    "timer_with_text": ("setTimeout('1')", ["js_error:TypeError"]),
    "microtask_flood": ("const f = () => queueMicrotask(f); f(); await new Promise(() => {})", ["cpu_limit"]),
    "label_continue_loop": ("outer: for (;;) { for (;;) continue outer; }", ["cpu_limit"]),
    "break_out_of_the_wrapper": ("break; return 1", ["js_error:SyntaxError"]),
    "unclosed_template": ("return `abc", ["js_error:SyntaxError"]),
    "unclosed_comment": ("return 1 /*", ["js_error:SyntaxError"]),
    "html_comment": ("<!-- hello\nreturn 1", ["value", "js_error:SyntaxError"]),
    "source_map_comment": ("//# sourceMappingURL=file:///etc/passwd\nthrow new Error('x')", ["js_error:Error"]),
    "unicode_escapes_in_names": (r"\u0065val('1')", ["js_error:ReferenceError"]),
    "astral_identifier": ("const 𠮷 = 1; return {'𠮷\\u{1F600}': 𠮷}", ["value"]),
    "right_to_left_override": ("return '\u202e' + 'abc'", ["value"]),
    "tagged_template": ("return ((s, ...v) => s.raw.join('|') + v)`a${1}\\n${2}`", ["value"]),
    "error_subclass_with_evil_message": ("class E extends Error { get message() { for (;;); } } throw new E()", ["cpu_limit"]),
    "error_with_throwing_stack": ("throw Object.defineProperty(new Error('x'), 'stack', {get() { throw 1 }})", ["js_error:Error"]),
    "error_with_huge_stack": ("const e = new Error('x'); e.stack = 'at program:1:1\\n'.repeat(1e5); throw e", ["js_error:Error"]),
    "error_forged_as_tool_error": ("const e = new Error('x'); e.name = 'ToolError'; e.status = 'x'; e.tool = {}; throw e", ["tool_error", "js_error"]),
    "aggregate_error": ("await Promise.any([Promise.reject(new Error('a'))])", ["js_error:AggregateError"]),
    "suppressed_error": ("throw new SuppressedError(1, 2, 'm')", ["js_error:SuppressedError"]),
    "nothing_thrown": ("throw undefined", ["js_error:Thrown"]),
    "thrown_object_without_prototype": ("throw Object.create(null)", ["js_error:Thrown"]),
    "thrown_proxy": ("throw new Proxy(new Error('x'), {get() { throw 1 }})", ["js_error"]),
    "symbol_to_primitive": ("return `${{[Symbol.toPrimitive]() { for (;;); }}}`", ["cpu_limit"]),
    "typed_array_species": ("class B extends Uint8Array { static get [Symbol.species]() { return function () { for (;;); } } } return new B(4).map(x => x)", ["cpu_limit", "js_error"]),
    "detached_buffer": ("const b = new ArrayBuffer(8); b.transfer(); return new Uint8Array(b)", ["value", "js_error:TypeError"]),
    "resizable_buffer_bomb": ("const b = new ArrayBuffer(1, {maxByteLength: 2 ** 33}); b.resize(2 ** 33); new Uint8Array(b).fill(1); return 1", ["js_error:RangeError", "memory_limit"]),
    "many_small_buffers": ("const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))", ["js_error:RangeError", "memory_limit"]),
    "map_bomb": ("const m = new Map(); for (let i = 0; ; i++) m.set(i, {i})", ["memory_limit", "js_error:RangeError"]),
    "string_doubling": ("let s = 'x'; for (;;) s += s + '1'", ["js_error:RangeError", "memory_limit"]),
    "string_pad": ("return 'x'.padStart(2 ** 29).split('')", ["memory_limit", "js_error:RangeError"]),
    "array_of_huge_length": ("return new Array(2 ** 32 - 1).fill(0).length", ["memory_limit", "js_error:RangeError", "cpu_limit"]),
    "intl_flood": ("const a = []; for (;;) a.push(new Intl.DateTimeFormat('de', {dateStyle: 'full'}))", ["cpu_limit", "memory_limit"]),
    "temporal": ("return String(Temporal.PlainDate.from('2026-02-28').add({days: 1}))", ["value"]),
    "huge_tool_response_kept_in_memory": ("const a = []; for (let i = 0; i < 60; i++) a.push(await codemode.big({rows: 20000})); return a.length", ["memory_limit", "value", "cpu_limit"]),
    "deep_argument": ("let a = {}; for (let i = 0; i < 300; i++) a = {a}; return await codemode.echo(a)", ["js_error:RangeError"]),
    "wide_argument": ("return await codemode.echo(Object.fromEntries(Array.from({length: 1e5}, (_, i) => ['key' + i, i])))", ["size_limit"]),
    "thenable_argument": ("return await codemode.echo({then(r) { r(1) }})", ["js_error:TypeError"]),
    "promise_that_resolves_to_itself": ("let r; const p = new Promise(x => { r = x }); r(p); return await p", ["js_error:TypeError"]),
    "async_disposal": ("await using x = {async [Symbol.asyncDispose]() { for (;;); }}; return 1", ["cpu_limit"]),
    "finalizers_are_not_there": ("return new FinalizationRegistry(() => {})", ["js_error:ReferenceError"]),
    "with_statement": ("with (codemode) { return typeof echo }", ["value"]),
    "global_this_replaced": ("globalThis.Promise = globalThis.JSON = globalThis.Map = undefined; return await codemode.echo({a: 1})", ["value"]),
    "delete_everything": ("for (const k of Object.getOwnPropertyNames(globalThis)) try { delete globalThis[k] } catch {} return 1", ["value"]),
    "function_from_generator": ("return Object.getPrototypeOf(function* () {}).constructor('yield 1')", ["js_error:EvalError"]),
    "recursion_in_to_string": ("const o = {toString() { return '' + o }}; return '' + o", ["js_error:RangeError"]),
    "log_of_itself": ("const a = []; a.push(a); console.log(a, new Proxy({}, {ownKeys() { throw 1 }}), Object.create(null)); return 1", ["value"]),
}  # fmt: skip


@pytest.mark.proves("S12", "S04a", "S05a")
@pytest.mark.parametrize("name", sorted(MORE))
async def test_another_attack_ends_as_expected(name):
    code, outcomes = MORE[name]
    # Short only where the program is to run out of it: what ends otherwise may be slow on a busy machine.
    processor = 300 if "cpu_limit" in outcomes and "memory_limit" not in outcomes else 6000
    outcome = await run(
        code, cpu_time_limit_ms=processor, wall_time_limit_ms=20_000 if "wall_limit" not in outcomes else 1000
    )
    assert expected(outcome, outcomes), outcome
    assert await value(HARMLESS) == 42
