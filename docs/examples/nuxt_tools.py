"""The snippets of docs/compare-nuxt-tools.md."""

# [start:imports]
import datetime as dt
from typing import Annotated, Any, Literal
from urllib.parse import quote

import httpx2
from django.conf import settings
from django.http import HttpRequest
from pydantic import BaseModel, Field

from mcp_server import CacheOptions, EmbeddedResource, Image, ToolError, ToolResult, tool

# [end:imports]


# [start:echo]
@tool
def echo(message: Annotated[str, Field(description="The message to echo back")]) -> str:
    """Echo back a message."""
    return f"Echo: {message}"


# [end:echo]


# [start:derived]
@tool
def list_documentation() -> list[str]:
    """List all documentation files."""
    return ["index.md", "tools.md"]


# [end:derived]


# [start:calculator]
@tool
def calculator(
    operation: Annotated[Literal["add", "multiply"], Field(description="Operation to perform")],
    a: Annotated[float, Field(description="First number")],
    b: Annotated[float, Field(description="Second number")],
    format: Annotated[Literal["decimal", "fraction"], Field(description="Output format")],
    numbers: Annotated[list[float], Field(description="List of numbers")],
    precision: Annotated[int | None, Field(description="Decimal precision")] = None,
) -> str:
    """Calculate."""
    result = a + b if operation == "add" else a * b
    for number in numbers:
        result = result + number if operation == "add" else result * number
    if format == "fraction":
        return "/".join(map(str, result.as_integer_ratio()))
    return str(result if precision is None else round(result, precision))


# [end:calculator]


# [start:types]
class Address(BaseModel):
    city: str


@tool
def all_types(
    text: Annotated[str, Field(min_length=1, max_length=100)],
    number: Annotated[float, Field(ge=0, le=100)],
    flag: bool,
    items: list[str],
    nested: Address,
    choice: Literal["a", "b"],
    optional: str | None = None,
    default: str = "value",
) -> list[str]:
    """Take one argument of each type."""
    return [text, str(number), str(flag), *items, nested.city, choice, str(optional), default]


# [end:types]


# [start:bmi]
class Bmi(BaseModel):
    bmi: float
    category: str


@tool
def calculate_bmi(
    weight_kg: Annotated[float, Field(alias="weightKg", description="Weight in kilograms")],
    height_m: Annotated[float, Field(alias="heightM", description="Height in meters")],
) -> Bmi:
    """Calculate Body Mass Index."""
    bmi = weight_kg / (height_m * height_m)
    limits = ((18.5, "Underweight"), (25, "Normal"), (30, "Overweight"))
    category = next((name for limit, name in limits if bmi < limit), "Obese")
    return Bmi(bmi=round(bmi, 2), category=category)


# [end:bmi]


# [start:returns]
@tool
def greet(name: str) -> str:
    """Return a text."""
    return f"Hello {name}"  # Hello World


@tool
def add(a: float, b: float) -> float:
    """Return a number."""
    return a + b  # 10


@tool
def find_user(id: str) -> dict[str, Any]:
    """Return an object."""
    return {"id": id, "joined": dt.date(2026, 1, 31)}  # {"id": ..., "joined": "2026-01-31"}


@tool
def exists(id: str) -> bool:
    """Return true or false."""
    return id == "1"  # true


# [end:returns]


# [start:content]
@tool
def draw_chart(data: list[float]) -> Image:
    """Generate a chart."""
    return Image(png_of(data), "image/png")  # bytes, or base64 as text


@tool
def read_file() -> EmbeddedResource:
    """Return a resource."""
    return EmbeddedResource(uri="file:///path/to/file", text="File content", mime_type="text/plain")


@tool
def measure() -> ToolResult:
    """Return structured content and a picture."""
    return ToolResult(
        content=["As measured:", Image(png_of([25.5]))],
        structured_content={"bmi": 25.5, "category": "Normal"},
    )


# [end:content]


def png_of(data: list[float]) -> bytes:
    """Return a picture; what draws it is not the point here."""
    return b"\x89PNG" + bytes(int(value) % 256 for value in data)


# [start:annotations]
@tool(annotations="delete")
def delete_user(user_id: Annotated[str, Field(alias="userId")]) -> str:
    """Delete a user account."""
    return f"Deleted {user_id}."


@tool(read_only=False, destructive=True, idempotent=True, open_world=False)
def delete_page(path: str) -> str:
    """Delete a page; each hint said by itself."""
    return f"Deleted {path}."


# [end:annotations]


# [start:examples]
@tool(
    input_examples=[
        {"title": "Buy groceries", "content": "Milk, eggs, bread"},
        {"title": "Fix login bug"},  # content is optional
    ]
)
def create_todo(
    title: Annotated[str, Field(description="The title of the todo")],
    content: Annotated[str | None, Field(description="Optional description")] = None,
) -> str:
    """Create a new todo."""
    return f"{title}: {content}"


# [end:examples]


# [start:errors]
@tool
def get_user(id: str) -> dict[str, str]:
    """Get a user by ID."""
    if id != "1":
        raise ToolError("User not found", 404)  # [404] User not found
    return {"id": id}


@tool
def save_user(name: str, email: str) -> str:
    """Save a user."""
    missing = [field for field, value in (("name", name), ("email", email)) if not value]
    if missing:
        raise ToolError("Validation failed", 400, data={"fields": missing})
    return "Saved."


@tool
def safe_divide(a: float, b: float) -> float:
    """Divide."""
    if b == 0:
        raise ToolError("Division by zero")  # Division by zero
    return a / b


# [end:errors]


# [start:cache]
@tool(cache="1h")  # or "30m", "2 days", timedelta(hours=1), 3600 seconds
def cached_data(id: str) -> dict[str, str]:
    """Fetch data with 1 hour cache."""
    return fetch_expensive(id)


# [end:cache]


# [start:cache_options]
@tool(cache=CacheOptions(max_age="1h", key=lambda path: f"page-{path}", swr=True))
def cached_page(path: str) -> dict[str, str]:
    """Get page with custom cache key."""
    return fetch_expensive(path)


# [end:cache_options]


FETCHED: list[str] = []


def fetch_expensive(key: str) -> dict[str, str]:
    """Return what took long to find."""
    FETCHED.append(key)
    return {"key": key, "number": str(len(FETCHED))}


# [start:weather]
@tool(read_only=True, open_world=True)
async def get_weather(city: Annotated[str, Field(description="City name")]) -> dict[str, Any]:
    """Get current weather for a city."""
    async with httpx2.AsyncClient() as client:
        response = await client.get(f"{settings.WEATHER_URL}/{quote(city)}")
    if response.status_code == 404:
        raise ToolError(f'City "{city}" not found', 404)
    response.raise_for_status()  # the model reads the status, and nothing of the URL
    found: dict[str, Any] = response.json()
    return found


# [end:weather]


# [start:group]
@tool(group="admin", tags=["destructive", "user-management"])
def remove_user(user_id: Annotated[str, Field(alias="userId")]) -> str:
    """Delete a user account."""
    return f"Deleted {user_id}."


# [end:group]


# [start:enabled]
def is_admin(request: HttpRequest) -> bool:
    return request.user.groups.filter(name="admin").exists()


@tool(enabled=is_admin)
def admin_tool() -> str:
    """Admin-only tool."""
    return "42"


# [end:enabled]
