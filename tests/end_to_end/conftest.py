"""The installed command in a process of its own; one Prefect home for all tests."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def piecework(tmp_path_factory: pytest.TempPathFactory) -> Command:
    """Runs `piecework` with the given words; any exit code is given back."""
    home = tmp_path_factory.mktemp("prefect")
    environment = {
        **os.environ,
        "PREFECT_HOME": str(home),
        "AWS_ACCESS_KEY_ID": "A-KEY-OF-THE-TEST",
        "AWS_SECRET_ACCESS_KEY": "no secret",
        "COLUMNS": "100",
    }

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
