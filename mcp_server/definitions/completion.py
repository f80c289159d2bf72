"""`complete=`: what a parameter of a prompt or a resource template may be, for people who type (contract P03)."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Union

from django.db.models import QuerySet

from mcp_server.exceptions import ConfigurationError

MOST = 100
"""So many values the protocol allows in an answer."""

Source = Union[Sequence[Any], "QuerySet[Any]", Callable[..., Iterable[Any]]]
Completions = Mapping[str, Source]


def as_completions(given: Any, names: Sequence[str]) -> Completions:
    """Return the completions that a decorator's `complete=` means.

    Args:
        given: a dict from parameters to lists of values, querysets of one column, or functions of the typed text.
        names: the parameters that there are.

    Raises:
        ConfigurationError: when a parameter is unknown, or its source cannot give texts.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ConfigurationError("complete= is not a dict.", 'Write complete={"parameter": ["value", ...]}.')
    for name, source in given.items():
        if name not in names:
            raise ConfigurationError(
                f"complete= names {name!r}, which is no parameter.",
                f"The parameters are {', '.join(names) or 'none'}.",
            )
        if isinstance(source, QuerySet):
            _column(source)
        elif isinstance(source, str) or not (callable(source) or isinstance(source, Sequence)):
            raise ConfigurationError(
                f"complete= cannot use {source!r}.", "Give a list, a queryset or a function."
            )
    return dict(given)


def _column(queryset: "QuerySet[Any]") -> str:
    selected: Sequence[str] = queryset.query.values_select
    if len(selected) != 1:
        raise ConfigurationError(
            "complete= needs a queryset of one column.", 'Write Model.objects.values_list("name", flat=True).'
        )
    return selected[0]


def suggest(source: Source, typed: str, others: Mapping[str, str]) -> tuple[list[str], bool]:
    """Return values that begin with what was typed, and whether there are more than may be sent.

    Args:
        source: as the author gave it.
        typed: by the person, so far.
        others: parameters that are settled already; a function gets those that it names.
    """
    found: Iterable[Any]
    if isinstance(source, QuerySet):
        column = _column(source)
        rows = (
            source.filter(**{f"{column}__istartswith": typed}).order_by(column).values_list(column, flat=True)
        )
        # The slice comes after `distinct`, so that doubles do not push others out.
        found = rows.distinct()[: MOST + 1]
    elif callable(source):
        named = inspect.signature(source).parameters
        found = source(typed, **{name: value for name, value in others.items() if name in named})
    else:
        start = typed.casefold()
        found = (item for item in source if str(item).casefold().startswith(start))
    values = [str(item) for item, _ in zip(found, range(MOST + 1), strict=False)]
    return values[:MOST], len(values) > MOST
