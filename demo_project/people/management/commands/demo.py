"""`manage.py demo`: the whole product with one command, on SQLite and without any service."""

import socket
from pathlib import Path
from typing import Any

import uvicorn
from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler
from django.core.management import CommandError, call_command
from django.core.management.base import CommandParser
from django.db import connection

from demo_project.accounts import Account, prepare_accounts
from demo_project.asgi import application
from demo_project.checking import check_demo
from demo_project.samples import load_samples
from mcp_server.management.base import ToolkitCommand
from mcp_server.management.clients import CLIENTS

HOST = "127.0.0.1"
ENDPOINTS = {"demo": "/mcp", "demo-code": "/mcp/code"}


class Command(ToolkitCommand):
    help = "Start the demo: tools at /mcp, Code Mode at /mcp/code, the admin at /admin/."
    examples = """  manage.py demo
  manage.py demo --port 8001 --reset
  manage.py demo --check
"""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="port to serve at; 0 takes a free one")
        parser.add_argument("--reset", action="store_true", help="delete the demo's database first")
        parser.add_argument(
            "--check", action="store_true", help="try a demo of its own once, say what happened, and end"
        )

    def handle(self, *, port: int, reset: bool, check: bool, **options: Any) -> None:
        if check:
            check_demo(self.stdout.write)
            return
        with _listen(port) as listener:
            if reset:
                _delete_database()
            call_command("migrate", verbosity=0)
            if load_samples():
                self.stdout.write("Loaded 200 users, 2,000 todos, 300 products and 3,000 orders.")
            self._introduce(f"http://{HOST}:{listener.getsockname()[1]}", list(prepare_accounts()))
            connection.close()
            _serve(listener)
        self.stdout.write("Stopped.")

    def _introduce(self, address: str, accounts: list[tuple[Account, str]]) -> None:
        self.stdout.write(f"\nTools       {address}/mcp\nCode Mode   {address}/mcp/code")
        signs = " or ".join(
            f"{account.username} / {account.password}" for account, _ in accounts if account.is_staff
        )
        self.stdout.write(f"Admin       {address}/admin/   sign in as {signs}\n")
        servers = {name: address + path for name, path in ENDPOINTS.items()}
        for account, token in accounts:
            self.stdout.write(f"\nClient configuration for the user {account.username!r}:")
            self.stdout.write(CLIENTS["other"].write(servers, token))
        self.stdout.write(
            "\nPaste one into your MCP client and ask: Which users have overdue todos? Remind them."
            "\nThen look at Code runs in the admin."
        )
        self.stdout.write("\nTokens change at each start. Ctrl-C ends the demo.")
        self.stdout.flush()


def _listen(port: int) -> socket.socket:
    if not 0 <= port < 2**16:
        raise CommandError(f"There is no port {port}. Try --port 8001, or --port 0.")
    try:
        return socket.create_server((HOST, port))
    except OSError as error:
        raise CommandError(f"Cannot serve at port {port}: {error}. Try --port 8001, or --port 0.") from error


def _delete_database() -> None:
    connection.close()
    for suffix in ("", "-wal", "-shm"):
        Path(f"{connection.settings_dict['NAME']}{suffix}").unlink(missing_ok=True)


def _serve(listener: socket.socket) -> None:
    config = uvicorn.Config(
        ASGIStaticFilesHandler(application), log_level="warning", timeout_graceful_shutdown=3
    )
    try:
        uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:
        return  # uvicorn has shut down and hands Ctrl-C on; the user asked for the end and has it
