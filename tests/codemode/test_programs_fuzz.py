"""Programs made at random end within their limits, whatever they do, and the next run is right."""

import random
import time

import pytest

from tests.codemode.sandbox import HARMLESS, run, value

EXPRESSIONS = [
    "1", "'x'", "null", "undefined", "NaN", "10n", "[]", "{}", "a", "b", "this", "globalThis", "codemode", "Symbol()", "/a+b/g",
    "[{e}, {e}]", "({{k: {e}, get g() {{ {s} }}}})", "(() => {{ {s} }})()", "(async () => {{ {s} }})()", "await {e}",
    "(function* () {{ yield {e}; {s} }})()", "new Map([[{e}, {e}]])", "new Set([{e}])", "new Proxy({{}}, {{get() {{ {s} }}}})",
    "codemode.echo({e})", "codemode.echo({{v: {e}}})", "codemode.big({{rows: 50}})", "codemode.missing_user({e})", "codemode[{e}]",
    "JSON.stringify({e})", "structuredClone({e})", "String({e})", "Object.assign({e}, {e})", "'y'.repeat(1e5)", "Array(1e4).fill({e})",
    "Promise.all([{e}, {e}])", "Promise.race([{e}, new Promise(() => {{}})])", "new Promise(r => setTimeout(r, 2))", "{e}?.then", "{e} + {e}",
    "new Error({e})", "`${{{e}}}`", "Reflect.ownKeys({e})", "Object.getPrototypeOf({e})", "new Uint8Array(1000)",
]  # fmt: skip
STATEMENTS = [
    "a = {e};", "b = {e};", "console.log({e});", "if ({e}) {{ {s} }}", "for (let i = 0; i < 5; i++) {{ {s} }}", "for (const x of [{e}]) {{ {s} }}",
    "try {{ {s} }} catch (x) {{ a = x; }}", "try {{ {s} }} finally {{ {s} }}", "throw {e};", "return {e};", "while (Math.random() < 0.9) {{ {s} }}",
    "for (;;) {{ {s} }}", "setTimeout(() => {{ {s} }}, 1);", "queueMicrotask(() => {{ {s} }});", "Object.prototype.p = {e};", "delete globalThis.Map;",
    "Array.prototype[Symbol.iterator] = {e};", "Promise.prototype.then = {e};", "codemode.echo({e});", "globalThis[{e}] = {e};", ";",
]  # fmt: skip


def fill(template, generator, depth):
    """Return a template with its holes filled by further templates, shallower with depth."""
    out = template.replace("{{", "\0").replace("}}", "\1")
    while "{e}" in out or "{s}" in out:
        hole = min((out.find(kind), kind) for kind in ("{e}", "{s}") if kind in out)[1]
        choices = EXPRESSIONS if hole == "{e}" else STATEMENTS
        if depth <= 0:
            choices = choices[:15] if hole == "{e}" else [";"]
        out = out.replace(hole, fill(generator.choice(choices), generator, depth - 1), 1)
    return out.replace("\0", "{").replace("\1", "}")


@pytest.mark.proves("S04a")
@pytest.mark.parametrize("seed", range(6))
async def test_programs_made_at_random_end_within_their_limits(seed):
    generator = random.Random(seed)
    for _ in range(12):
        body = "\n".join(fill(generator.choice(STATEMENTS), generator, 3) for _ in range(4))
        begun = time.monotonic()
        outcome = await run(
            f"let a, b;\n{body}", cpu_time_limit_ms=150, wall_time_limit_ms=1000, max_tool_calls=20
        )
        assert outcome.status in {"ok", "error", "limit"}, (body, outcome)
        assert time.monotonic() - begun < 30
    assert await value(HARMLESS) == 42
