"""What a docstring says of a function and of its parameters."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Documentation:
    """The description, and a sentence for each documented parameter."""

    description: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)


def read_docstring(text: str | None) -> Documentation:
    """Return the parts of a docstring in Google, NumPy, reST or Epydoc style."""
    if not text:
        return Documentation()
    from docstring_parser import ParseError, parse

    cleaned = inspect.cleandoc(text)
    try:
        parsed = parse(cleaned)
    except ParseError:
        return Documentation(cleaned)
    parameters = {
        item.arg_name: " ".join(item.description.split()) for item in parsed.params if item.description
    }
    return Documentation((parsed.description or cleaned).strip(), parameters)
