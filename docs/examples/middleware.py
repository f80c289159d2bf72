"""The snippets of docs/permissions.md about middleware."""

# [start:middleware]
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse

from mcp_server import Guidance, endpoint

OPEN = True


def closed_at_night(request: HttpRequest) -> HttpResponse | None:
    return None if OPEN else JsonResponse({"closed": True}, status=503)


def on_the_intranet(request: HttpRequest) -> None:
    if not request.META["REMOTE_ADDR"].startswith("127."):
        raise PermissionDenied("This endpoint is for the intranet.")


async def with_a_profile(request: HttpRequest) -> None:
    if not request.user.is_authenticated or not (await request.auser()).get_full_name():
        raise Guidance("Ask the user to complete their profile at https://example.com/profile/ first.")


endpoint("desk", middleware=[closed_at_night, on_the_intranet, with_a_profile])
# [end:middleware]
