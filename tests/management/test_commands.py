"""Commands as a person or a script uses them."""

import io
import json
import sys
import tomllib

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command, load_command_class
from django.db import connection
from django.test import override_settings

from demo_project.shop.models import Todo
from mcp_server import codemode
from mcp_server.definitions.registry import registry
from mcp_server.management.base import FAILED
from mcp_server.management.clients import CLIENTS
from mcp_server.models import Token
from mcp_server.testing import MCPClient

COMMANDS = (
    "mcp_call", "mcp_client_config", "mcp_doctor", "mcp_prune", "mcp_run", "mcp_stdio", "mcp_token", "mcp_tools", "mcp_types",
)  # fmt: skip


@pytest.fixture
def ada(db) -> User:
    return User.objects.create_user("ada", first_name="Ada", last_name="Lovelace")


@pytest.fixture(autouse=True)
def no_workers_left():
    yield
    codemode.shutdown()


def run(*arguments: str, **options):
    """Return what a command printed, and the error it ended with."""
    output, error = io.StringIO(), None
    try:
        call_command(*arguments, stdout=output, stderr=io.StringIO(), **options)
    except CommandError as found:
        error = found
    return output.getvalue(), error


@pytest.mark.proves("D03a")
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_shows_an_example_of_itself(name):
    text = load_command_class("mcp_server", name).create_parser("manage.py", name).format_help()
    assert f"manage.py {name}" in text.split("examples:")[1]


@pytest.mark.proves("D03a")
@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_a_command_s_own_options_before_those_of_every_command(name):
    text = load_command_class("mcp_server", name).create_parser("manage.py", name).format_help()
    options = text.split("options:")[1]
    own = {"mcp_stdio": "--user", "mcp_token": "--help"}.get(name, "--json")
    assert options.index(own) < options.index("--version")
    assert "<" not in text  # such as the repr of a choice
    assert max(map(len, text.split("examples:")[0].splitlines())) <= 125


@pytest.mark.django_db
def test_a_table_that_is_missing_is_said_without_a_traceback():
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE auth_user RENAME TO auth_gone")
    _, error = run("mcp_token", "create", "ada")
    assert "no such table" in str(error)
    assert "Run `manage.py migrate`" in str(error)


@pytest.mark.django_db
def test_a_project_without_tools_is_told_where_they_are_looked_for():
    with registry.isolated(empty=True):
        text, error = run("mcp_tools")
    assert error is None
    assert "0 of 0 tools" in text
    assert "an app that INSTALLED_APPS names" in text


@pytest.mark.proves("T21b")
def test_tools_of_a_user_are_printed_with_the_reason_for_what_is_hidden(ada):
    text, error = run("mcp_tools", "--user", "ada")
    assert error is None
    assert "as ada: 7 of " in text
    hidden = text.split("Hidden:")[1]
    assert "delete-user" in hidden
    assert "it asks for auth.delete_user  (demo_project.people.mcp_tools:" in hidden
    assert "it asks for in_group('analysts')" in hidden


@pytest.mark.proves("T21b", "D03b")
def test_tools_are_json_for_a_script_and_say_what_programs_may_call(ada):
    text, _ = run("mcp_tools", "--user", "ada", "--endpoint", "code", "--json")
    report = json.loads(text)
    assert report["listed"] == ["code"]
    assert [row["name"] for row in report["tools"] if row["in_code"]] == [
        row["name"] for row in report["tools"]
    ]
    assert {row["name"] for row in report["hidden"]} >= {"delete-user", "order-stats"}


@pytest.mark.django_db
def test_nobody_sees_nothing_where_a_user_is_needed():
    text, _ = run("mcp_tools")
    assert "as nobody: 0 of " in text
    assert "the endpoint needs a signed-in user; give --user" in text


@pytest.mark.django_db
@pytest.mark.parametrize("command", ["mcp_tools", "mcp_call list-users", "mcp_run -c 1"])
def test_an_unknown_user_or_endpoint_is_said(command):
    User.objects.create_user("gone", is_active=False)
    for options, message in (
        (["--user", "eve"], "There is no user 'eve'. `manage.py createsuperuser` or the admin makes one."),
        (["--user", "gone"], "The user 'gone' is not active."),
        (["--endpoint", "nowhere"], "There is no endpoint 'nowhere'. There are: default, code."),
    ):
        _, error = run(*command.split(), *options)
        assert str(error) == message


@pytest.mark.proves("D03b")
def test_a_call_prints_what_a_model_reads(ada):
    arguments = json.dumps({"id": str(ada.pk)})
    text, _ = run("mcp_call", "get-user", arguments, "--user", "ada")
    assert json.loads(text) == {"id": str(ada.pk), "name": "Ada Lovelace", "email": ""}
    text, _ = run("mcp_call", "get-user", arguments, "--user", "ada", "--json")
    assert json.loads(text)["structured"]["name"] == "Ada Lovelace"


@pytest.mark.proves("D03b")
def test_a_call_that_fails_has_an_exit_code_of_its_own(ada):
    text, error = run("mcp_call", "get-user", '{"id": "0"}', "--user", "ada", "--json")
    assert (error.returncode, str(error)) == (FAILED, "[404] User not found. Take an id from list-users.")
    assert json.loads(text)["is_error"] is True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("{", "The arguments are no JSON"),
        ("[1]", "The arguments must be a JSON object"),
        ("{}", "ada has no tool 'nothing' at 'default'. `manage.py mcp_tools --user ada --endpoint default`"),
    ],
)
def test_a_call_that_cannot_be_made_says_why(ada, arguments, message):
    _, error = run("mcp_call", "nothing", arguments, "--user", "ada")
    assert (error.returncode, str(error).startswith(message)) == (1, True)


@pytest.mark.django_db
def test_a_call_by_nobody_is_told_to_give_a_user():
    _, error = run("mcp_call", "list-users")
    assert str(error) == "Without a user there is no tool 'list-users' at 'default'. Give one: --user NAME."


def test_arguments_of_a_call_can_come_from_another_program(ada, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps({"userId": str(ada.pk), "title": "Read"})))
    run("mcp_call", "create-todo", "-", "--user", "ada")
    assert Todo.objects.get().title == "Read"


def test_a_program_is_run_from_the_line_a_file_or_another_program(ada, tmp_path, monkeypatch):
    program = "return (await codemode.list_users()).map(user => user.name)"
    file = tmp_path / "program.ts"
    file.write_text(program)
    monkeypatch.setattr(sys, "stdin", io.StringIO(program))
    for form in (["-c", program], [str(file)], ["-"]):
        text, error = run("mcp_run", *form, "--user", "ada")
        assert (json.loads(text), error) == (["Ada Lovelace"], None)


@pytest.mark.proves("D03b")
def test_a_program_that_fails_says_where_and_prints_its_console(ada):
    text, error = run(
        "mcp_run", "-c", "console.warn('so far');\nthrow new Error('no')", "--user", "ada", "--json"
    )
    found = json.loads(text)
    assert (error.returncode, found["status"]) == (FAILED, "error")
    assert found["console"] == [{"level": "warn", "text": "so far"}]
    assert found["error"]["line"] == 2
    assert "no (line 2" in str(error)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Give either a file or -c"),
        (["x.js", "-c", "1"], "Give either a file or -c"),
        (["/no/such.js"], "/no/such.js cannot"),
    ],
)
def test_a_program_that_is_not_there_is_said(arguments, message):
    _, error = run("mcp_run", *arguments)
    assert str(error).startswith(message)


def test_each_client_gets_a_configuration_it_can_read():
    text, _ = run("mcp_client_config", "--url", "https://shop.example.com/", "--token", "mcp_t0ken", "--json")
    texts = json.loads(text)
    assert set(texts) == set(CLIENTS)
    url = "https://shop.example.com/mcp/code"
    assert json.loads(texts["cursor"])["mcpServers"]["shop-example-com-code"]["url"] == url
    assert json.loads(texts["vscode"])["servers"]["shop-example-com-code"]["headers"] == {
        "Authorization": "Bearer mcp_t0ken"
    }
    assert json.loads(texts["windsurf"])["mcpServers"]["shop-example-com-code"]["serverUrl"] == url
    assert json.loads(texts["gemini"])["mcpServers"]["shop-example-com-code"]["httpUrl"] == url
    assert tomllib.loads(texts["codex"])["mcp_servers"]["shop-example-com-code"]["url"] == url
    desktop = json.loads(texts["claude-desktop"])["mcpServers"]["shop-example-com-code"]
    assert url in desktop["args"]
    assert desktop["env"] == {"MCP_AUTHORIZATION": "Bearer mcp_t0ken"}
    assert f"claude mcp add --transport http shop-example-com-code {url}" in texts["claude-code"]


@pytest.mark.proves("D02")
def test_a_configuration_with_a_new_token_signs_in(ada):
    text, _ = run("mcp_client_config", "--client", "cursor", "--create-token", "ada", "--endpoint", "default")
    (server,) = json.loads(text)["mcpServers"].values()
    token = server["headers"]["Authorization"].removeprefix("Bearer ")
    assert len(MCPClient(token=token).list_tools()) == 7
    assert Token.objects.get().user == ada


def test_a_configuration_for_no_address_is_refused():
    for url in ("example.com", "ftp://example.com", "https://"):
        _, error = run("mcp_client_config", "--url", url)
        assert str(error) == "--url must look like https://example.com."


def test_a_configuration_with_an_empty_token_is_refused():
    _, error = run("mcp_client_config", "--token", "")
    assert str(error).startswith("--token is empty.")


def examine(*options: str):
    text, error = run("mcp_doctor", "--json", *options)
    return {(row["subject"], row["level"]): row["text"] for row in json.loads(text)}, error


@pytest.mark.django_db(transaction=True)
def test_the_doctor_tries_a_call_and_a_run_and_finds_no_problem_here():
    User.objects.create_superuser("root")
    found, error = examine()
    assert error is None
    assert found["call", "ok"].startswith("list-")
    assert found["code run", "ok"].startswith("6 * 7 = 42")
    assert "seccomp" in found["confinement", "ok"]
    assert found["tokens", "note"] == "there is none"
    assert found["cache", "note"].startswith("LocMemCache is per process")
    assert found["database", "ok"] == "sqlite, migrations applied"


@pytest.mark.django_db
@override_settings(
    CACHES={"default": {"BACKEND": "no.such.Cache"}},
    MCP_SERVER={"LIMITS": {"max_tool_calls": "many"}},
    DEBUG=False,
    STATIC_ROOT=None,
)
def test_the_doctor_names_what_is_broken_and_ends_with_a_code():
    found, error = examine()
    assert (error.returncode, str(error)) == (FAILED, "2 to mend.")
    assert found["definitions", "problem"].startswith("mcp_toolkit.E001")
    assert found["cache", "problem"].startswith("default: Could not find backend")
    assert found["static files", "warning"] == "mcp_toolkit/admin.css is not collected"
    _, error = examine("--strict")
    assert str(error) == "3 to mend."
