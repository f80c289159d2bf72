"""The demo with daphne's own `runserver` (contract P01c)."""

from demo_project.settings import *  # noqa: F403
from demo_project.settings import INSTALLED_APPS

INSTALLED_APPS = ["daphne", *INSTALLED_APPS]
