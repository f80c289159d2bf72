"""The snippets of docs/compare-unified.md."""

# [start:endpoint]
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from mcp_server import Guidance, ToolError, endpoint, has_scope, tool

endpoint("data", result_format="json", tools=["list-*", "get-*", "create-*", "remove-*"])
# [end:endpoint]


# [start:tools]
class Email(TypedDict):
    email: str


class Contact(TypedDict):
    id: str
    name: str
    emails: list[Email]


CONTACTS: dict[str, Contact] = {
    "123": {"id": "123", "name": "Jane Doe", "emails": [{"email": "jane@example.com"}]},
    "124": {"id": "124", "name": "Jörg Böhm", "emails": []},
}


@tool(annotations="read")
def list_contacts(limit: Annotated[int, Field(ge=1, le=100)] = 100) -> list[Contact]:
    """List contacts."""
    return list(CONTACTS.values())[:limit]


@tool(annotations="read")
def get_contact(id: str) -> Contact:
    """Get one contact."""
    if id not in CONTACTS:
        raise ToolError("Contact not found", 404)
    return CONTACTS[id]


@tool(annotations="delete")
def remove_contact(id: str) -> None:
    """Remove a contact."""
    CONTACTS.pop(id, None)


# [end:tools]


# [start:guidance]
@tool(enabled=has_scope("deals", explain="Ask the user to connect again, with the scope deals."))
def list_deals() -> list[str]:
    """List deals."""
    return ["Big deal"]


@tool
def get_forecast() -> str:
    """Get the forecast."""
    raise Guidance("The forecast is in preview. Ask the user to join at https://example.com/preview.")


# [end:guidance]
