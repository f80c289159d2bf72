"""From an exchange to the caller for whom tools run."""

import asyncio

from mcp_server.access.narrowing import read_narrowing
from mcp_server.calls.caller import Caller, SilentChannel
from mcp_server.definitions.context import Channel, ClientInfo
from mcp_server.protocol.exchange import Exchange
from mcp_server.protocol.kernel import Connection
from mcp_server.protocol.sessions import Session


def build(
    exchange: Exchange, connection: Connection, session: Session | None, channel: Channel | None = None
) -> Caller:
    """Return the caller of an exchange.

    Args:
        exchange: what came in.
        connection: what the client said about itself.
        session: the client's, where it has one.
        channel: the way back to the client; without one nothing but the answer reaches it.
    """
    return Caller(
        principal=exchange.principal,
        endpoint=exchange.endpoint,
        runner=exchange.runner,
        loop=asyncio.get_running_loop(),
        in_transaction=exchange.in_transaction,
        channel=channel or SilentChannel(),
        client=client_info(connection),
        narrowing=read_narrowing(exchange.request),
        session=session.nonce if session is not None else None,
    )


def client_info(connection: Connection) -> ClientInfo:
    """Return what the client said about itself."""
    info = connection.client_params.client_info if connection.client_params is not None else None
    if info is None:
        return ClientInfo(protocol=connection.protocol_version)
    return ClientInfo(name=info.name, version=info.version, protocol=connection.protocol_version)
