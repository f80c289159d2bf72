"""From Django's instances to what pydantic reads: rows of a QuerySet or a relation, fields of an instance (contract T08)."""

import dataclasses
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Manager, Model, QuerySet
from pydantic import BaseModel
from typing_extensions import ReadOnly, is_typeddict

SCALARS = frozenset({str, int, float, bool, type(None)})
"""Types of most values that tools give back, which hold nothing to look into."""

_WRAPPERS = (typing.Annotated, typing.Required, typing.NotRequired, ReadOnly)


@dataclass(slots=True)
class Plan:
    """How values of one declared type are read; an empty plan leaves them as they are."""

    rows: "Plan | None" = None
    fields: Mapping[str, "Plan"] = field(default_factory=dict)
    by_attributes: bool = False

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to read."""
        return self.rows is None and not self.fields and not self.by_attributes


def plan_for(annotation: Any) -> Plan:
    """Return the plan for a type; recursive types are fine."""
    return _plan(annotation, {})


def read_instances(value: Any, plan: Plan) -> Any:
    """Return the value with Django's objects opened where the plan's type has rows or fields."""
    if plan.rows is not None:
        return _read_rows(value, plan.rows)
    if not isinstance(value, Model):
        return value
    if plan.by_attributes:
        return _Instance(value)
    return {name: read_instances(getattr(value, name), part) for name, part in plan.fields.items()} or value


def holds_instances(value: Any) -> bool:
    """Return whether reading the value may ask the database, as far as a look at its first items tells."""
    if type(value) in SCALARS:
        return False
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return any(holds_instances(item) for item in value[:10])
    return isinstance(value, Model | QuerySet | Manager)


class _Instance:
    """An instance whose relations are lists, as pydantic reads it by attributes."""

    __slots__ = ("_instance",)

    def __init__(self, instance: Model) -> None:
        self._instance = instance

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._instance, name)
        if isinstance(value, Manager):
            return [_Instance(item) for item in value.all()]
        return _Instance(value) if isinstance(value, Model) else value


def _read_rows(value: Any, plan: Plan) -> Any:
    if isinstance(value, Manager):
        value = value.all()
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        return value
    return list(value) if plan.is_empty else [read_instances(item, plan) for item in value]


def _plan(annotation: Any, known: dict[int, Plan]) -> Plan:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in _WRAPPERS:
        return _plan(arguments[0], known)
    if origin in {typing.Union, types.UnionType}:
        plans = [_plan(item, known) for item in arguments]
        return next((plan for plan in plans if not plan.is_empty), Plan())
    if isinstance(origin, type) and issubclass(origin, Iterable) and not issubclass(origin, Mapping):
        return Plan(rows=_plan(arguments[0], known) if arguments else Plan())
    target = origin or annotation
    return _plan_class(target, known) if isinstance(target, type) else Plan()


def _plan_class(target: type, known: dict[int, Plan]) -> Plan:
    if issubclass(target, BaseModel):
        return Plan(by_attributes=True)
    if id(target) in known:
        return known[id(target)]
    found = known[id(target)] = Plan()
    if is_typeddict(target) or dataclasses.is_dataclass(target):
        hints = typing.get_type_hints(target, include_extras=True)
        found.fields = {name: _plan(hint, known) for name, hint in hints.items()}
    return found
