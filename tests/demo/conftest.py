"""The demo's data and people."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from demo_project.accounts import prepare_accounts
from demo_project.samples import load_samples


@pytest.fixture
def people(db: Any) -> dict[str, User]:
    """Return the staff and the plain user beside the sample data."""
    load_samples()
    names = [account.username for account, _ in prepare_accounts()]
    return {user.username: user for user in User.objects.filter(username__in=names)}
