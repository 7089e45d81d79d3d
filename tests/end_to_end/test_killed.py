"""A command that is killed leaves no server behind."""

import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from marketplace.http.server import serve
from tests.end_to_end.conftest import ROOT
from tests.small_campaign import write_campaign

pytestmark = [
    pytest.mark.flow,
    pytest.mark.full,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]


def _servers(home: Path) -> list[int]:
    """Prefect's temporary servers of this home."""
    mine, found = f"PREFECT_HOME={home}".encode(), []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if mine in words and b"PREFECT__SERVER_EPHEMERAL=1" in words:
            found.append(int(folder.name))
    return found


def test_a_killed_run_takes_its_prefect_server_along(tmp_path: Path) -> None:
    """SIGKILL leaves it no moment to stop the server itself."""
    home = tmp_path / "prefect"
    campaign = write_campaign(tmp_path)
    with serve(
        tmp_path / "marketplace.db",
        rehearsal=True,
        seed=1,
        start=datetime(2026, 1, 5, 9, tzinfo=UTC),
    ) as running:
        begun = subprocess.Popen(
            [
                *(Path(sys.executable).with_name("piecework"), "run", campaign),
                *("--endpoint", running.endpoint_url),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            env={
                **os.environ,
                "PREFECT_HOME": str(home),
                "AWS_ACCESS_KEY_ID": "A-KEY-OF-THE-TEST",
                "AWS_SECRET_ACCESS_KEY": "no secret",
            },
        )
        try:
            until = time.monotonic() + 200
            while not (servers := _servers(home)):
                assert time.monotonic() < until, "no server was started"
                assert begun.poll() is None
                time.sleep(0.1)
        finally:
            begun.kill()
            begun.wait()
        until = time.monotonic() + 30
        while _servers(home):
            if time.monotonic() > until:
                for pid in servers:
                    os.kill(pid, signal.SIGKILL)
                raise AssertionError("the server lives on")
            time.sleep(0.1)
