"""The examples of the deployment page are what servers and Django accept."""

import runpy
from pathlib import Path

import pytest
from channels.testing import HttpCommunicator, WebsocketCommunicator
from django.test import override_settings

from mcp_server.codemode.watching import LIVE_PATH

EXAMPLES = Path(__file__).parents[2] / "docs/examples/deployment"


async def test_the_asgi_example_serves_websockets_to_nobody_from_elsewhere():
    application = runpy.run_path(str(EXAMPLES / "asgi.py"))["application"]
    headers = [(b"origin", b"https://elsewhere.example")]
    connected, _ = await WebsocketCommunicator(application, "/ws/nowhere", headers=headers).connect()
    assert connected is False


async def test_the_door_example_refuses_a_stranger_at_its_prefix_and_leaves_the_rest_to_django():
    application = runpy.run_path(str(EXAMPLES / "asgi_door.py"))["application"]
    refused = await answer_of(application, "/mcp")
    assert refused["status"] == 401
    assert (await answer_of(application, "/nowhere"))["status"] == 404


async def answer_of(application, path: str):
    headers = [(b"host", b"testserver"), (b"content-type", b"application/json")]
    communicator = HttpCommunicator(application, "POST", path, body=b"{}", headers=headers)
    response = await communicator.get_response()
    await communicator.wait()
    return response


@pytest.mark.parametrize("name", ["CHANNEL_LAYERS", "CACHES"])
def test_the_redis_example_names_backends_that_can_be_imported(name):
    from django.utils.module_loading import import_string

    found = runpy.run_path(str(EXAMPLES / "settings_redis.py"))[name]
    with override_settings(**{name: found}):
        backend = import_string(found["default"]["BACKEND"])
    assert backend.__name__ in {"RedisChannelLayer", "RedisCache"}


def test_nginx_passes_streams_on_and_keeps_the_host():
    text = (EXAMPLES / "nginx.conf").read_text(encoding="utf-8")
    block = text.split("location /mcp {")[1].split("}")[0]
    assert "proxy_buffering off;" in block
    assert text.count("proxy_set_header Host $http_host;") == text.count("location ")
    assert "proxy_set_header Upgrade" in text.split(f"location /{LIVE_PATH.partition('/')[0]}/ {{")[1]


def test_the_image_runs_as_nobody_with_files_collected():
    lines = (EXAMPLES / "Dockerfile").read_text(encoding="utf-8").splitlines()
    assert lines.index("RUN python manage.py collectstatic --noinput") < lines.index("USER nobody")
    assert lines[-1].startswith('CMD ["uvicorn"')


def test_the_settings_of_databases_and_logging_are_what_django_takes():
    from logging.config import dictConfig

    databases = runpy.run_path(str(EXAMPLES / "settings_databases.py"))
    assert (
        databases["POOLED"]["OPTIONS"]["pool"]["max_size"]
        >= databases["POOLED"]["OPTIONS"]["pool"]["min_size"]
    )
    assert databases["BEHIND_PGBOUNCER"]["DISABLE_SERVER_SIDE_CURSORS"]
    dictConfig({**runpy.run_path(str(EXAMPLES / "settings_logging.py"))["LOGGING"], "incremental": False})


def test_the_proxy_that_asks_another_server_tells_clients_to_come_again():
    text = (EXAMPLES / "nginx_rolling.conf").read_text(encoding="utf-8")
    assert "Retry-After" in text
    assert text.count("max_fails=0") == text.count("    server 127.0.0.1")


@pytest.mark.django_db
def test_the_health_example_answers(client):
    with override_settings(ROOT_URLCONF=type("urls", (), runpy.run_path(str(EXAMPLES / "urls_health.py")))):
        assert client.get("/health/").json()["status"] == "ok"
