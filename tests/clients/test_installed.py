"""The wheel in an environment of its own gives a command that needs no checkout."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.clients.environments import UnavailableError, python_with_wheel
from tests.conftest import ROOT
from tests.test_layout import LINKED

_SECONDS = 580


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As `pip install .` and `uv tool install .` build it."""
    folder = tmp_path_factory.mktemp("wheel")
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d"]
    subprocess.run(
        [*words, str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=_SECONDS,
    )
    return next(folder.glob("*.whl"))


def test_the_wheel_has_every_file_of_the_rooms_and_nothing_else(wheel: Path) -> None:
    """Templates, tasks, fees, examples and SQL are in it; tests are not."""
    listed = subprocess.run(
        [
            *("git", "ls-files", "--cached", "--others", "--exclude-standard"),
            *("src/piecework", *LINKED),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    kept = {
        f"piecework/{name.removeprefix('src/piecework/')}"
        for name in listed.stdout.splitlines()
        if (ROOT / name).is_file()
    }
    with zipfile.ZipFile(wheel) as packed:
        inside = {
            name
            for name in packed.namelist()
            if ".dist-info/" not in name and ".data/scripts/" not in name
        }
    assert inside == kept
    assert {"piecework/config/fees.toml", "piecework/py.typed"} <= inside


@pytest.mark.clients
@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_an_example_is_rehearsed_far_from_the_checkout(
    wheel: Path, version: str, tmp_path: Path
) -> None:
    """Examples are copied out of the package, and one runs to its report."""
    try:
        bin_folder = python_with_wheel(wheel, version=version)
    except UnavailableError as why:
        pytest.skip(str(why))
    environment = {"HOME": str(tmp_path), "PATH": f"{bin_folder}:{os.environ['PATH']}"}

    def piecework(*words: str) -> str:
        done = subprocess.run(
            [bin_folder / "piecework", *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=_SECONDS,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    said = piecework("examples")
    assert said.endswith("begin with: piecework rehearse config/campaigns/demo.toml\n")
    campaigns = re.findall(r"^config/campaigns/\w+\.toml", said, re.MULTILINE)
    assert len(campaigns) == len([*(ROOT / "config/campaigns").glob("[!.]*.toml")]) - 1
    piecework("rehearse", "config/campaigns/pairwise.toml")
    report = (tmp_path / "out/pairwise/report.html").read_text()
    assert "piecework 0.1.0" in report
    # Nothing is written to the user's Prefect.
    assert not (tmp_path / ".prefect").exists()
