"""The project that `benchmarks.protocol` serves: no middleware, SQLite, the log as it is by default or off."""

import os

SECRET_KEY = "benchmark-" + "x" * 40
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1", "localhost"]
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "mcp_server",
    "benchmarks.project.things",
]
MIDDLEWARE: list[str] = []
ROOT_URLCONF = "benchmarks.project.urls"
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": os.environ.get("BENCHMARK_DATABASE", "/nonexistent/database"),
        "CONN_MAX_AGE": 60,
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL;",
        },
    }
}
USE_TZ = True
MCP_SERVER = {
    "ENDPOINTS": {"default": {"LOGIN_REQUIRED": False, "VERSION": "1"}},
    "LOG": {"LEVEL": os.environ.get("BENCHMARK_LOG", "off")},
}
