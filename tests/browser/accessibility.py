"""What axe-core finds on a page as the browser shows it."""

import functools
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tests import node

if TYPE_CHECKING:
    from playwright.sync_api import Page

GRAVE = ("serious", "critical")

OF_DJANGO: Mapping[tuple[str, str], str] = {
    ("label-title-only", "#searchbar"): (
        "admin/search_form.html names its field by a picture; axe calls that too little as soon as `search_help_text` "
        "describes the field as well, on every ModelAdmin that has one"
    ),
}
"""Faults of Django's own templates by rule and element, each with the reason why it is not ours to mend."""


@functools.cache
def axe() -> str:
    """Return the program; it is put into pages by the debugger, which no Content-Security-Policy hinders."""
    if reason := node.missing():
        raise RuntimeError(reason)
    return (node.FOLDER / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


def grave_faults(page: "Page") -> list[str]:
    """Return what keeps people from using the page: rule, element and what axe says of it."""
    page.evaluate(f"{axe()};0")
    found = page.evaluate("axe.run(document, {resultTypes: ['violations'], preload: false})")
    return [
        _describe(fault, element)
        for fault in found["violations"]
        for element in fault["nodes"]
        if fault["impact"] in GRAVE and (fault["id"], _place(element)) not in OF_DJANGO
    ]


def _place(element: dict[str, Any]) -> str:
    return " ".join(part if isinstance(part, str) else json.dumps(part) for part in element["target"])


def _describe(fault: dict[str, Any], element: dict[str, Any]) -> str:
    return f"{fault['id']} at {_place(element)}: {element['failureSummary']}"
