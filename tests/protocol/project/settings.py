"""A small project that servers in subprocesses serve: every kind of tool, no service but SQLite."""

import os
from typing import Any

SECRET_KEY = "protocol-tests-" + "x" * 40
DEBUG = os.environ.get("TEST_DEBUG") == "1"
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "testserver"]
INSTALLED_APPS = [
    *(["daphne"] if os.environ.get("TEST_DAPHNE") else []),
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "mcp_server",
    "tests.protocol.project.things",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
]
ROOT_URLCONF = "tests.protocol.project.urls"
ASGI_APPLICATION = "tests.protocol.project.asgi.application"
WSGI_APPLICATION = "tests.protocol.project.wsgi.application"
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": os.environ.get("TEST_DATABASE", "/nonexistent/database"),
        "ATOMIC_REQUESTS": True,
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
    },
}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STATIC_URL = "static/"
USE_TZ = True
if redis := os.environ.get("TEST_REDIS"):
    layer = os.environ.get("TEST_LAYER", "pubsub.RedisPubSubChannelLayer")
    CHANNEL_LAYERS = {"default": {"BACKEND": f"channels_redis.{layer}", "CONFIG": {"hosts": [redis]}}}
MCP_SERVER: dict[str, Any] = {
    "ENDPOINTS": {
        "default": {"LOGIN_REQUIRED": False, "VERSION": "1.2.3"},
        "code": {"CODE_MODE": "on", "TOOLS": ["add", "add-later", "work", "order", "sleep"]},
        # The one with a tool whose guard asks the database on the event loop.
        "awaiting": {"LOGIN_REQUIRED": False},
    }
}
