import pytest
from django.contrib.admin import AdminSite
from django.test import override_settings
from django.urls import path

from mcp_server.admin import CodeRunAdmin, LimitsAdmin, ProcessAdmin, TokenAdmin, ToolCallAdmin
from mcp_server.models import CodeRun, Limits, Process, Token, ToolCall

site = AdminSite(name="operations")
for model, model_admin in (
    (CodeRun, CodeRunAdmin),
    (Limits, LimitsAdmin),
    (Process, ProcessAdmin),
    (Token, TokenAdmin),
    (ToolCall, ToolCallAdmin),
):
    site.register(model, model_admin)
urlpatterns = [path("ops/", site.urls)]


@pytest.mark.django_db
@override_settings(ROOT_URLCONF=__name__)
def test_every_page_works_on_a_site_of_the_projects_own_and_stays_there(root, make_run):
    run = make_run("a")
    call = ToolCall.objects.get()
    Process.objects.create(name="web:1", host="web", pid=1, state={"workers": [{"pid": 1}]})
    for page in (
        *("process/", "process/web:1/restart/", "limits/", "limits/code/change/", "limits/code/history/"),
        *(
            "coderun/",
            f"coderun/{run.id}/change/",
            "toolcall/",
            f"toolcall/{call.pk}/change/",
            "toolcall/try/",
        ),
        *("token/", "token/add/"),
    ):
        response = root.get(f"/ops/mcp_toolkit/{page}")
        assert response.status_code == 200, page
        assert 'href="/admin/' not in response.content.decode(), page
    assert root.post(f"/ops/mcp_toolkit/coderun/{run.id}/stop/").url.startswith("/ops/")
    assert root.get("/ops/mcp_toolkit/coderun/gone/change/").url.startswith("/ops/")
    assert root.get("/ops/mcp_toolkit/process/web:1/change/").url.startswith("/ops/")
