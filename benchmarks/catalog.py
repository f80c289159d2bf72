"""Tokens that a model pays for 10 to 500 tools, as a plain list and in Code Mode (contract Q05).

    python -m benchmarks.catalog [--estimate] [--show N]

Counted with o200k (the npm package gpt-tokenizer, which has the ranks in it) where npm is installed, else estimated by
`mcp_server.codemode.tokens`. The plain list is what a host passes on to its model: name, description and input schema of
each tool as compact JSON, without output schemas. "twice" counts two model requests: Code Mode always needs two (write
the program, read its answer), a plain list one for each call and one for the answer.

The rich tools are 20 resources by 5 verbs, each resource a pydantic model of its own with an enumeration, described
fields and nested models, each with a paged list as output. Beyond 100 the resources come again under other names with
one more field, so that nothing is shared between the copies but what a project would share too. The small tools have
at most three plain arguments and no output.
"""

import argparse
import enum
import functools
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field, create_model

from mcp_server.codemode.catalog import Detail, describe, describe_search
from mcp_server.codemode.tokens import estimate_tokens
from mcp_server.definitions.annotations import Annotations, as_annotations
from mcp_server.schema.output import Output, read_output
from mcp_server.schema.signature import Arguments, read_arguments
from tests import node

SIZES = (10, 25, 50, 100, 500)


class Money(BaseModel):
    """An amount in one currency."""

    amount: float = Field(ge=0)
    currency: Literal["EUR", "USD", "GBP", "CNY"] = "EUR"


class Address(BaseModel):
    """Where letters arrive."""

    street: str
    city: str
    postcode: str = Field(description="as written on letters")
    country: str = Field(description="ISO 3166 code", min_length=2, max_length=2)


class Person(BaseModel):
    """Someone with a name."""

    id: int
    name: str
    email: str | None = Field(None, description="work address")


def _choice(name: str, *values: str) -> Any:
    return enum.Enum(name, {value: value for value in values})


RESOURCES: dict[str, dict[str, Any]] = {
    "customer": {
        "name": (str, Field(description="as on invoices", max_length=200)),
        "email": (str, Field(json_schema_extra={"format": "email"})),
        "address": (Address, ...),
        "tier": (_choice("CustomerTier", "free", "pro", "enterprise"), "free"),
        "vat_number": (str | None, Field(None, description="with country prefix")),
    },
    "order": {
        "customer_id": (int, ...),
        "status": (_choice("OrderStatus", "draft", "placed", "paid", "shipped", "cancelled"), "draft"),
        "total": (Money, ...),
        "placed_at": (datetime | None, None),
        "ship_to": (Address, ...),
        "note": (str, Field("", description="shown to the packer", max_length=500)),
    },
    "product": {
        "title": (str, Field(max_length=120)),
        "sku": (str, Field(description="stock keeping unit", pattern="^[A-Z]{3}-[0-9]+$")),
        "price": (Money, ...),
        "tags": (list[str], Field(default_factory=list, max_length=20)),
        "visibility": (_choice("Visibility", "hidden", "catalog", "everywhere"), "hidden"),
    },
    "invoice": {
        "order_id": (int, ...),
        "due": (date, Field(description="last day to pay without reminder")),
        "amount": (Money, ...),
        "state": (_choice("InvoiceState", "open", "paid", "overdue", "void"), "open"),
        "reminders": (int, Field(0, ge=0, le=3, description="letters sent so far")),
    },
    "ticket": {
        "subject": (str, Field(max_length=140)),
        "body": (str, Field(description="Markdown")),
        "priority": (_choice("TicketPriority", "low", "normal", "high", "urgent"), "normal"),
        "assignee": (Person | None, None),
        "labels": (list[str], Field(default_factory=list)),
    },
    "project": {
        "title": (str, ...),
        "owner": (Person, ...),
        "budget": (Money, ...),
        "phase": (_choice("ProjectPhase", "idea", "planned", "running", "closed"), "idea"),
        "deadline": (date | None, Field(None, description="agreed with the customer")),
    },
    "task": {
        "title": (str, ...),
        "project_id": (int, ...),
        "estimate_hours": (float, Field(0, ge=0, le=400, description="ideal hours")),
        "state": (_choice("TaskState", "todo", "doing", "blocked", "done"), "todo"),
        "assignees": (list[Person], Field(default_factory=list)),
    },
    "employee": {
        "person": (Person, ...),
        "role": (str, Field(description="job title in English")),
        "salary": (Money, ...),
        "contract": (_choice("Contract", "permanent", "temporary", "intern"), "permanent"),
        "started": (date, ...),
        "manager_id": (int | None, None),
    },
    "shipment": {
        "order_id": (int, ...),
        "carrier": (_choice("Carrier", "dhl", "ups", "fedex", "post"), "post"),
        "tracking": (str | None, Field(None, description="the carrier's own number")),
        "weight_kg": (float, Field(gt=0, le=70)),
        "destination": (Address, ...),
    },
    "warehouse": {
        "code": (str, Field(min_length=3, max_length=3)),
        "location": (Address, ...),
        "capacity": (int, Field(ge=0, description="pallet places")),
        "climate": (_choice("Climate", "none", "cooled", "frozen"), "none"),
    },
    "supplier": {
        "name": (str, ...),
        "contact": (Person, ...),
        "rating": (float, Field(ge=0, le=5, description="mean of the last year")),
        "terms": (_choice("PaymentTerms", "prepaid", "net14", "net30"), "net30"),
        "address": (Address, ...),
    },
    "payment": {
        "invoice_id": (int, ...),
        "amount": (Money, ...),
        "method": (_choice("PaymentMethod", "card", "transfer", "cash"), "card"),
        "received_at": (datetime, ...),
        "reference": (UUID, Field(description="from the bank")),
    },
    "coupon": {
        "code": (str, Field(min_length=4, max_length=16)),
        "percent": (int, Field(ge=1, le=100, description="off the net price")),
        "valid_until": (date, ...),
        "scope": (_choice("CouponScope", "order", "product", "shipping"), "order"),
        "uses_left": (int | None, None),
    },
    "review": {
        "product_id": (int, ...),
        "author": (Person, ...),
        "stars": (int, Field(ge=1, le=5)),
        "text": (str, Field("", description="plain text", max_length=4000)),
        "moderation": (_choice("Moderation", "pending", "shown", "rejected"), "pending"),
    },
    "campaign": {
        "title": (str, ...),
        "channel": (_choice("Channel", "email", "sms", "web"), "email"),
        "budget": (Money, ...),
        "starts": (datetime, ...),
        "audience": (dict[str, str], Field(default_factory=dict, description="segment by attribute")),
    },
    "document": {
        "title": (str, ...),
        "media_type": (str, Field(description="MIME type")),
        "size": (int, Field(ge=0, description="bytes")),
        "access": (_choice("Access", "private", "team", "public"), "private"),
        "owner": (Person, ...),
    },
    "event": {
        "title": (str, ...),
        "starts": (datetime, ...),
        "ends": (datetime, Field(description="exclusive")),
        "attendees": (list[Person], Field(default_factory=list)),
        "kind": (_choice("EventKind", "meeting", "holiday", "deadline"), "meeting"),
    },
    "asset": {
        "label": (str, ...),
        "serial": (str, Field(description="on the back")),
        "bought": (date, ...),
        "value": (Money, ...),
        "condition": (_choice("Condition", "new", "used", "broken", "lost"), "new"),
        "holder_id": (int | None, None),
    },
    "subscription": {
        "customer_id": (int, ...),
        "plan": (_choice("Plan", "basic", "plus", "max"), "basic"),
        "price": (Money, ...),
        "renews": (date | None, Field(None, description="nothing when it was cancelled")),
        "seats": (int, Field(1, ge=1, le=10_000)),
    },
    "article": {
        "slug": (str, Field(pattern="^[a-z0-9-]+$")),
        "title": (str, ...),
        "body": (str, Field(description="Markdown")),
        "language": (_choice("Language", "en", "de", "fr", "zh"), "en"),
        "author": (Person, ...),
        "published_at": (datetime | None, None),
    },
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Tool:
    """A tool as the catalogue sees it; the schemas come from where the product's own come from."""

    name: str
    description: str
    arguments: Arguments
    output: Output | None = None
    annotations: Annotations | None = None
    input_examples: tuple[dict[str, Any], ...] = ()
    title: str = ""
    group: str = ""
    tags: tuple[str, ...] = field(default=())


@functools.cache
def rich_tools(count: int) -> tuple[Tool, ...]:
    found: list[Tool] = []
    for copy in range(-(-count // (len(RESOURCES) * 5))):
        for name, fields in RESOURCES.items():
            suffix = f"{copy + 1}" if copy else ""
            more = {f"extra{copy}": (str | None, Field(None, description="of this copy"))} if copy else {}
            found += _verbs(name + suffix, fields | more)
    return tuple(found[:count])


@functools.cache
def small_tools(count: int) -> tuple[Tool, ...]:
    found: list[Tool] = []
    names = [name + (f"{copy + 1}" if copy else "") for copy in range(5) for name in RESOURCES]
    for name in names:
        found += _small_verbs(name)
    return tuple(found[:count])


def plain_list(tools: Iterable[Tool]) -> str:
    return "\n".join(
        json.dumps(
            {
                "name": tool.name,
                "description": tool.description,
                "input_schema": dict(tool.arguments.json_schema),
            },
            separators=(",", ":"),
            ensure_ascii=False,
        )
        for tool in tools
    )


def _verbs(name: str, fields: dict[str, Any]) -> Iterator[Tool]:
    title = name.capitalize()
    model = create_model(title, id=(int, ...), **fields, created_at=(datetime, ...))
    page = create_model(f"{title}Page", results=(list[model], ...), next_cursor=(str | None, None))
    identity = {"id": (int, Field(ge=1, description=f"the {name}'s number"))}
    optional = {key: (value[0] | None, _without_default(value[1])) for key, value in fields.items()}
    choice = next(key for key, value in fields.items() if isinstance(value[0], enum.EnumType))
    search = {
        "query": (str | None, Field(None, description="words in any text field")),
        choice: (fields[choice][0] | None, None),
        "limit": (int, Field(20, ge=1, le=100, description="how many at most")),
        "cursor": (str | None, Field(None, description="next_cursor of the page before")),
    }
    yield make_tool(
        f"list-{name}s", f"List {name}s that match, newest first, in pages.", "read", (search, page)
    )
    yield make_tool(f"get-{name}", f"Get one {name} by its number.", "read", (identity, model))
    yield make_tool(f"create-{name}", f"Create a {name} and return it as stored.", "create", (fields, model))
    yield make_tool(
        f"update-{name}",
        f"Change some fields of a {name}; what is left out stays.",
        "update",
        (identity | optional, model),
    )
    yield make_tool(
        f"delete-{name}",
        f"Delete a {name} for good. Fails with 409 while others refer to it.",
        "delete",
        (identity, None),
    )


def _small_verbs(name: str) -> Iterator[Tool]:
    identity = {"id": (int, ...)}
    yield make_tool(
        f"list-{name}s", f"List {name}s.", "read", ({"limit": (int, 20), "query": (str, "")}, None)
    )
    yield make_tool(f"get-{name}", f"Get {name} by id.", "read", (identity, None))
    yield make_tool(
        f"create-{name}", f"Create {name}.", "create", ({"title": (str, ...), "note": (str, "")}, None)
    )
    yield make_tool(
        f"update-{name}", f"Update {name}.", "update", (identity | {"title": (str | None, None)}, None)
    )
    yield make_tool(f"delete-{name}", f"Delete {name}.", "delete", (identity, None))


def make_tool(name: str, description: str, annotations: str, types: tuple[dict[str, Any], Any]) -> Tool:
    def handler() -> None: ...

    fields, output = types
    model = create_model(f"{name}-arguments", **fields)
    return Tool(
        name=name,
        title=name.replace("-", " ").title(),
        description=description,
        arguments=read_arguments(handler, input_schema=model),
        output=None if output is None else read_output(handler, output),
        annotations=as_annotations({"annotations": annotations}),
    )


def _without_default(info: Any) -> Any:
    if not hasattr(info, "description"):
        return None
    return Field(None, description=info.description)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--estimate", action="store_true", help="estimate, even where npm is installed")
    parser.add_argument(
        "--show", type=int, metavar="N", help="print the description for N rich tools instead"
    )
    options = parser.parse_args()
    if options.show:
        print(describe("benchmark", rich_tools(options.show)).text)
        return
    reason = "--estimate" if options.estimate else node.missing()
    print(
        f"Tokenizer: {f'estimate ({reason})' if reason else 'o200k_base'}; each cell: one request / two requests\n"
    )
    for kind, make in (("small", small_tools), ("rich", rich_tools)):
        _print_table(kind, make, exact=not reason)


def _print_table(kind: str, make: Any, *, exact: bool) -> None:
    print(f"{kind:>12} {'plain list':>16} " + "".join(f"{step:>16}" for step in (*Detail, "auto")))
    for count in SIZES:
        tools = make(count)
        texts = [
            plain_list(tools),
            *(describe("benchmark", tools, detail=step).text for step in (*Detail, "auto")),
        ]
        texts[1 + list(Detail).index(Detail.PROGRESSIVE)] += describe_search(count)
        chosen = describe("benchmark", tools).detail
        if chosen is Detail.PROGRESSIVE:
            texts[-1] += describe_search(count)
        counted = node.count_tokens(texts) if exact else [estimate_tokens(text) for text in texts]
        cells = "".join(f"{f'{tokens:,} / {2 * tokens:,}':>16}" for tokens in counted[1:])
        print(f"{count:>6} tools {f'{counted[0]:,} / {2 * counted[0]:,}':>16} {cells}  auto = {chosen}")
        if exact:
            off = [
                (estimate_tokens(text) - tokens) / tokens for text, tokens in zip(texts, counted, strict=True)
            ]
            print(f"{'':>12} our estimate is off by {min(off):+.0%} to {max(off):+.0%}")
    print()


if __name__ == "__main__":
    main()
