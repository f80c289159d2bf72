import re
from html import unescape

import pytest

from mcp_server.definitions.endpoint import endpoint
from mcp_server.definitions.registry import registry
from mcp_server.definitions.tool import tool
from mcp_server.exceptions import ToolError
from mcp_server.models import CodeRun, ToolCall

URL = "/admin/mcp_toolkit/toolcall/try/"
pytestmark = [pytest.mark.django_db, pytest.mark.proves("A08")]


@pytest.fixture(autouse=True)
def tools():
    with registry.isolated(empty=True):
        endpoint("code", code_mode="on")

        @tool(input_examples=[{"number": 4}])
        def double(number: int) -> int:
            """Twice a number."""
            if number > 100:
                raise ToolError("Too large", 413)
            return number * 2

        @tool(enabled="auth.delete_user")
        def forbidden_thing() -> str:
            return "done"

        yield


def answer(response):
    found = re.search(r'id="mcp-answer"[^>]*>(.*?)</pre>', response.content.decode(), re.DOTALL)
    return unescape(found[1]) if found else None


def test_staff_call_a_tool_as_themselves_and_see_the_text_and_the_log(sign_in):
    staff = sign_in("view_toolcall")
    page = staff.get(f"{URL}?tool=double").content.decode()
    assert "Twice a number" in page
    assert "&quot;number&quot;: 4" in page
    assert answer(staff.post(f"{URL}?tool=double", {"arguments": '{"number": 21}'})) == "42"
    call = ToolCall.objects.get()
    assert (call.tool, call.username, call.client, call.status) == ("double", "grace", "admin", "ok")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [('{"number": "x"}', "number"), ('{"number": 101}', "[413] Too large"), ("{}", "number")],
)
def test_errors_read_as_a_model_reads_them(sign_in, arguments, text):
    assert text in answer(sign_in().post(f"{URL}?tool=double", {"arguments": arguments}))


@pytest.mark.parametrize("arguments", ["{", "[]", "[" * 100_000])
def test_what_is_no_json_object_is_refused_by_the_form(sign_in, arguments):
    response = sign_in().post(f"{URL}?tool=double", {"arguments": arguments})
    assert answer(response) is None
    assert response.context["form"].errors
    assert not ToolCall.objects.exists()


def test_a_hidden_tool_is_neither_shown_nor_called(sign_in, root):
    staff = sign_in()
    assert "forbidden" not in staff.get(URL).content.decode()
    assert answer(staff.post(f"{URL}?tool=forbidden-thing", {"arguments": "{}"})) is None
    assert answer(root.post(f"{URL}?tool=forbidden-thing", {"arguments": "{}"})) == "done"


def test_staff_run_code_as_themselves(sign_in):
    staff = sign_in("view_coderun")
    assert "codemode" in staff.get(f"{URL}?endpoint=code&tool=code").content.decode()
    code = "return [1, 2].length + (await codemode.double({number: 20}))"
    assert answer(staff.post(f"{URL}?endpoint=code&tool=code", {"code": code})) == "42"
    run = CodeRun.objects.get()
    assert (run.username, run.status, run.calls, run.client) == ("grace", "ok", 1, "admin")


def test_others_than_staff_do_not_get_in(client, django_user_model):
    client.force_login(django_user_model.objects.create_user("ada"))
    assert client.get(URL).status_code == 302
    assert client.post(f"{URL}?tool=double", {"arguments": '{"number": 1}'}).status_code == 302
    assert not ToolCall.objects.exists()
