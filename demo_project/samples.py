"""The demo's data, loaded once."""

from django.db import transaction

from demo_project.people.samples import load_users
from demo_project.shop.models import Product
from demo_project.shop.samples import load_orders, load_products, load_todos


def load_samples() -> bool:
    """Load users, todos, products and orders where there are none; return whether they were missing."""
    if Product.objects.exists():
        return False
    with transaction.atomic():
        users = load_users()
        load_todos(users)
        load_orders(users, load_products())
    return True
