"""The snippets of docs/tools.md."""

# [start:imports]
import datetime as dt
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from mcp_server import CacheOptions, Context, Guidance, Image, ToolError, ToolResult, tool

# [end:imports]


# [start:first]
@tool
def echo(message: str) -> str:
    """Echo back a message.

    Args:
        message: The message to echo back.
    """
    return f"Echo: {message}"


# [end:first]


# [start:arguments]
class Address(BaseModel):
    city: str
    zip_code: str = Field(alias="zipCode", min_length=4)


@tool(annotations="create", input_examples=[{"title": "Fix login bug", "userId": "7"}])
def add_task(
    title: Annotated[str, Field(min_length=1, max_length=100)],
    user_id: Annotated[str, Field(alias="userId", description="Whose task it is")],
    priority: Literal["low", "high"] = "low",
    hours: Annotated[float, Field(ge=0, le=100)] = 1,
    tags: list[str] | None = None,
    place: Address | None = None,
    due: dt.date | None = None,
) -> str:
    """Add a task."""
    return (
        f"{user_id}: {title} ({priority}, {hours} h, {len(tags or [])} tags, {place and place.city}, {due})"
    )


# [end:arguments]


# [start:output]
class Bmi(BaseModel):
    bmi: float
    category: Literal["normal", "overweight", "obese"]


@tool(annotations="read")
def calculate_bmi(weight_kg: Annotated[float, Field(gt=0)], height_m: Annotated[float, Field(gt=0)]) -> Bmi:
    """Calculate the body mass index."""
    bmi = round(weight_kg / height_m**2, 2)
    return Bmi(bmi=bmi, category="normal" if bmi < 25 else "overweight" if bmi < 30 else "obese")


# [end:output]


# [start:errors]
USERS = {"1": "Ada"}


@tool(annotations="read")
def find_user(id: str, ctx: Context) -> dict[str, str]:
    """Find a user."""
    if not ctx.user.is_authenticated:
        raise Guidance("Sign in at https://example.com/accounts/ first.")
    if id not in USERS:
        raise ToolError("User not found", 404, data={"known": list(USERS)})
    return {"id": id, "name": USERS[id]}


# [end:errors]


# [start:progress]
@tool(timeout=120)
async def index_pages(count: int, ctx: Context) -> str:
    """Index pages, and say how far it is."""
    for number in range(1, count + 1):
        await ctx.aprogress(number, count, f"page {number}")
    return f"Indexed {count} pages."


# [end:progress]


# [start:confirm]
@tool(annotations="delete")
def empty_trash(ctx: Context) -> str:
    """Delete what is in the trash, after a person has agreed."""
    if not ctx.confirm("Delete 12 documents for good?"):
        return "Nothing was deleted."
    return "Deleted 12 documents."


# [end:confirm]


# [start:media]
@tool(annotations="read")
def draw_dot() -> ToolResult:
    """Draw a dot."""
    return ToolResult(
        content=["A dot:", Image(DOT, "image/gif")], structured_content={"width": 1, "height": 1}
    )


DOT = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
# [end:media]


# [start:cache]
@tool(annotations="read", cache="5m")
def exchange_rates() -> dict[str, float]:
    """Return the exchange rates of today."""
    return {"EUR": 1.0, "USD": 1.08}


@tool(annotations="read", cache=CacheOptions("1h", swr=True, vary_on_user=False))
def opening_hours() -> str:
    """Say when the shop is open."""
    return "9 to 17"


# [end:cache]
