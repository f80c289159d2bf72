"""The work that every column does."""

from typing import Any

from django.contrib.auth.models import Group


def add(a: int, b: int) -> int:
    return a + b


def rows() -> list[dict[str, Any]]:
    return list(Group.objects.values("id", "name"))


def echo(text: str) -> str:
    return text
