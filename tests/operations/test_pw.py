"""The command `pw` of a server: piecework as its user, with the keys that are there."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.operations.deployed import DEPLOY

_RUNUSER = """#!/bin/sh
[ "$1 $2 $3" = "-u piecework --" ] || exit 9
shift 3
exec "$@"
"""
_PIECEWORK = """#!/bin/sh
pwd
echo "$HOME"
env | grep -E "^(AWS|PIECEWORK)_" | sort
echo "$*"
"""


@pytest.fixture
def server(tmp_path: Path) -> Path:
    """The folders of a server, with programs that say how they were called."""
    text = (DEPLOY / "pw").read_text()
    for name in ("etc", "var", "opt"):
        text = text.replace(f"/{name}/", f"{tmp_path}/{name}/")
    for folder in ("etc/piecework", "var/lib/piecework", "opt/piecework/bin", "bin"):
        (tmp_path / folder).mkdir(parents=True)
    programs = {"pw": text, "bin/runuser": _RUNUSER, "opt/piecework/bin/piecework": _PIECEWORK}
    for path, script in programs.items():
        (tmp_path / path).write_text(script)
        (tmp_path / path).chmod(0o755)
    return tmp_path


def _printed(server: Path, *words: str) -> list[str]:
    done = subprocess.run(
        [server / "pw", *words],
        env={"PATH": f"{server / 'bin'}:{os.environ['PATH']}", "HOME": "/root"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_piecework_gets_the_keys_of_bucket_and_marketplace(server: Path) -> None:
    """From the files of the guide; the marketplace has names of its own."""
    (server / "etc/piecework/backup.env").write_text(
        "AWS_ACCESS_KEY_ID=bucket\nAWS_SECRET_ACCESS_KEY=a/b+c=\n"
    )
    (server / "etc/piecework/market-key").write_text(
        "[default]\naws_access_key_id = PWKE1\naws_secret_access_key = s3/c+=\n"
    )
    home = str(server / "var/lib/piecework")
    assert _printed(server, "status", "campaigns/my birds.toml") == [
        *(home, home),
        "AWS_ACCESS_KEY_ID=bucket",
        "AWS_SECRET_ACCESS_KEY=a/b+c=",
        "PIECEWORK_ACCESS_KEY_ID=PWKE1",
        "PIECEWORK_SECRET_ACCESS_KEY=s3/c+=",
        "status campaigns/my birds.toml",
    ]


def test_without_keys_it_runs_too(server: Path) -> None:
    """Before the guide's later steps there are none."""
    home = str(server / "var/lib/piecework")
    assert _printed(server, "--version") == [home, home, "--version"]
