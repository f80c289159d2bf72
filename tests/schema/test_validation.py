"""Properties of validation: it never crashes, and function and schema agree (T04, T06)."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from mcp_server import tool
from mcp_server.schema.output import read_output
from mcp_server.schema.signature import read_arguments
from mcp_server.schema.validation import InvalidArguments
from tests.door import call, loop_value, run, serving
from tests.schema.generated import EXACT, JSON, KINDS, Kind, Parameter, fitting, function_of, parameter_lists

QUICK = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
THROUGH_HTTP = settings(QUICK, max_examples=25)
THROUGH_CODE = settings(QUICK, max_examples=10)


@pytest.mark.proves("T06a", "T06b")
@QUICK
@given(st.data())
def test_what_the_function_accepts_its_schema_accepts_and_nothing_crashes_validation(data: st.DataObject):
    parameters: list[Parameter] = data.draw(parameter_lists())
    arguments = read_arguments(function_of(parameters))
    Draft202012Validator.check_schema(arguments.json_schema)
    names = st.sampled_from([item.sent_as for item in parameters]) if parameters else st.nothing()
    sent = data.draw(
        fitting(parameters) | st.dictionaries(names | st.text(), JSON | st.one_of(*[p.kind.values for p in parameters]))
    )  # fmt: skip
    kept: dict[str, Any] = {}
    refused: InvalidArguments | None = None
    try:
        kept = arguments.validate(sent)
    except InvalidArguments as error:
        refused = error
    if refused is not None:
        assert refused.problems
        assert all(problem.field and problem.message for problem in refused.problems)
        return
    assert set(kept) == {item.name for item in parameters}
    errors = list(Draft202012Validator(arguments.json_schema).iter_errors(sent))
    assert not errors, errors[0].message


@pytest.mark.proves("T04a", "T04b", "T04c", "T04d", "T04f")
@QUICK
@given(st.data())
def test_what_fits_is_accepted(data: st.DataObject):
    parameters: list[Parameter] = data.draw(parameter_lists())
    arguments = read_arguments(function_of(parameters))
    sent = data.draw(fitting(parameters))
    Draft202012Validator(arguments.json_schema).validate(sent)
    kept = arguments.validate(sent)
    for item in parameters:
        if item.sent_as in sent:
            adapter: TypeAdapter[Any] = TypeAdapter(item.kind.annotation)
            assert kept[item.name] == adapter.validate_python(sent[item.sent_as])
        else:
            assert kept[item.name] is None


@pytest.mark.proves("T07a", "T11a")
@QUICK
@given(st.data())
def test_what_a_declared_output_writes_its_schema_describes(data: st.DataObject):
    from pydantic_core import from_json

    kind: Kind = data.draw(KINDS)
    output = read_output(lambda: None, kind.annotation)
    assert output is not None
    value = TypeAdapter(kind.annotation).validate_python(data.draw(kind.values))
    plain = from_json(output.dump(value))
    Draft202012Validator(output.json_schema).validate(plain)
    Draft202012Validator(output.wrapped_schema).validate(output.wrap(plain))


@pytest.fixture
def echo(db: Any) -> Iterator[None]:
    with serving():

        @tool
        def echo(value: Any) -> Any:
            return value

        yield


def wrapped(value: Any) -> Any:
    if isinstance(value, dict) or value is None:
        return value
    return {"results": value} if isinstance(value, list) else {"result": value}


@pytest.mark.proves("R01", "R03a", "R03b", "R04", "T08c")
@THROUGH_HTTP
@given(JSON)
def test_any_value_comes_back_from_the_client_loop(echo: None, value: Any):
    assert loop_value(call("echo", {"value": value}, endpoint="json")) == wrapped(value)
    text = call("echo", {"value": value})
    if isinstance(value, dict | list):
        assert loop_value(text) == value


@pytest.mark.proves("C07b")
@THROUGH_CODE
@given(st.lists(EXACT, max_size=5))
def test_any_value_goes_through_a_program_and_back(echo: None, values: list[Any]):
    sent = json.dumps(json.dumps(values))
    got = run(f"return await Promise.all(JSON.parse({sent}).map(value => codemode.echo({{value}})))")
    assert got == values
