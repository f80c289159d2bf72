"""The services that a site stands on: PostgreSQL, PgBouncer, Redis, nginx; made for the run, on loopback only."""

import os
import pwd
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.deploy import machine, processes
from tests.deploy.processes import Program
from tests.deploy.situation import NotRun, Stage

ROLE = "deploy"


@dataclass(slots=True)
class PostgreSQL:
    """A server of our own; it can be stopped and started again on the same data and port."""

    binaries: Path
    data: Path
    port: int
    prefix: list[str]
    program: Program | None = None

    def start(self) -> None:
        """Start it and wait until it takes connections."""
        options = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "fsync": "off",
            "max_connections": "60",
        }
        settings = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        command = [str(self.binaries / "postgres"), "-D", str(self.data), "-p", str(self.port), *settings]
        log = self.data.parent / "postgres.log"
        self.program = processes.start([*self.prefix, *command], log, os.environ, Path("/"))
        ready = [str(self.binaries / "pg_isready"), "-h", "127.0.0.1", "-p", str(self.port), "-q"]
        processes.wait_for(lambda: _succeeds(ready), "PostgreSQL")

    def stop(self) -> None:
        """Stop it at once: its clients see their connections end."""
        if self.program is not None:
            self.program.stop(signal.SIGINT)

    def make(self, name: str) -> dict[str, Any]:
        """Return Django's settings for a new, empty database."""
        client = [
            str(self.binaries / "psql"),
            "-h",
            "127.0.0.1",
            "-p",
            str(self.port),
            "-U",
            ROLE,
            "-q",
            "postgres",
        ]
        processes.run([*client, "-c", f'CREATE DATABASE "{name}"'], os.environ, Path("/"))
        return self.settings(name)

    def settings(self, name: str, port: int = 0) -> dict[str, Any]:
        """Return Django's settings for a database, seen through another port where one is given."""
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": name,
            "USER": ROLE,
            "HOST": "127.0.0.1",
            "PORT": port or self.port,
            "ATOMIC_REQUESTS": True,
        }


def postgresql(stage: Stage) -> PostgreSQL:
    """Return the server that the situations share."""
    machine.need_module("psycopg")
    initdb = Path(machine.program(stage, "initdb", "postgresql")).resolve()

    def make() -> PostgreSQL:
        found = _make_cluster(initdb, stage.shared.folder / "postgresql")
        stage.shared.stack.callback(found.stop)
        return found

    return stage.shared.get("postgresql", make)


def _make_cluster(initdb: Path, folder: Path) -> PostgreSQL:
    folder.mkdir()
    prefix = _as_service_user(folder)
    data = folder / "data"
    command = [
        str(initdb),
        "-D",
        str(data),
        "-U",
        ROLE,
        "-A",
        "trust",
        "-E",
        "UTF8",
        "--no-sync",
        "--locale=C.UTF-8",
    ]
    processes.run([*prefix, *command], os.environ, Path("/"))
    found = PostgreSQL(initdb.parent, data, processes.free_port(), prefix)
    found.start()
    return found


def _as_service_user(folder: Path) -> list[str]:
    """Return the start of a command that does not run as root, who may not run these servers."""
    if os.geteuid() != 0:
        return []
    try:
        user = pwd.getpwnam("postgres")
    except KeyError:
        raise NotRun("there is no user `postgres` to run the server as") from None
    shutil.chown(folder, user.pw_uid, user.pw_gid)
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]


def pgbouncer(stage: Stage, server: PostgreSQL) -> int:
    """Return the port of a pooler in transaction mode in front of the server."""
    binary = machine.program(stage, "pgbouncer", "pgbouncer")
    folder = stage.folder / "pgbouncer"
    folder.mkdir()
    prefix = _as_service_user(folder)
    port = processes.free_port()
    configuration = folder / "pgbouncer.ini"
    configuration.write_text(
        f"[databases]\n* = host=127.0.0.1 port={server.port} user={ROLE}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
        "pool_mode = transaction\ndefault_pool_size = 4\nmax_client_conn = 200\nignore_startup_parameters = extra_float_digits\n"
    )
    command = [*prefix, binary, str(configuration)]
    return _started(stage, command, folder / "log", port)


@dataclass(slots=True)
class Redis:
    """A Redis server of our own; it keeps nothing when it is stopped."""

    command: list[str]
    folder: Path
    port: int
    program: Program | None = None

    @property
    def url(self) -> str:
        """Return where it is reached."""
        return f"redis://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and wait until it takes connections."""
        self.program = processes.start(self.command, self.folder / "redis.log", os.environ, self.folder)
        processes.wait_for(lambda: processes.accepts(self.port), "Redis")

    def stop(self) -> None:
        """Stop it."""
        if self.program is not None:
            self.program.stop()


def redis(stage: Stage) -> Redis:
    """Return a Redis server for one situation."""
    machine.need_module("channels_redis")
    binary, port = machine.program(stage, "redis-server", "redis-server"), processes.free_port()
    command = [binary, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(stage.folder)]
    found = Redis(command, stage.folder, port)
    found.start()
    stage.stack.callback(found.stop)
    return found


def nginx(stage: Stage, configuration: str, port: int) -> Program:
    """Start nginx with the given contents of its `http` block."""
    binary = machine.program(stage, "nginx", "nginx")
    folder = stage.folder / "nginx"
    folder.mkdir()
    temporary = "".join(
        f"{name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = "user root;\n" if os.geteuid() == 0 else ""
    text = (
        f"{user}daemon off;\nworker_processes 1;\nerror_log stderr warn;\npid {folder}/pid;\n"
        f"events {{ worker_connections 256; }}\nhttp {{\naccess_log off;\n{temporary}{configuration}\n}}\n"
    )
    path = folder / "nginx.conf"
    path.write_text(text)
    command = [binary, "-p", str(folder), "-c", str(path), "-e", "stderr"]
    program = processes.start(command, folder / "log", os.environ, folder)
    stage.stack.callback(program.kill)
    _wait(program, port)
    return program


def certificate(stage: Stage) -> tuple[Path, Path]:
    """Return a certificate for 127.0.0.1 and its key."""
    binary = machine.program(stage, "openssl", "openssl")
    chain, key = stage.folder / "chain.pem", stage.folder / "key.pem"
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    command = [binary, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names]
    processes.run([*command, "-out", str(chain), "-keyout", str(key)], os.environ, stage.folder)
    return chain, key


def _started(stage: Stage, command: list[str], log: Path, port: int) -> int:
    program = processes.start(command, log, os.environ, stage.folder)
    stage.stack.callback(program.kill)
    _wait(program, port)
    return port


def _wait(program: Program, port: int) -> None:
    processes.wait_for(lambda: processes.accepts(port) or program.process.poll() is not None, f"port {port}")
    if program.process.poll() is not None:
        raise RuntimeError(f"it did not start: {program.said()[-1500:]}")


def _succeeds(command: list[str]) -> bool:
    try:
        processes.run(command, os.environ, Path("/"), 5)
    except RuntimeError:
        return False
    return True
