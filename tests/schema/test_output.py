"""Return annotations that look right and cannot be read."""

import sys
import typing

import pytest

from mcp_server.exceptions import ConfigurationError
from mcp_server.schema.output import read_output


@pytest.mark.proves("T11a")
def test_a_typed_dict_that_pydantic_cannot_read_is_named_instead_of_dropped() -> None:
    class Row(typing.TypedDict):
        name: str

    def rows() -> list[Row]:
        return []

    rows.__annotations__["return"] = list[Row]
    if sys.version_info >= (3, 12):
        output = read_output(rows)
        assert output is not None
        assert output.is_list
        return
    with pytest.raises(ConfigurationError, match="TypedDict") as caught:
        read_output(rows)
    assert "typing_extensions" in caught.value.hint
