import io
import json
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.utils import timezone

from mcp_server.models import Token

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada():
    return User.objects.create_user("ada")


def run(*arguments):
    out = io.StringIO()
    call_command("mcp_token", *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue().strip()


@pytest.mark.proves("G05b")
def test_a_token_is_stored_as_a_digest_and_found_by_its_text_alone(ada):
    token, text = Token.objects.issue(ada, "laptop", scopes=["b", "a", "a"])
    stored = Token.objects.values().get()
    assert text.startswith(token.prefix)
    assert text not in str(stored)
    assert stored["scopes"] == ["a", "b"]
    assert Token.objects.find(text) == token
    assert Token.objects.find(text + "x") is None
    assert Token.objects.find("\ud800\0") is None


@pytest.mark.proves("G05b")
def test_two_tokens_never_share_their_text(ada):
    texts = {Token.objects.issue(ada, "t")[1] for _ in range(50)}
    assert len(texts) == 50
    assert all(len(text) >= 40 for text in texts)


def test_an_expired_or_revoked_token_is_not_usable(ada):
    now = timezone.now()
    expired, _ = Token.objects.issue(ada, "old", expires=now - timedelta(seconds=1))
    revoked, _ = Token.objects.issue(ada, "gone")
    usable, _ = Token.objects.issue(ada, "new", expires=now + timedelta(days=1))
    assert Token.objects.filter(pk=revoked.pk).revoke() == 1
    revoked.refresh_from_db()
    assert [token.is_usable(now) for token in (expired, revoked, usable)] == [False, False, True]
    assert list(Token.objects.usable()) == [usable]


@pytest.mark.proves("G05c")
def test_the_last_use_is_written_once_a_minute_even_by_two_processes(ada, django_assert_num_queries):
    token, _ = Token.objects.issue(ada, "t")
    other = Token.objects.get()
    assert token.touch() is True
    assert other.touch() is False
    with django_assert_num_queries(0):
        assert token.touch() is False
    Token.objects.update(last_used=timezone.now() - timedelta(minutes=2))
    assert Token.objects.get().touch() is True


@pytest.mark.proves("G05e")
def test_the_command_prints_a_token_that_signs_in(ada):
    text = run("create", "ada", "--name", "laptop", "--days", "3", "--scope", "reports")
    token = Token.objects.get(digest=Token.digest_of(text))
    assert (token.user, token.name, token.scopes) == (ada, "laptop", ["reports"])
    assert token.expires is not None
    assert timedelta(days=2) < token.expires - timezone.now() <= timedelta(days=3)


@pytest.mark.proves("G05e")
def test_the_command_lists_tokens_without_their_text_and_revokes_by_beginning(ada):
    made = json.loads(run("create", "ada", "--json"))
    other = json.loads(run("create", "ada", "--json"))
    listed = run("list", "--user", "ada")
    assert made["token"] not in listed
    assert made["begins"] in listed
    assert "Revoked" in run("revoke", made["begins"])
    assert "Revoked" in run("revoke", other["token"])
    states = {row["id"]: row["state"] for row in json.loads(run("list", "--json"))}
    assert states == {made["id"]: "revoked", other["id"]: "revoked"}


@pytest.mark.proves("G05e")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["create", "nobody"], "no user 'nobody'"),
        (["create", "ada", "--days", "0"], "0 is not between 1 and 36500"),
        (["create", "ada", "--days", "99999999"], "is not between 1 and 36500"),
        (["create", "ada", "--days", "a week"], "'a week' is no whole number"),
        (["revoke", "77"], "mcp_token list"),
        (["revoke", "mcp_nothing"], "mcp_token list"),
    ],
)
def test_the_command_says_what_is_wrong(ada, arguments, message):
    with pytest.raises(CommandError, match=message):
        run(*arguments)
