"""Runs prepared programs in V8, in a process of its own: JSON list of bodies in, JSON list of outcomes out."""

import json
import os
import sys

import py_mini_racer

TOOLS = """
globalThis.lines = [];
globalThis.boom = undefined;
globalThis.console = { log: (...a) => void lines.push(a), error: (...a) => void lines.push(a), warn: (...a) => void lines.push(a) };
globalThis.users = [{ id: 1, name: "Ada" }, { id: 2, name: "Linus" }];
globalThis.codemode = {
  get_user: async ({ id }) => { const u = users.find((u) => u.id === id); if (!u) throw new Error("[404]"); return u; },
  list_users: async () => users,
  add: async ({ a, b }) => a + b,
};
codemode["get-user"] = codemode.get_user;
globalThis.make = Object.getPrototypeOf(async () => {}).constructor;
globalThis.settle = (promise) => promise.then(
  (value) => { globalThis.outcome = JSON.stringify({ value: value === undefined ? "undefined" : value }); },
  (error) => { globalThis.outcome = JSON.stringify({ error: String(error), stack: String(error && error.stack) }); });
"""


def run(context: py_mini_racer.MiniRacer, body: str) -> dict:
    """The outcome of one body of an async function."""
    try:
        context.eval(f"globalThis.outcome = null; settle(make({json.dumps(body)})())")
    except py_mini_racer.JSEvalException as error:
        return {"syntax": str(error)}
    return json.loads(context.eval('outcome || \'{"error": "never settled"}\''))


def main() -> None:
    context = py_mini_racer.MiniRacer()
    context.eval(TOOLS)
    json.dump([run(context, body) for body in json.load(sys.stdin)], sys.stdout)
    sys.stdout.flush()
    os._exit(0)  # V8's threads may hang an ordinary exit


if __name__ == "__main__":
    main()
