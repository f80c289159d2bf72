"""Todos, products and orders, the same at every start.

Open todos either were due in the past or have no date, so that answers about what is overdue never change.
"""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from random import Random

from django.contrib.auth.models import User

from demo_project.shop.models import Order, Product, Todo

LAST_DAY = dt.date(2025, 6, 30)
TODOS, PRODUCTS, ORDERS = 2_000, 300, 3_000
VERBS = (
    "Call",
    "Visit",
    "Write to",
    "Send an offer to",
    "Prepare the contract for",
    "Answer",
    "Invoice",
    "Thank",
)
CUSTOMERS = ("Northwind", "Contoso", "Fabrikam", "Globex", "Initech", "Umbrella", "Hooli", "Stark & Söhne")
COLOURS = ("Red", "Blue", "Green", "Black", "White", "Yellow", "Grey", "Brown", "Orange", "Violet")
THINGS = ("Chair", "Desk", "Lamp", "Shelf", "Mug", "Notebook", "Pen", "Bag", "Clock", "Mirror")
SIZES = ("small", "medium", "large")


def load_todos(users: Sequence[User]) -> list[Todo]:
    """Create todos for the users and return them; two users in five have nothing overdue."""
    random = Random(2)
    tidy = set(random.sample([user.pk for user in users], len(users) * 2 // 5))
    todos = []
    for _ in range(TODOS):
        user = random.choice(users)
        title = f"{random.choice(VERBS)} {random.choice(CUSTOMERS)}"
        due = LAST_DAY - dt.timedelta(days=random.randrange(120))
        done = random.random() < 0.7
        late = not done and user.pk not in tidy and random.random() < 0.5
        todos.append(Todo(user=user, title=title, done=done, due=due if done or late else None))
    return Todo.objects.bulk_create(todos)


def load_products() -> list[Product]:
    """Create one product of each colour, kind and size, and return them."""
    random = Random(3)
    names = [f"{colour} {thing}, {size}" for colour in COLOURS for thing in THINGS for size in SIZES]
    return Product.objects.bulk_create(
        Product(name=name, price=Decimal(random.randrange(199, 29_999)) / 100, stock=random.randrange(100))
        for name in names[:PRODUCTS]
    )


def load_orders(users: Sequence[User], products: Sequence[Product]) -> list[Order]:
    """Create orders of the products by the users and return them; most are shipped, one in ten is pending."""
    random = Random(4)
    orders = []
    for _ in range(ORDERS):
        product, quantity = random.choice(products), random.randrange(1, 6)
        order = Order(
            user=random.choice(users), product=product, quantity=quantity, total=product.price * quantity
        )
        order.status = random.choices(Order.Status.values, weights=(10, 15, 65, 10))[0]
        order.ordered = LAST_DAY - dt.timedelta(days=random.randrange(365))
        orders.append(order)
    return Order.objects.bulk_create(orders)
