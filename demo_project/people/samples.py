"""Two hundred users, the same at every start."""

import datetime as dt
import itertools
from random import Random

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import User

FIRST_DAY = dt.datetime(2025, 3, 3, 9, tzinfo=dt.UTC)
COUNT = 200
FIRST_NAMES = (
    "Ada", "Alan", "Barbara", "Carlos", "Dorothy", "Edsger", "Grace", "Haruki", "Ingrid", "João",
    "Katherine", "Linus", "Margaret", "Niklaus", "Olga", "Priya", "Radia", "Søren", "Tim", "Wei",
)  # fmt: skip
LAST_NAMES = ("Adler", "Brandt", "Castillo", "Dvořák", "Eriksen", "Fujita", "García", "Hopper", "Ito", "李")


def load_users() -> list[User]:
    """Create the sample users and return them, ids 1 to 200 in an empty database."""
    pairs = list(itertools.product(FIRST_NAMES, LAST_NAMES))
    Random(1).shuffle(pairs)
    users = [_user(number, *pair) for number, pair in enumerate(pairs[:COUNT], start=1)]
    return User.objects.bulk_create(users)


def _user(number: int, first: str, last: str) -> User:
    # Nobody can sign in as a sample user: there is no password to guess.
    # The programs of the demo name users by id, so the id is given, whatever was in the table before.
    return User(
        pk=number,
        username=f"user{number}",
        first_name=first,
        last_name=last,
        email=f"user{number}@example.com",
        password=UNUSABLE_PASSWORD_PREFIX + "sample",
        date_joined=FIRST_DAY + dt.timedelta(hours=number),
    )
