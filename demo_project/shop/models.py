"""A small shop: what people have to do, what is sold, what was ordered."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone


class Todo(models.Model):
    """Something that a user has to do."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="todos")
    title = models.CharField(max_length=200)
    done = models.BooleanField(default=False)
    due = models.DateField(null=True, blank=True)

    class Meta:
        ordering: ClassVar = ["pk"]

    def __str__(self) -> str:
        return self.title

    @property
    def overdue(self) -> bool:
        """Whether it should have been done before today."""
        return not self.done and self.due is not None and self.due < timezone.localdate()


class Reminder(models.Model):
    """A user was told about overdue todos; the demo has no mail server, so this row is the message."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="reminders")
    text = models.TextField()
    sent = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["-sent"]

    def __str__(self) -> str:
        return f"{self.user}, {self.sent:%Y-%m-%d %H:%M}"


class Product(models.Model):
    """Something that is sold."""

    name = models.CharField(max_length=100)
    price = models.DecimalField(max_digits=8, decimal_places=2)
    stock = models.PositiveIntegerField(default=0)

    class Meta:
        ordering: ClassVar = ["pk"]

    def __str__(self) -> str:
        return self.name


class Order(models.Model):
    """A product that a user ordered."""

    class Status(models.TextChoices):
        PENDING = "pending"
        PAID = "paid"
        SHIPPED = "shipped"
        CANCELLED = "cancelled"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="orders")
    product = models.ForeignKey(Product, models.PROTECT, related_name="orders")
    quantity = models.PositiveIntegerField(default=1)
    total = models.DecimalField(max_digits=10, decimal_places=2)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PENDING, db_index=True)
    ordered = models.DateField()

    class Meta:
        ordering: ClassVar = ["pk"]

    def __str__(self) -> str:
        return f"{self.quantity} x {self.product}"
