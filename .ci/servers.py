"""List, call and run code in both protocol eras under every kind of server; each must end with all of its workers."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 30
SERVERS = {
    "runserver": ["manage.py", "runserver", "--noreload", "{port}"],
    "runserver (daphne)": [
        "manage.py",
        "runserver",
        "--noreload",
        "{port}",
        "--settings",
        "tests.settings_daphne",
    ],
    "uvicorn": [
        "-m",
        "uvicorn",
        "demo_project.asgi:application",
        "--port",
        "{port}",
        "--log-level",
        "warning",
    ],
    "uvicorn, 3 processes": [
        "-m",
        "uvicorn",
        "demo_project.asgi:application",
        "--port",
        "{port}",
        "--workers",
        "3",
    ],
    "daphne": ["-m", "daphne", "-p", "{port}", "-v", "0", "demo_project.asgi:application"],
    "gunicorn threads": [
        *("-m", "gunicorn", "demo_project.wsgi", "-b", "127.0.0.1:{port}"),
        *("-k", "gthread", "-w", "2", "--threads", "4", "--log-level", "warning"),
    ],
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DEMO_DATABASE"] = str(Path(folder) / "demo.sqlite3")
        tokens = prepare()
        failures = [
            name for name, command in SERVERS.items() if not try_server(name, command, tokens["staff"])
        ]
    print(f"{len(SERVERS) - len(failures)} passed, {len(failures)} failed")
    sys.exit(bool(failures))


def prepare() -> dict[str, str]:
    """Fill the database and return a token by user name."""
    import django

    sys.path.insert(0, str(ROOT))
    os.environ["DJANGO_SETTINGS_MODULE"] = "demo_project.settings"
    django.setup()
    from django.core.management import call_command
    from django.db import connection

    from demo_project.accounts import prepare_accounts
    from demo_project.samples import load_samples

    call_command("migrate", verbosity=0)
    load_samples()
    tokens = {account.username: token for account, token in prepare_accounts()}
    connection.close()
    return tokens


def try_server(name: str, command: list[str], token: str) -> bool:
    from demo_project.checking import check_endpoints, run_check

    port = free_port()
    address = f"http://127.0.0.1:{port}"
    headers = {"Authorization": f"Bearer {token}"}
    servers = {
        "demo": {"url": f"{address}/mcp", "headers": headers},
        "demo-code": {"url": f"{address}/mcp/code", "headers": headers},
    }
    print(f"\n--- {name}", flush=True)
    arguments = [sys.executable, *(part.format(port=port) for part in command)]
    process = subprocess.Popen(arguments, cwd=ROOT, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        wait_for(lambda: answers(address) or process.poll() is not None, "the server to answer")
        run_check(check_endpoints(servers, print))
        family = descendants(process.pid)
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)
        wait_for(lambda: not any(alive(pid) for pid in family), "all workers to end with the server")
    except BaseException as error:
        if not isinstance(error, Exception | SystemExit):
            raise
        print(f"FAILED: {type(error).__name__}: {error}")
        return False
    else:
        print(f"ended       SIGTERM, with {len(family)} processes below it")
        return True
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def answers(address: str) -> bool:
    try:
        urllib.request.urlopen(f"{address}/mcp", timeout=5).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True


def wait_for(condition, what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {PATIENCE} s for {what}")
        time.sleep(0.05)


def descendants(parent: int) -> list[int]:
    """Return the processes below one, on Linux; elsewhere none are known."""
    found: list[int] = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended while we looked
        if int(fields[1]) == parent:
            child = int(stat.parent.name)
            found += [child, *descendants(child)]
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


if __name__ == "__main__":
    main()
