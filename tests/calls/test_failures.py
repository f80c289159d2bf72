"""What of a failure reaches the client, and what the log (T14, R05, R06, R07)."""

import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
import requests
from django import forms
from django.contrib.auth.models import Group, User
from django.core.exceptions import ObjectDoesNotExist, PermissionDenied, ValidationError
from django.db import DatabaseError, transaction
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.test import AsyncClient, override_settings
from django.utils.translation import gettext_lazy
from rest_framework import exceptions as drf

from mcp_server import Guidance, ToolError, tool
from mcp_server.models import CodeRun, ToolCall
from tests.door import call, client, serving

SECRETS = ("hunter2", "/srv/shop", "SELECT", "Traceback", "RuntimeError")


@pytest.fixture(autouse=True)
def tools(db: Any) -> Iterator[None]:
    with serving():
        yield


def raising(error: BaseException | Callable[[], Any]) -> None:
    """Define the tools `fail` and `fail-later`, which raise an error or call what raises one."""

    def act() -> None:
        if callable(error) and not isinstance(error, BaseException):
            error()
        else:
            raise error

    @tool(name="fail")
    def fail() -> None:
        act()

    @tool(name="fail-later")
    async def fail_later() -> None:
        from asgiref.sync import sync_to_async

        await sync_to_async(act)()


class Leaky(Exception):
    def __str__(self) -> str:
        return "password=hunter2 in /srv/shop/views.py: SELECT * FROM users"


UNEXPECTED = {
    "an exception": Leaky(),
    "a database error": DatabaseError("SELECT password FROM users -- hunter2"),
    "a chain": lambda: chained(),
    "a group": ExceptionGroup("hunter2", [Leaky()]),
    "an assertion": AssertionError("hunter2"),
    "a key": KeyError("hunter2"),
    "a time-out of its own": TimeoutError("hunter2 at /srv/shop"),
    "an exit": SystemExit("hunter2"),
    "recursion": lambda: deeper(),
}


def chained() -> None:
    try:
        raise Leaky
    except Leaky as error:
        raise RuntimeError("hunter2") from error


def deeper() -> None:
    deeper()


@pytest.mark.proves("T14d", "T14e")
@pytest.mark.parametrize("debug", [True, False])
@pytest.mark.parametrize("name", ["fail", "fail-later"])
@pytest.mark.parametrize("error", UNEXPECTED.values(), ids=UNEXPECTED)
def test_what_is_unexpected_is_a_neutral_sentence_and_the_log_has_it_under_the_reference(
    error: Any, name: str, debug: bool, caplog: pytest.LogCaptureFixture
):
    raising(error)
    with override_settings(DEBUG=debug):
        results = [
            call(name),
            call(name, endpoint="json"),
            client(endpoint="code").run(f"await codemode['{name}']()"),
        ]
    rows = list(ToolCall.objects.order_by("started"))
    assert len(rows) == 3
    for result, row in zip(results, rows, strict=True):
        assert result.is_error
        assert result.structured is None
        said = f"The tool failed unexpectedly. Its administrator finds the cause under reference {row.reference}."
        assert said in result.text
        assert (row.status, row.error, row.error_status) == ("crashed", said, None)
        assert not any(secret in result.text for secret in SECRETS)
        (record,) = [item for item in caplog.records if row.reference in item.getMessage()]
        assert record.levelno == logging.ERROR
        assert record.exc_info is not None
    assert json.loads(results[1].text) == {"error": True, "message": rows[1].error}
    run = CodeRun.objects.get()
    assert not any(secret in json.dumps(run.error) for secret in SECRETS)


@pytest.mark.proves("T14d")
async def test_secrets_stay_in_the_asynchronous_view_and_in_the_newest_era_too():
    from asgiref.sync import sync_to_async

    from tests.protocol.wire import modern, modern_headers

    await sync_to_async(raising)(Leaky())
    message = modern("tools/call", {"name": "fail", "arguments": {}})
    headers = modern_headers(message)
    kind = headers.pop("Content-Type")
    response = await AsyncClient().post("/mcp", json.dumps(message), content_type=kind, headers=headers)
    assert response.status_code == 200
    assert response.json()["result"]["isError"] is True
    assert not any(secret in response.content.decode() for secret in SECRETS)


class OrderForm(forms.Form):
    email = forms.EmailField()
    amount = forms.IntegerField(min_value=1)


def clean_form() -> None:
    form = OrderForm({"email": "x", "amount": 0})
    raise ValidationError(form.errors.as_data())


def refuse_by_model() -> None:
    Group(name="").full_clean()


def break_unique() -> None:
    with transaction.atomic():
        Group.objects.create(name="crew hunter2")
        Group.objects.create(name="crew hunter2")


def httpx_error(status: int) -> httpx.HTTPStatusError:
    request = httpx.Request("GET", "https://api.example.com/?key=hunter2")
    response = httpx.Response(status, text="hunter2", request=request)
    try:
        response.raise_for_status()
    except httpx.HTTPStatusError as error:
        return error
    raise AssertionError


def requests_error(status: int) -> requests.HTTPError:
    response = requests.Response()
    response.status_code, response.url = status, "https://api.example.com/?key=hunter2"
    response.request = requests.Request("GET", response.url).prepare()
    return requests.HTTPError("hunter2", response=response)


EXPECTED: dict[str, tuple[Any, int | None, str, Any]] = {
    "ToolError": (ToolError("User not found", 404), 404, "User not found", None),
    "without status": (ToolError("Division by zero"), None, "Division by zero", None),
    "with data": (
        ToolError("Validation failed", 400, {"fields": ["name", "é"]}),
        400,
        "Validation failed",
        {"fields": ["name", "é"]},
    ),
    "with rich data": (ToolError("No", 400, {"to": gettext_lazy("Yes"), "n": (1,)}), 400, "No", {"to": "Yes", "n": [1]}),
    "with data that is falsy": (ToolError("No", 400, []), 400, "No", []),
    "Http404": (Http404("No such page"), 404, "No such page", None),
    "get_object_or_404": (
        lambda: get_object_or_404(User, pk=99),
        404,
        "No User matches the given query.",
        None,
    ),
    "DoesNotExist": (lambda: User.objects.get(pk=99), 404, "User matching query does not exist.", None),
    "bare DoesNotExist": (ObjectDoesNotExist(), 404, "Not found.", None),
    "PermissionDenied": (PermissionDenied(), 403, "Permission denied.", None),
    "PermissionDenied with reason": (PermissionDenied("Not yours."), 403, "Not yours.", None),
    "form errors": (
        clean_form,
        400,
        "The values are not valid.",
        {
            "email": ["Enter a valid email address."],
            "amount": ["Ensure this value is greater than or equal to 1."],
        },
    ),
    "model errors": (refuse_by_model, 400, "The values are not valid.", {"name": ["This field cannot be blank."]}),
    "one error": (ValidationError(gettext_lazy("Enter a number.")), 400, "Enter a number.", None),
    "errors": (ValidationError(["One.", "Two."]), 400, "One. Two.", None),
    "IntegrityError": (break_unique, 409, "The change conflicts with what is stored already.", None),
    "DRF": (drf.NotFound(), 404, "Not found.", None),
    "DRF with fields": (
        drf.ValidationError({"email": ["Wrong."]}),
        400,
        "The request was refused.",
        {"email": ["Wrong."]},
    ),
    "DRF throttled": (drf.Throttled(wait=5), 429, "Request was throttled. Expected available in 5 seconds.", None),
    "httpx": (httpx_error(503), 503, "A service that the tool called answered with status 503.", None),
    "requests": (requests_error(404), 404, "A service that the tool called answered with status 404.", None),
}  # fmt: skip


@pytest.mark.proves("T14a", "T14b", "T14c", "R05a", "R05b", "R06b")
@pytest.mark.parametrize("name", ["fail", "fail-later"])
@pytest.mark.parametrize(("error", "status", "message", "data"), EXPECTED.values(), ids=EXPECTED)
def test_what_the_author_means_to_say_is_said(
    error: Any, status: int | None, message: str, data: Any, name: str
):
    raising(error)
    text = call(name).text
    head = message if status is None else f"[{status}] {message}"
    assert text == head if data is None else text.startswith(f"{head}\n")
    assert data is None or json.loads(text.removeprefix(f"{head}\n")) == data
    said = {"error": True, "status": status, "message": message, "data": data}
    as_json = call(name, endpoint="json")
    assert json.loads(as_json.text) == {key: value for key, value in said.items() if value is not None}
    assert (as_json.is_error, as_json.structured) == (True, None)
    assert "hunter2" not in text + as_json.text
    assert set(ToolCall.objects.values_list("status", "error_status")) == {("tool_error", status)}


@pytest.mark.proves("T14a")
def test_data_that_cannot_be_sent_is_left_out_and_logged(caplog: pytest.LogCaptureFixture):
    raising(ToolError("No", 400, {"who": object()}))
    assert call("fail").text == "[400] No"
    assert call("fail", endpoint="json").text == '{"error":true,"status":400,"message":"No"}'
    assert "The data of an error of tool fail cannot be sent" in caplog.text


@pytest.mark.proves("R08a", "S08")
def test_a_huge_message_and_half_a_surrogate_are_made_fit():
    with serving(TEXT_LIMIT=1024):
        raising(ToolError("\ud800" + "x" * 5000, 400, {"rows": [1] * 5000}))
        for endpoint in ("default", "json"):
            result = call("fail", endpoint=endpoint)
            assert result.is_error
            assert len(result.text.encode()) <= 1024
            assert "\ufffdxxx" in result.text
            assert endpoint == "default" or json.loads(result.text)["status"] == 400


@pytest.mark.proves("R07a")
@pytest.mark.parametrize("endpoint", ["default", "json"])
def test_guidance_is_sent_verbatim_in_both_formats(endpoint: str):
    text = 'Sign in at https://example.com/?next="x" first.\n  Then try again.'
    raising(Guidance(text))
    result = call("fail", endpoint=endpoint)
    assert (result.is_error, result.text, result.structured) == (True, text, None)
    row = ToolCall.objects.get()
    assert (row.status, row.error) == ("denied", text)


@pytest.mark.proves("R06a", "R05a", "T06b")
def test_a_wrong_argument_is_a_failure_that_code_can_branch_on():
    @tool
    def take(a: int) -> int:
        return a

    for arguments in ({}, {"a": "x"}, {"b": 1}):
        result = call("take", arguments, endpoint="json")
        said = json.loads(result.text)
        assert (said["error"], said["status"], result.structured) == (True, 400, None)
        assert "Valid arguments: a." in said["message"]
