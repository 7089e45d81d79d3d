"""Copies of the checkout, to take away a market or to break it."""

import os
import shutil
import subprocess
import sys
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
        paths = (self.root / "src", self.root, self.root / "packages/offline-markets/src")
        return subprocess.run(
            [sys.executable, *words],
            cwd=folder or self.root,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))},
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
    return Checkout(folder)


def whole_in(folder: Path) -> Checkout:
    """Copy everything that git would keep, but its own folder."""
    shutil.copytree(ROOT, folder, symlinks=True, ignore=_IGNORED, dirs_exist_ok=True)
    return Checkout(folder)
