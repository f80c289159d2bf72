"""The demo under a strict Content-Security-Policy: a page that breaks it says so on the browser's console."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from demo_project.settings import *  # noqa: F403
from demo_project.settings import MIDDLEWARE

POLICY = "default-src 'self'; frame-ancestors 'none'; base-uri 'self'; form-action 'self'"


class StrictPolicy:
    """Adds the header to every page."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response["Content-Security-Policy"] = POLICY
        return response


MIDDLEWARE = ["tests.browser.settings.StrictPolicy", *MIDDLEWARE]
