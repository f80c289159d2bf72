"""A site that is configured by its environment alone, as one in a container would be."""

import json
import os

SECRET_KEY = "deployment-tests-" + "x" * 40
DEBUG = False
ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "mcp_server",
    "tests.deploy.site.parcels",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
]
ROOT_URLCONF = "tests.deploy.site.urls"
ASGI_APPLICATION = "tests.deploy.site.asgi.application"
WSGI_APPLICATION = "tests.deploy.site.wsgi.application"
DATABASES = json.loads(os.environ["SITE_DATABASES"])
DATABASE_ROUTERS = ["tests.deploy.site.router.Router"] if "parcels" in DATABASES else []
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STATIC_URL = "static/"
USE_TZ = True
if redis := os.environ.get("SITE_REDIS"):
    hosts = {"address": redis, "socket_timeout": 30}
    layer = os.environ.get("SITE_LAYER", "core.RedisChannelLayer")
    CHANNEL_LAYERS = {"default": {"BACKEND": f"channels_redis.{layer}", "CONFIG": {"hosts": [hosts]}}}
    CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": redis}}
if os.environ.get("SITE_BEHIND_TLS"):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
if prefix := os.environ.get("SITE_PREFIX"):
    FORCE_SCRIPT_NAME = prefix
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "loggers": {"mcp_server": {"handlers": ["console"], "level": "INFO"}},
}
MCP_SERVER: dict[str, object] = {}
