"""Prefect's temporary server of `run` answers its own command and nobody else."""

import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from tests.end_to_end.test_ended import begun_run, line_of, temporary_servers

pytestmark = [
    pytest.mark.flow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]

SOCKETS = ("events/out", "events/in", "logs/out")
_LISTENS = "0A"
"""The state of a listening socket in `/proc/net/tcp`."""
ALL_EVENTS = '{"type": "filter", "filter": {}}'


@contextmanager
def run_at_work(folder: Path) -> Iterator[tuple[Popen[str], str]]:
    """`piecework run` that waits for workers, and its server's address."""
    with begun_run(folder, "--poll-seconds", "0.2") as (process, _):
        assert process.stderr is not None
        text = ""
        while "next look at" not in text:
            text += line_of(process.stderr)
        (server,) = temporary_servers(folder)
        yield process, f"127.0.0.1:{_listening_port(server)}"


def _listening_port(process: int) -> int:
    """The port at which a process listens, as Linux tells it."""
    held = {
        str(file.readlink())
        for file in Path(f"/proc/{process}/fd").iterdir()
        if file.is_symlink()
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


@pytest.mark.full
def test_a_web_page_reads_and_writes_nothing_while_a_run_works(tmp_path: Path) -> None:
    """What a page can send without being asked: plain POSTs and WebSockets.

    Nor does the name of a page's own host lead there. The run itself goes on.
    """
    with run_at_work(tmp_path) as (process, address):
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
        assert process.stderr is not None
        assert re.search(r"next look at \d\d:\d\d", line_of(process.stderr))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        assert process.returncode == 130
