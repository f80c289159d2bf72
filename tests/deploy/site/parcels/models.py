from django.db import models


class Parcel(models.Model):
    """Something that a tool writes."""

    label = models.CharField(max_length=100)
    objects = models.Manager()

    def __str__(self) -> str:
        return self.label
