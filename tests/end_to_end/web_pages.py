"""What a web page can send to the temporary Prefect server of `run`: all is refused."""

from pathlib import Path

import httpx
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Subprotocol

SOCKETS = ("events/out", "events/in", "logs/out")
_LISTENS = "0A"
"""The state of a listening socket in `/proc/net/tcp`."""
ALL_EVENTS = '{"type": "filter", "filter": {}}'


def check_refused(server: int) -> None:
    """Send plain POSTs and WebSockets, as a page can without being asked.

    Nor does the name of a page's own host lead there.

    Args:
        server: the process of Prefect's server.
    """
    address = f"127.0.0.1:{_listening_port(server)}"
    url = f"http://{address}/api"
    page = {"Origin": "https://evil.example"}
    runs = httpx.post(f"{url}/flow_runs/filter", content=b"{}", headers=page)
    assert runs.status_code == 401
    crash = b'{"state": {"type": "CRASHED"}, "force": true}'
    for way in ("flow_runs", "deployments", "work_pools/x/queues"):
        path = f"{url}/{way}/00000000-0000-0000-0000-000000000000/set_state"
        assert httpx.post(path, content=crash, headers=page).status_code == 401
    assert httpx.get(f"{url}/admin/settings", headers=page).status_code == 401
    for socket in SOCKETS:
        assert _is_refused(address, socket, first="{}")
        for message in ('{"type": "auth", "token": ""}', '{"type": "auth"}', "{}"):
            assert _is_refused(address, socket, "prefect", first=message)
    for host in ("evil.example", f"evil.example:{address.rpartition(':')[2]}"):
        renamed = httpx.get(f"{url}/health", headers={"Host": host})
        assert renamed.status_code == 400
    assert httpx.get(f"{url}/health").json() is True


def _listening_port(process: int) -> int:
    """The port at which a process listens, as Linux tells it."""
    held = {
        str(file.readlink()) for file in Path(f"/proc/{process}/fd").iterdir() if file.is_symlink()
    }
    rows = Path(f"/proc/{process}/net/tcp").read_text().splitlines()[1:]
    (port,) = {
        int(cells[1].split(":")[1], 16)
        for cells in map(str.split, rows)
        if cells[3] == _LISTENS and f"socket:[{cells[9]}]" in held
    }
    return port


def _is_refused(address: str, path: str, *subprotocols: str, first: str) -> bool:
    """Whether a WebSocket is closed before it gives anything."""
    wanted = [Subprotocol(each) for each in subprotocols] or None
    try:
        with connect(f"ws://{address}/api/{path}", subprotocols=wanted) as socket:
            socket.send(first)
            socket.send(ALL_EVENTS)
            socket.recv(timeout=10)
    except (ConnectionClosed, InvalidStatus):
        return True
    return False
