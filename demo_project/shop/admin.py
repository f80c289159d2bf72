from typing import ClassVar

from django.contrib import admin

from demo_project.shop.models import Order, Product, Reminder, Todo


@admin.register(Todo)
class TodoAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ("title", "user", "due", "done")
    list_filter = ("done",)
    search_fields = ("title", "user__username")
    list_select_related = ("user",)
    autocomplete_fields: ClassVar = ["user"]


@admin.register(Reminder)
class ReminderAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ("user", "sent", "text")
    list_select_related = ("user",)
    autocomplete_fields: ClassVar = ["user"]


@admin.register(Product)
class ProductAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ("name", "price", "stock")
    search_fields = ("name",)


@admin.register(Order)
class OrderAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ("__str__", "user", "total", "status", "ordered")
    list_filter = ("status",)
    list_select_related = ("user", "product")
    autocomplete_fields: ClassVar = ["user", "product"]
