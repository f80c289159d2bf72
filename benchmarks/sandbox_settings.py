"""The project of `benchmarks.sandbox` and `benchmarks.scale`: that of `benchmarks.protocol`, with the log as it is by default."""

import os

from benchmarks.project.settings import *  # noqa: F403

MCP_SERVER = {"ENDPOINTS": {"default": {"LOGIN_REQUIRED": False, "VERSION": "1"}}}
if os.environ.get("BENCHMARK_WITHOUT_US"):
    # What the SDK's own app needs beside it in a Django process.
    INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes"]
if os.environ.get("BENCHMARK_REDIS"):
    CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.core.RedisChannelLayer",
            "CONFIG": {"hosts": [{"address": os.environ["BENCHMARK_REDIS"], "socket_timeout": 30}]},
        }
    }
