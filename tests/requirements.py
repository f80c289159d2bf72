"""The contract, clause by clause: what the product promises, and what is still open.

`tests/contract/` holds one line per clause: `id | sentence`, and perhaps `| open: reason` or `| measured: benchmark`. A
clause without either is proven: some test names it with `@pytest.mark.proves(...)`, or a gate of `.ci/` in a comment
`# proves P02b`, where it needs servers or other languages. A speed is measured: no test asserts one, a benchmark prints it
beside its target. `tests/test_requirements.py` checks all directions.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parent
MARKER = "proves"


@dataclass(frozen=True, slots=True)
class Clause:
    """One promise; `open` says why nothing shows it yet, `measured` names the module of `benchmarks` that does."""

    id: str
    sentence: str
    open: str = ""
    measured: str = ""


@cache
def clauses() -> Mapping[str, Clause]:
    """Return every clause by its id, in the contract's order within each letter.

    Raises:
        ValueError: a line that is no clause, or an id that stands twice.
    """
    found: dict[str, Clause] = {}
    for path in sorted((TESTS / "contract").glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            clause = _parse(line, path.stem)
            if clause.id in found:
                raise ValueError(f"{clause.id} stands twice in {path.name}.")
            found[clause.id] = clause
    return found


def _parse(line: str, letter: str) -> Clause:
    identifier, sentence, *rest = (part.strip() for part in line.split(" | "))
    # A sentence may hold the separator itself, as in a list of alternatives.
    kind, _, note = rest[-1].partition(": ") if rest else ("", "", "")
    notes = {kind: note} if kind in {"open", "measured"} else {}
    if notes:
        rest.pop()
    if not (identifier.startswith(letter) and identifier[1:3].isdigit() and sentence):
        raise ValueError(f"This line of {letter}.txt is no clause: {line}")
    return Clause(identifier, " | ".join([sentence, *rest]), **notes)


@cache
def proofs() -> Mapping[str, tuple[str, ...]]:
    """Return the tests that name each id, as `file:line`; read from the source, so it holds in any partial run."""
    found = defaultdict(list)
    for path in sorted(TESTS.rglob("*.py")):
        for identifier, line in _marks(ast.parse(path.read_text(encoding="utf-8"))):
            found[identifier].append(f"{path.relative_to(TESTS.parent)}:{line}")
    for path in [*sorted((TESTS.parent / ".ci").glob("*.*")), TESTS.parent / ".ci/run"]:
        for line, text in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            for identifier in re.findall(r"[A-Z]\d\d[a-z]?", text.partition("# proves ")[2]):
                found[identifier].append(f".ci/{path.name}:{line}")
    return {identifier: tuple(places) for identifier, places in found.items()}


def _marks(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == MARKER:
            for argument in node.args:
                # A computed id would hide from this reading; as it stands it is no clause, and refused.
                yield ast.unparse(argument).strip("\"'"), argument.lineno
