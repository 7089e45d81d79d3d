"""Prefect's temporary server, as far as a command sees to it itself."""

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from piecework.cli import prefect_server
from piecework.cli.main import main
from piecework.cli.prefect_server import TemporaryServer
from piecework.domain.errors import PieceworkError
from tests.conftest import ROOT
from tests.crash.world import World, can_mount, small_disk
from tests.small_campaign import write_campaign

_PYTHON = sys.executable


@pytest.fixture(autouse=True)
def nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is started as Python ends at once."""
    monkeypatch.setattr(sys, "executable", "/bin/false")
    monkeypatch.setenv("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", "30")


def test_a_server_that_ends_at_once_is_told_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of the flow, and without waiting for what cannot come."""
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    with pytest.raises(PieceworkError, match="ended while it started"), TemporaryServer().in_use():
        raise AssertionError("the flow began")


def test_no_other_program_can_take_the_port_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the server's before the server has been imported."""
    monkeypatch.setattr(sys, "executable", _PYTHON)
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    server = TemporaryServer()
    try:
        with pytest.raises(OSError, match="in use"):
            socket.create_server(("127.0.0.1", server._port))
    finally:
        server.close()


@pytest.mark.skipif(not can_mount(), reason="only root can make a small disk to fill")
def test_a_server_without_room_is_told_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names the folder; half a copy of the empty database does not stay."""
    world = World(tmp_path)
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kept = prefect_server._kept()
    kept.parent.mkdir(parents=True)
    kept.write_bytes(bytes(1_000_000))
    with small_disk(world.out):
        monkeypatch.setattr(tempfile, "tempdir", str(world.out))
        world.leave_room(400)
        server = TemporaryServer()
        with (
            pytest.raises(PieceworkError, match="ended while it started") as refused,
            server.in_use(),
        ):
            raise AssertionError("the flow began")
        assert f"make room: its folder {world.out}" in refused.value.next_step
        assert [*world.out.rglob("*.db")] == []
        server.close()


def test_a_refused_command_leaves_no_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is stopped with the command, also where Python goes on."""
    monkeypatch.setattr(sys, "executable", _PYTHON)
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    campaign = write_campaign(tmp_path)
    refused = CliRunner().invoke(main, ["run", str(campaign), "--endpoint", "http://127.0.0.1:9"])
    assert refused.exit_code != 0
    assert [*tmp_path.glob("piecework-prefect-*")] == []


def test_a_server_of_the_user_s_is_used_and_none_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was started here would have ended, and be complained of."""
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:4200/api")
    with TemporaryServer().in_use():
        pass


@pytest.mark.parametrize("has_one", [False, True])
def test_a_user_s_home_of_prefect_is_used_and_never_made(tmp_path: Path, *, has_one: bool) -> None:
    """A command that imports Prefect leaves a home folder as it was."""
    home = tmp_path / ".prefect"
    if has_one:
        home.mkdir()
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PREFECT_", "XDG_"))
    }
    script = (
        "from piecework.cli.main import main\n"
        "main(['check', '--help'], standalone_mode=False)\n"
        "from prefect.settings import PREFECT_HOME; print(PREFECT_HOME.value())"
    )
    done = subprocess.run(
        [_PYTHON, "-c", script],
        env={**environment, "HOME": str(tmp_path)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    used = Path(done.stdout.splitlines()[-1])
    assert home.exists() == has_one
    assert (used == home) == has_one
