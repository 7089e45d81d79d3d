"""Commands in the manual work as typed, and its table says what was run."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.clients.environments import HERE
from tests.clients.scene import command_line_environment
from tests.marketplace.market import Market

_ROOT = HERE.parents[1]
_MANUAL = _ROOT / "docs/how-to/clients.md"
_BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
_ADDRESS = re.compile(r"http://127\.0\.0\.1:80\d\d")


def _typed(page: Path) -> list[str]:
    """Blocks of a page that speak to a marketplace with the AWS CLI."""
    blocks = _BLOCK.findall(page.read_text(encoding="utf-8"))
    return [block for block in blocks if "aws mturk create-hit " in block]


@pytest.mark.clients
def test_commands_work_as_typed(standing: Market, aws: Path, tmp_path: Path) -> None:
    """A shell runs each block to its end, and the HIT that it made is gone again."""
    for block in _typed(_MANUAL):
        environment = command_line_environment("typed")
        environment["PATH"] = f"{aws.parent}:{environment['PATH']}"
        done = subprocess.run(
            [shutil.which("sh") or "/bin/sh", "-eu"],
            input=_ADDRESS.sub(standing.endpoint, block),
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert '"AvailableBalance"' in done.stdout
        assert '"Reviewable"' in done.stdout
    assert standing.requester("rehearsal").list_hits()["HITs"] == []


def test_the_manual_has_commands_to_type() -> None:
    """The law above is about something."""
    assert len(_typed(_MANUAL)) == 1


@pytest.mark.parametrize(
    ("row", "name"), [("AWS CLI", "awscli"), ("psiTurk", "psiturk"), ("Mephisto", "mephisto")]
)
def test_the_manual_names_the_locked_version(row: str, name: str) -> None:
    """What is installed is what the table says was tried."""
    text = (HERE / f"{name}.lock").read_text(encoding="utf-8")
    [locked] = re.findall(rf"^{name}==(\S+)", text, re.MULTILINE)
    assert f"| {row} | {locked} |" in _MANUAL.read_text(encoding="utf-8")


def test_the_manual_names_the_locked_javascript() -> None:
    """package.json asks for one version exactly."""
    wanted = json.loads((HERE / "js" / "package.json").read_text())["dependencies"]
    row = f"| AWS SDK for JavaScript | {wanted['@aws-sdk/client-mturk']} |"
    assert row in _MANUAL.read_text(encoding="utf-8")


@pytest.mark.parametrize("lock", sorted(HERE.glob("*.lock")), ids=lambda p: p.name)
def test_a_lock_holds_hashes_and_no_host(lock: Path) -> None:
    """Every package is pinned and hashed; where it comes from is the installer's."""
    text = lock.read_text(encoding="utf-8")
    assert "://" not in text
    packages = re.split(r"\n(?=\S)", text.strip())
    assert len(packages) > 5
    assert all("==" in package and "--hash=sha256:" in package for package in packages)


def test_the_lock_of_node_holds_hashes_and_no_host() -> None:
    """As above."""
    text = (HERE / "js" / "package-lock.json").read_text(encoding="utf-8")
    assert "://" not in text
    packages = json.loads(text)["packages"]
    assert all(package["integrity"] for name, package in packages.items() if name)
