import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User

from mcp_server.models import Token

URL = "/admin/mcp_toolkit/token/"
DATA = {"user": "ada", "name": "laptop", "scopes": "b, a", "expires": "2099-12-31T23:59"}
pytestmark = pytest.mark.django_db


@pytest.fixture
def ada():
    return User.objects.create_user("ada")


@pytest.mark.proves("G05b")
def test_a_new_token_is_shown_in_one_response_only(root, ada):
    response = root.post(f"{URL}add/", DATA)
    (text,) = re.findall(r"mcp_[\w-]{40,}", response.content.decode())
    token = Token.objects.get(digest=Token.digest_of(text))
    assert (token.user, token.name, token.scopes) == (ada, "laptop", ["a", "b"])
    assert token.expires is not None
    assert token.expires.year == 2099
    assert "no-store" in response["Cache-Control"]
    assert text not in str(response.cookies)
    for path in ("", f"{token.pk}/change/", f"{token.pk}/history/"):
        assert text not in root.get(URL + path).content.decode()


@pytest.mark.proves("G05b")
def test_nothing_but_the_name_of_a_token_can_be_changed(root, ada):
    token, _ = Token.objects.issue(ada, "laptop")
    other = User.objects.create_user("other")
    root.post(
        f"{URL}{token.pk}/change/", {"name": "desk", "user": other.pk, "digest": "0" * 64, "scopes": "x"}
    )
    stored = Token.objects.get()
    assert (stored.name, stored.user, stored.digest, stored.scopes) == ("desk", ada, token.digest, [])


@pytest.mark.proves("G05b", "G10d")
def test_staff_make_tokens_for_themselves_only(sign_in, ada):
    staff = sign_in("add_token", "view_token")
    staff.post(f"{URL}add/", DATA)
    assert [token.user.username for token in Token.objects.all()] == ["grace"]


def test_an_unknown_user_is_refused(root):
    assert "There is no user of this name" in root.post(f"{URL}add/", DATA).content.decode()
    assert not Token.objects.exists()


@pytest.mark.proves("G05d")
def test_the_action_revokes_and_is_in_the_history(root, sign_in, ada):
    token, _ = Token.objects.issue(ada, "laptop")
    data = {"action": "revoke", "_selected_action": [token.pk]}
    sign_in("view_token").post(URL, data)
    assert Token.objects.get().revoked is None
    root.post(URL, data)
    assert Token.objects.get().revoked is not None
    assert LogEntry.objects.filter(object_id=str(token.pk)).count() == 1
    assert "revoked" in root.get(URL).content.decode()
