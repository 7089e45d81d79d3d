"""Sockets, bound before a server runs: its addresses are known at once."""

import ipaddress
import socket

from piecework.webserver.connections import Connections, Listening

LOOPBACK = "127.0.0.1"
BACKLOG = 2048


def listen(host: str, port: int, connections: Connections) -> Listening:
    """A listening socket; port 0 takes a free one.

    Raises:
        OSError: the port is taken, or not ours; the message names it.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio switches Nagle's delay (40 ms a call) off only where TCP is named.
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
    """The origin of what answers at a socket."""
    name = f"[{host}]" if ":" in host else host
    return f"{scheme}://{name}:{listening.getsockname()[1]}"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_every_address(host: str) -> bool:
    """Whether it stands for all addresses, and so is none that a browser can open."""
    return host in ("", "0.0.0.0", "::")  # noqa: S104 - compared, not bound
