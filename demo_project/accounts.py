"""Who can sign in to the demo, and the tokens of their MCP clients."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.contrib.auth.models import Group, User

from mcp_server.models import Token

TOKEN_NAME = "demo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A sign-in of the demo; nobody but this machine reaches it, so the password may be printed."""

    username: str
    password: str
    first_name: str
    is_staff: bool


STAFF = Account(username="staff", password="staff-demo", first_name="Stella", is_staff=True)
PLAIN = Account(username="plain", password="plain-demo", first_name="Paul", is_staff=False)


def prepare_accounts() -> Iterator[tuple[Account, str]]:
    """Make the demo's users where they are missing; yield each with a new token, which replaces its old ones."""
    for account in (STAFF, PLAIN):
        user = User.objects.filter(username=account.username).first() or _create(account)
        Token.objects.filter(user=user, name=TOKEN_NAME).revoke()
        _, text = Token.objects.issue(user, TOKEN_NAME)
        yield account, text


def _create(account: Account) -> User:
    user = User.objects.create_user(
        account.username,
        f"{account.username}@example.com",
        account.password,
        first_name=account.first_name,
        is_staff=account.is_staff,
        is_superuser=account.is_staff,
    )
    if account.is_staff:
        user.groups.add(Group.objects.get_or_create(name="analysts")[0])
    return user
