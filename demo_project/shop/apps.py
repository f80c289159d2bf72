from django.apps import AppConfig


class ShopConfig(AppConfig):
    """Tools over todos, products and orders."""

    name = "demo_project.shop"
    label = "shop"
    default_auto_field = "django.db.models.BigAutoField"
