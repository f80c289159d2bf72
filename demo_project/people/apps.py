from django.apps import AppConfig


class PeopleConfig(AppConfig):
    """Tools over Django's own users."""

    name = "demo_project.people"
    label = "people"
