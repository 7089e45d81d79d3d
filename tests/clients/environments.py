"""Where other people's clients live: made once, under .piecework/clients.

Each client has an environment of its own, so that its old or new dependencies never
meet ours. It is made again when its lock changes. What cannot be made (no index to be
reached, another Python needed) is one sentence, and its tests are skipped with it.
"""

import contextlib
import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
PLACE = HERE.parents[1] / ".piecework" / "clients"
_INSTALL_SECONDS = 540
_PYENV = Path.home() / ".pyenv" / "versions"


class UnavailableError(Exception):
    """This client cannot be had here, and why."""


@functools.cache
def python_client(name: str, *, pythons: tuple[str, ...] = ()) -> Path:
    """The bin folder of a virtual environment with what `<name>.lock` says.

    Args:
        name: of the client and of its lock.
        pythons: versions such as "3.9" that it runs on, best first; none means ours.

    Raises:
        UnavailableError: no such Python here, or pip failed.
    """
    lock = HERE / f"{name}.lock"
    home = PLACE / name
    with _made_once(home, lock.read_bytes()) as is_ready:
        if not is_ready:
            interpreter = _find_python(name, pythons) if pythons else sys.executable
            _run([interpreter, "-m", "venv", str(home)], what=f"a venv for {name}")
            pip = [str(home / "bin" / "pip"), "install", "--quiet", "--retries", "1"]
            _run(
                [*pip, "--no-deps", "--require-hashes", "-r", str(lock)],
                what=f"{lock.name} with pip",
            )
    return home / "bin"


def python_with_wheel(wheel: Path, *, version: str) -> Path:
    """The bin folder of an environment with a wheel, and what its ranges resolve to.

    What it needs is resolved again when that changes; the wheel is always put in.

    Raises:
        UnavailableError: no such Python here, or pip failed.
    """
    home = PLACE / f"wheel-{wheel.name.partition('-')[0]}-{version}"
    with zipfile.ZipFile(wheel) as packed:
        metadata = next(name for name in packed.namelist() if name.endswith("METADATA"))
        lines = packed.read(metadata).splitlines()
    needs = b"\n".join(line for line in lines if line.startswith(b"Requires-"))
    pip = [str(home / "bin" / "pip"), "install", "--quiet", "--retries", "1"]
    with _made_once(home, needs) as is_ready:
        if not is_ready:
            interpreter = _find_python("piecework", (version,))
            _run([interpreter, "-m", "venv", str(home)], what=f"a venv of {version}")
            _run([*pip, str(wheel)], what=f"{wheel.name} with pip")
        again = [*pip, "--no-deps", "--force-reinstall", str(wheel)]
        _run(again, what=f"{wheel.name} with pip")
    return home / "bin"


@functools.cache
def node_client() -> Path:
    """A folder whose node_modules hold what js/package-lock.json says.

    Raises:
        UnavailableError: no node or npm here, or npm failed.
    """
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise UnavailableError(f"{program} is not on this machine")
    home = PLACE / "js"
    files = [HERE / "js" / name for name in ("package.json", "package-lock.json")]
    with _made_once(home, b"".join(file.read_bytes() for file in files)) as is_ready:
        if not is_ready:
            home.mkdir(parents=True)
            for file in files:
                shutil.copy(file, home)
            words = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
            _run(words, what="js/package-lock.json with npm", cwd=home)
    return home


@contextlib.contextmanager
def _made_once(home: Path, recipe: bytes) -> Iterator[bool]:
    """Hold the place against other test processes; whether it is ready already."""
    PLACE.mkdir(parents=True, exist_ok=True)
    made_of = home / ".made-of"
    digest = hashlib.sha256(recipe).hexdigest()
    with (PLACE / f"{home.name}.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        is_ready = made_of.is_file() and made_of.read_text() == digest
        if not is_ready:
            shutil.rmtree(home, ignore_errors=True)
        yield is_ready
        made_of.write_text(digest)


def _find_python(name: str, versions: tuple[str, ...]) -> str:
    for version in versions:
        names = [f"python{version}", *map(str, _PYENV.glob(f"{version}.*/bin/python"))]
        for candidate in names:
            if _is_python(candidate, version):
                return candidate
    raise UnavailableError(f"{name} needs Python {' or '.join(versions)}; none is here")


def _is_python(candidate: str, version: str) -> bool:
    # A shim of pyenv is on the path for versions that it would refuse to run.
    words = [candidate, "-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])"]
    try:
        run = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError:
        return False
    return run.returncode == 0 and run.stdout.strip() == version


def _run(words: list[str], *, what: str, cwd: Path | None = None) -> None:
    try:
        done = subprocess.run(
            words,
            cwd=cwd,
            env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
            capture_output=True,
            text=True,
            check=False,
            timeout=_INSTALL_SECONDS,
        )
    except subprocess.TimeoutExpired as fault:
        raise UnavailableError(f"installing {what} took too long") from fault
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        complaints = [line for line in lines if "error" in line.lower()] or lines
        raise UnavailableError(f"cannot install {what}: {complaints[0][:200]}")
