"""The contract and the tests agree, in both directions."""

from pathlib import Path

from tests.requirements import clauses, proofs

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def test_every_test_names_clauses_that_exist():
    unknown = {identifier: places for identifier, places in proofs().items() if identifier not in clauses()}
    assert not unknown, "These ids are no clauses; tests/contract/ lists them with their letters"


def test_every_clause_that_is_not_open_has_a_test():
    unproven = [
        clause.id
        for clause in clauses().values()
        if not (clause.open or clause.measured or clause.id in proofs())
    ]
    assert not unproven, "Write the test, or say `| open: why` in tests/contract/"


def test_every_measured_clause_names_a_benchmark_that_names_it():
    for clause in clauses().values():
        if clause.measured:
            text = (BENCHMARKS / f"{clause.measured}.py").read_text(encoding="utf-8")
            assert clause.id[:3] in text.partition("import")[0]


def test_no_clause_with_a_test_is_called_open():
    proven = {
        clause.id: proofs()[clause.id]
        for clause in clauses().values()
        if clause.open and clause.id in proofs()
    }
    assert not proven, "Remove `| open: ...` from tests/contract/"
