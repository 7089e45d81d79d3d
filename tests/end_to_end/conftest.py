"""`piecework` in processes of its own; one Prefect home for all tests."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from piecework.cli.prefect_server import TemporaryServer

ROOT = Path(__file__).resolve().parents[2]
Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[dict[str, str]]:
    """The variables that name a server of Prefect, which takes long to start.

    Tests of the temporary server, which each command would start, do without it.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", "300")
        server = TemporaryServer()
        try:
            server._wait_until_it_answers()
            yield {
                "PREFECT_API_URL": f"http://127.0.0.1:{server._port}/api",
                "PREFECT_API_AUTH_STRING": server._auth,
            }
        finally:
            server.close()


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What every command is started with."""
    return {
        **os.environ,
        "PREFECT_HOME": str(tmp_path_factory.mktemp("prefect")),
        "AWS_ACCESS_KEY_ID": "A-KEY-OF-THE-TEST",
        "AWS_SECRET_ACCESS_KEY": "no secret",
        "COLUMNS": "100",
        # A new home is made ready first, which takes long on a busy machine.
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "300",
    }


@pytest.fixture(scope="session")
def installed(environment: dict[str, str]) -> Command:
    """Runs the installed `piecework` with the given words."""

    def run(*words: str | Path) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [str(Path(sys.executable).with_name("piecework")), *map(str, words)],
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
            env=environment,
            cwd=ROOT,
        )

    return run


@pytest.fixture(scope="session")
def piecework(
    environment: dict[str, str],
    prefect_server: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Command]:
    """Runs `piecework` with the given words, forked where all is imported already.

    One command at a time: beside another, `installed` is what runs.
    """
    folder = tmp_path_factory.mktemp("said")
    printed, complained = folder / "printed.txt", folder / "complained.txt"

    with subprocess.Popen(
        [sys.executable, "-m", "tests.end_to_end.forking"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**environment, **prefect_server},
        cwd=ROOT,
    ) as forking:
        assert forking.stdin is not None
        assert forking.stdout is not None

        alone = threading.Lock()

        def run(*words: str | Path) -> "subprocess.CompletedProcess[str]":
            asked = [[*map(str, words)], str(printed), str(complained)]
            assert alone.acquire(blocking=False), "a command is under way already"
            try:
                print(json.dumps(asked), file=forking.stdin, flush=True)
                assert forking.stdout is not None
                code = int(forking.stdout.readline())
                return subprocess.CompletedProcess(
                    words, code, printed.read_text(), complained.read_text()
                )
            finally:
                alone.release()

        yield run
