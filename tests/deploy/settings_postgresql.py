"""The settings of the tests, on a PostgreSQL that `python -m tests.deploy.run` made."""

import json
import os

from tests.settings import *  # noqa: F403

DATABASES = json.loads(os.environ["SITE_DATABASES"])
