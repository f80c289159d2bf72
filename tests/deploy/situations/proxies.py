"""nginx in front: TLS ends there, responses are buffered, the site lives under a prefix, idle connections are cut."""

import ssl

import httpx2
import pytest

from tests.deploy import probe, processes, services
from tests.deploy.served import Command, Site, gunicorn, serve, sqlite_site, uvicorn
from tests.deploy.situation import Stage, situation

PREFIX = "/apps/site"

# Buffering stays on, as it is by default, and a connection that is silent for longer than the pings of streams is cut.
_CONFIGURATION = """
upstream site {{ server 127.0.0.1:{behind}; keepalive 8; }}
server {{
    listen 127.0.0.1:{port} ssl;
    ssl_certificate {chain};
    ssl_certificate_key {key};
    location {prefix}/ {{
        proxy_pass http://site/;
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_set_header Host $http_host;
        proxy_set_header X-Forwarded-Proto $scheme;
        proxy_buffering on;
        proxy_read_timeout 15s;
        proxy_send_timeout 15s;
        keepalive_timeout 2s;
    }}
}}
"""


@situation("nginx: TLS, buffering, prefix, time-outs")
@pytest.mark.proves("P11b")
def nginx(stage: Stage) -> None:
    """An ASGI and a WSGI server behind it; a call that is silent for longer than nginx waits."""
    site = sqlite_site(stage).having(SITE_BEHIND_TLS="1", SITE_PREFIX=PREFIX)
    chain, key = services.certificate(stage)
    behind, port = processes.free_port(), processes.free_port()
    text = _CONFIGURATION.format(behind=behind, port=port, chain=chain, key=key, prefix=PREFIX)
    services.nginx(stage, text, port)
    trusted = ssl.create_default_context(cafile=str(chain))
    address = f"https://127.0.0.1:{port}{PREFIX}"
    for command in (uvicorn(), gunicorn("-w", "1")):
        _check_behind(stage, site, command, behind, address, trusted)


def _check_behind(
    stage: Stage, site: Site, command: Command, behind: int, address: str, trusted: ssl.SSLContext
) -> None:
    served = serve(stage, site, command, port=behind)
    url = f"{address}/mcp"
    probe.play(probe.try_everything(url, site.token, verify=trusted))
    # Silent for as long that nothing but the keep-alives of a stream keeps nginx from giving up.
    waiting = {"seconds": max(2.5, min(stage.seconds / 4, 17))}
    assert probe.play(probe.call(url, site.token, "wait", waiting, verify=trusted)) == "waited"
    _check_addresses(url, trusted)
    served.stop()


def _check_addresses(url: str, trusted: ssl.SSLContext) -> None:
    """Both forms of the address answer in JSON and without a redirect, and plain HTTP is not served at all."""
    for address in (url, f"{url}/", f"{url}/code", f"{url}/nothing"):
        answer = httpx2.post(address, json={}, verify=trusted, timeout=20)
        assert answer.status_code in {400, 401, 404}, (address, answer.status_code)
        assert answer.headers["content-type"].startswith("application/json"), answer.headers
