"""The image: what it installs is locked, and its health check is right."""

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.marketplace.market import free_port
from tests.marketplace.served_apart import PIECEWORK
from tests.operations.deployed import DEPLOY, ROOT, services
from tools.image_lock import beyond, entries

_TEXT = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
_EXTRAS = {"backup", "oidc", "prolific", "sql"}


def _lock(name: str) -> dict[str, str]:
    return entries((ROOT / name).read_text(encoding="utf-8"))


def _names(pins: dict[str, str]) -> set[str]:
    return {canonicalize_name(pin.partition("==")[0].partition("[")[0]) for pin in pins}


def test_the_locks_of_the_image_agree_and_repeat_nothing() -> None:
    """The image has the versions that the tests ran with, each with its hashes."""
    run = _lock("requirements.lock")
    extras = _lock("docs/operations/deploy/extras.lock")
    tested = _lock("requirements-dev.lock")
    assert extras
    assert not run.keys() & extras.keys()
    for pin, text in extras.items():
        assert text == tested[pin]
        assert "--hash=sha256:" in text


def test_the_locks_of_the_image_are_complete() -> None:
    """With `--no-deps` nothing else is installed, so each package is in a lock."""
    locked = _names(_lock("requirements.lock"))
    locked |= _names(_lock("docs/operations/deploy/extras.lock"))
    waiting = [
        Requirement(line) for extra in _EXTRAS for line in _PROJECT["optional-dependencies"][extra]
    ]
    seen: set[str] = set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name in seen:
            continue
        seen.add(name)
        assert name in locked
        for line in distribution(requirement.name).requires or ():
            needed = Requirement(line)
            extras = {"", *requirement.extras}
            if needed.marker is None or any(
                needed.marker.evaluate({"extra": extra}) for extra in extras
            ):
                waiting.append(needed)


def test_what_a_full_lock_has_beyond_another_is_printed_with_its_hashes() -> None:
    """As `make lock` uses it."""
    first = "a==1 \\\n    --hash=sha256:0\n"
    second = "b[c]==2 ; python_version > '3' \\\n    --hash=sha256:1\n"
    assert beyond(first + second, first) == second
    assert beyond(first, first) == ""


def test_the_image_is_built_from_the_locks_alone() -> None:
    """No step lets pip choose a version, and the base has one."""
    installs = re.findall(r'^RUN \[.*"(?:install|wheel)".*\]$', _TEXT, re.MULTILINE)
    assert len(installs) == 3
    assert all('"--no-deps"' in line for line in installs)
    assert '"--require-hashes"' in installs[0]
    assert re.findall(r'"([\w-]+\.lock)"', installs[0]) == ["requirements.lock", "extras.lock"]
    assert re.search(r"^ARG PYTHON_IMAGE=\S+:3\.\d+\.\d+-slim\S*$", _TEXT, re.MULTILINE)
    assert f'image.version="{_PROJECT["version"]}"' in _TEXT


def test_the_image_is_not_root_and_writes_to_one_folder() -> None:
    """By number, as an engine can check."""
    assert re.findall(r"^USER (.*)$", _TEXT, re.MULTILINE) == ["10001:10001"]
    assert re.findall(r"^VOLUME (.*)$", _TEXT, re.MULTILINE) == ['["/var/lib/piecework"]']


def test_the_files_of_the_build_hold_the_package() -> None:
    """A new room at the root, or a new lock, would be missing in the image."""
    lines = (DEPLOY / "Containerfile.dockerignore").read_text().splitlines()
    kept = {line[1:] for line in lines if line.startswith("!")}
    links = {path.name for path in (ROOT / "src/piecework").iterdir() if path.is_symlink()}
    copied = {"requirements.lock", "docs/operations/deploy/extras.lock"}
    assert kept >= links | copied | {"src", "pyproject.toml", "README.md", "LICENSE"}
    assert all((ROOT / name).exists() for name in kept)


def _health_check() -> list[str]:
    (text,) = re.findall(r"^  CMD (\[.*\])$", _TEXT, re.MULTILINE)
    program, *rest = json.loads(text)
    assert program == "python"
    return [sys.executable, *rest]


def _is_healthy(port: int) -> bool:
    done = subprocess.run(
        _health_check(),
        env={**os.environ, "PIECEWORK_SERVE_PORT": str(port)},
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode == 0


@contextmanager
def _served(folder: Path, port: int) -> Iterator[None]:
    """The marketplace as the image starts it, on a free port."""
    words = [*PIECEWORK, "market", "serve", "--config", str(DEPLOY / "piecework.toml")]
    words += ["--database", str(folder / "market.db"), "--metrics-port", "0"]
    environment = {
        **os.environ,
        "PIECEWORK_SERVE_PORT": str(port),
        "PIECEWORK_SERVE_FRAMES_PORT": "0",
        "PIECEWORK_SERVE_SITE_URL": "https://hits.example.org",
        "PIECEWORK_SERVE_FRAMES_URL": "https://frames.example.org",
    }
    with subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert "marketplace at https://hits.example.org" in process.stdout.readline()
        yield
        process.terminate()
        process.wait(timeout=60)


def test_the_health_check_tells_whether_the_marketplace_answers(tmp_path: Path) -> None:
    """With the options of its container: the names of two hosts, and all addresses."""
    port = free_port()
    assert not _is_healthy(port)
    with _served(tmp_path, port):
        assert _is_healthy(port)
    assert not _is_healthy(port)


@pytest.mark.parametrize("name", ["marketplace"])
def test_compose_checks_health_as_the_image_does(name: str) -> None:
    """By the same address."""
    (check,) = [
        service["healthcheck"]["test"]
        for each, service in services(DEPLOY / "compose.yaml").items()
        if each == name
    ]
    assert check[:4] == ["CMD", "python", "-I", "-c"]
    assert "http://127.0.0.1:8080/healthz" in check[4]
