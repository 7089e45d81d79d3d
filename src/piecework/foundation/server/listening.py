"""Binds sockets before a server runs, so that its addresses are known at once."""

import ipaddress
import socket

from piecework.foundation.server.connections import Connections, Listening

LOOPBACK = "127.0.0.1"
BACKLOG = 2048


def listen(host: str, port: int, connections: Connections) -> Listening:
    """Return a listening socket; port 0 takes a free one.

    Raises:
        OSError: the port is in use, or not permitted; the message names it.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio disables Nagle's delay (40 ms a call) only if TCP is named.
    listening = Listening(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.connections = connections
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as fault:
        listening.close()
        message = f"{fault.strerror}: {host} port {port}"
        raise OSError(fault.errno, message) from fault
    return listening


def origin(host: str, listening: socket.socket, *, scheme: str = "http") -> str:
    """Return the origin of a socket's server."""
    name = f"[{host}]" if ":" in host else host
    return f"{scheme}://{name}:{listening.getsockname()[1]}"


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach the host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_every_address(host: str) -> bool:
    """Return whether the host means all addresses, so that a browser cannot open it."""
    return host in ("", "0.0.0.0", "::")  # noqa: S104 - compared, not bound
