"""What a language model may do in the shop."""

import datetime as dt
from typing import Annotated

from django.db.models import Count, Sum
from pydantic import Field
from typing_extensions import TypedDict

from demo_project.people.mcp_tools import find_user
from demo_project.shop.models import Order, Product, Reminder, Todo
from mcp_server import ToolError, endpoint, in_group, model_tools, tool

# The same tools once more, for models that write a program instead of calling them one by one.
endpoint("code", title="Demo shop, in code", code_mode="on")

# Who may view or delete reminders in the admin may do so here.
model_tools(
    Reminder,
    fields=["user", "text", "sent"],
    actions=["list", "get", "delete"],
    filters=["user", "sent__gte"],
)

UserId = Annotated[str, Field(alias="userId", description="The user's id, as in list-users", max_length=20)]


class TodoRow(TypedDict):
    id: str
    userId: str
    title: str
    done: bool
    due: dt.date | None
    overdue: bool


class ReminderRow(TypedDict):
    userId: str
    overdue: int
    text: str


class ProductRow(TypedDict):
    id: str
    name: str
    price: float
    stock: int


class OrderRow(TypedDict):
    id: str
    userId: str
    productId: str
    quantity: int
    total: float
    status: Order.Status
    ordered: dt.date


class StatusTotal(TypedDict):
    status: Order.Status
    orders: int
    total: float


@tool(annotations="read", tags=["todos"])
def list_todos(
    user_id: UserId,
    done: Annotated[
        bool | None, Field(description="Only finished todos (true) or only open ones (false)")
    ] = None,
) -> list[TodoRow]:
    """List what a user has to do."""
    todos = Todo.objects.filter(user=find_user(user_id))
    return [todo_row(todo) for todo in (todos if done is None else todos.filter(done=done))]


@tool(annotations="create", tags=["todos"], input_examples=[{"title": "Welcome task", "userId": "123"}])
def create_todo(
    title: Annotated[str, Field(min_length=1, max_length=200)],
    user_id: UserId,
    due: dt.date | None = None,
) -> TodoRow:
    """Give a user something to do."""
    return todo_row(Todo.objects.create(user=find_user(user_id), title=title, due=due))


@tool(annotations="create", tags=["todos"])
def send_reminder(user_id: UserId) -> ReminderRow:
    """Remind a user of all overdue todos."""
    user = find_user(user_id)
    overdue = [todo.title for todo in Todo.objects.filter(user=user) if todo.overdue]
    if not overdue:
        raise ToolError("This user has nothing overdue.", 409)
    reminder = Reminder.objects.create(user=user, text="Overdue: " + "; ".join(overdue))
    return {"userId": user_id, "overdue": len(overdue), "text": reminder.text}


@tool(annotations="read", tags=["products"])
async def list_products() -> list[ProductRow]:
    """List everything that is sold, with prices in euros."""
    return [
        {"id": str(product.pk), "name": product.name, "price": float(product.price), "stock": product.stock}
        async for product in Product.objects.all()
    ]


@tool(annotations="read", tags=["orders"], input_examples=[{"status": "pending"}])
def list_orders(status: Order.Status | None = None) -> list[OrderRow]:
    """List orders with totals in euros, all or those in one status."""
    orders = Order.objects.all()
    return [order_row(order) for order in (orders if status is None else orders.filter(status=status))]


@tool(annotations="read", tags=["orders"], enabled=in_group("analysts"), cache="1m")
def order_stats() -> list[StatusTotal]:
    """Count and add up the orders of each status."""
    rows = Order.objects.order_by("status").values_list("status").annotate(Count("pk"), Sum("total"))
    return [{"status": Order.Status(status), "orders": n, "total": float(total)} for status, n, total in rows]


def todo_row(todo: Todo) -> TodoRow:
    """Return what a model may know of a todo."""
    return {
        "id": str(todo.pk),
        "userId": str(todo.user_id),
        "title": todo.title,
        "done": todo.done,
        "due": todo.due,
        "overdue": todo.overdue,
    }


def order_row(order: Order) -> OrderRow:
    """Return what a model may know of an order."""
    return {
        "id": str(order.pk),
        "userId": str(order.user_id),
        "productId": str(order.product_id),
        "quantity": order.quantity,
        "total": float(order.total),
        "status": Order.Status(order.status),
        "ordered": order.ordered,
    }
