"""`manage.py mcp_token`: make, list and revoke tokens (contract G05)."""

from datetime import datetime, timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from mcp_server.management.base import ToolkitCommand, find_account, whole_number
from mcp_server.models import Token

MOST_DAYS = 36_500


class Command(ToolkitCommand):
    help = "Make, list and revoke the tokens that MCP clients sign in with. A token is shown once, when it is made."
    examples = """  manage.py mcp_token create ada --name laptop --days 90
  manage.py mcp_token create ada --name reports --scope reports:read --json
  manage.py mcp_token list --user ada
  manage.py mcp_token revoke 7
"""

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="create|list|revoke")
        create = actions.add_parser("create", help="make a token and print it")
        create.add_argument("user", help="the user's name, as at sign-in")
        create.add_argument("--name", default="", help="what the token is for; the user's name if left out")
        create.add_argument(
            "--days", type=whole_number(1, MOST_DAYS), help="days until it expires; never if left out"
        )
        create.add_argument(
            "--scope", action="append", default=[], help="limit it to a scope; may be given again"
        )
        listing = actions.add_parser("list", help="print tokens, never their text")
        listing.add_argument("--user", help="only this user's")
        revoke = actions.add_parser("revoke", help="end tokens, at once and for ever")
        revoke.add_argument("tokens", nargs="+", help="the token's number, or how its text begins")
        for action in (create, listing, revoke):
            action.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        lines, value = getattr(self, f"_{action}")(options)
        if options["json"]:
            self.write_json(value)
        else:
            for line in lines:
                self.stdout.write(line)

    def _create(self, options: dict[str, Any]) -> tuple[list[str], Any]:
        days = options["days"]
        user = find_account(options["user"])
        name = options["name"] or user.get_username()
        expires = None if days is None else timezone.now() + timedelta(days=days)
        token, plain_text = Token.objects.issue(user, name[:100], options["scope"], expires)
        lines = [plain_text]
        # A script takes the last line of standard output; what a person should know goes beside it.
        if not options["json"]:
            self.stderr.write(
                f"Token {token.pk} of {options['user']}. This is the only time that it is shown."
            )
        return lines, {**_described(token), "token": plain_text}

    def _list(self, options: dict[str, Any]) -> tuple[list[str], Any]:
        tokens = Token.objects.select_related("user")
        if options["user"]:
            tokens = tokens.filter(user=find_account(options["user"]))
        rows = [_described(token) for token in tokens]
        lines = [
            f"{row['id']:>5}  {row['begins']}…  {row['state']:<8} {row['user']}: {row['name']}"
            f"  last used {row['last_used'] or 'never'}"
            for row in rows
        ]
        return lines or ["There are no tokens."], rows

    def _revoke(self, options: dict[str, Any]) -> tuple[list[str], Any]:
        found = [_token(text) for text in options["tokens"]]
        for token in found:
            Token.objects.filter(pk=token.pk).revoke()
            token.refresh_from_db(fields=["revoked"])
        return [f"Revoked {token}." for token in found], [_described(token) for token in found]


def _token(text: str) -> Token:
    """Return the token with a number, a beginning or, since people paste what they have, the whole text."""
    if text.isdecimal():
        found = Token.objects.filter(pk=int(text))
    else:
        found = Token.objects.filter(digest=Token.digest_of(text)) or Token.objects.filter(
            prefix=text.rstrip("….")[:10]
        )
    if len(found) != 1:
        what = "No token has" if not found else "Several tokens have"
        raise CommandError(f"{what} this number or beginning; see `manage.py mcp_token list`.")
    return found[0]


def _described(token: Token) -> dict[str, Any]:
    now = timezone.now()
    state = "usable" if token.is_usable(now) else "revoked" if token.revoked else "expired"
    return {
        "id": token.pk,
        "user": token.user.get_username(),
        "name": token.name,
        "begins": token.prefix,
        "scopes": token.scopes,
        "state": state,
        "created": _moment(token.created),
        "expires": _moment(token.expires),
        "last_used": _moment(token.last_used),
    }


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")
