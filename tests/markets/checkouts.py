"""Copies of the checkout, to take away a market or to break it."""

import os
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from tests.test_layout import LINKED, PACKAGE, ROOT

_IGNORED = shutil.ignore_patterns("__pycache__", ".*", "node_modules")


@dataclass(frozen=True, slots=True)
class Checkout:
    """A copy of the checkout, with an interpreter that imports it."""

    root: Path

    @property
    def markets(self) -> Path:
        """The room of the markets."""
        return self.root / "src/piecework/markets"

    def python(
        self, *words: str, folder: Path | None = None, seconds: int = 600
    ) -> "subprocess.CompletedProcess[str]":
        """Run Python with the copy's package, from the copy or another folder."""
        return subprocess.run(
            [self.root / ".environment/bin/python", *words],
            cwd=folder or self.root,
            env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds,
        )

    def piecework(self, *words: str, folder: Path | None = None) -> tuple[int, str, str]:
        """Run a command; return exit code, output and messages."""
        command = "from piecework.cli.main import main; main()"
        done = self.python("-c", command, *words, folder=folder)
        return done.returncode, done.stdout, done.stderr


def product_in(folder: Path) -> Checkout:
    """Copy the package and the rooms at the root."""
    shutil.copytree(PACKAGE, folder / "src/piecework", symlinks=True, ignore=_IGNORED)
    for name in (*LINKED, "packages"):
        shutil.copytree(ROOT / name, folder / name, ignore=_IGNORED)
    return _with_environment(folder)


def whole_in(folder: Path) -> Checkout:
    """Copy everything that git would keep, but its own folder."""
    shutil.copytree(ROOT, folder, symlinks=True, ignore=_IGNORED, dirs_exist_ok=True)
    return _with_environment(folder)


def _with_environment(folder: Path) -> Checkout:
    """Make an environment in which the copy is installed, beside this one's libraries."""
    environment = folder / ".environment"
    venv.create(environment, symlinks=True)
    (libraries,) = environment.glob("lib/python*/site-packages")
    others = [name for name in sys.path if name.endswith("site-packages")]
    paths = (folder / "src", folder / "packages/offline-markets/src", *others)
    (libraries / "copy.pth").write_text("\n".join(map(str, paths)))
    script = (folder / "src/piecework/cli/start.py").read_text(encoding="utf-8")
    command = environment / "bin/piecework"
    command.write_text(script.replace("#!python", f"#!{environment}/bin/python", 1))
    command.chmod(0o755)
    return Checkout(folder)
