"""The folder in which parts are worked on until all are done.

Work is done in `NAME.unfinished` beside the requested folder. Each file is written
under another name and renamed when it is complete, so existing files are complete, and
an interrupted run continues where it stopped. At the end `_SUCCESS` lists the files,
and the folder gets its final name: an incomplete folder never has that name.
"""

import gc
import hashlib
import json
import os
import pickle
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

from piecework.domain.errors import ConfigError

SUCCESS = "_SUCCESS"
"""The last file to be written: JSON with the files and their numbers of rows."""

FORM = 2
"""Incremented when the format of parts changes: work that an earlier version began is
then started again."""

_OF = "of.json"
_OUT = "out"


@dataclass(frozen=True, slots=True)
class WorkFolder:
    """The folder with the parts; cheap to send to another process.

    Attributes:
        digest: of everything that the results depend on, so that a process does not
            mistake cached values of another run with the same name for this run's.
    """

    path: Path
    digest: str

    def at(self, name: str) -> Path:
        """The path of a temporary file."""
        return self.path / name

    def out(self, name: str) -> Path:
        """The path of a result file."""
        return self.path / _OUT / name

    def once(self, path: Path, write: Callable[[Path], None]) -> Path:
        """Write a file completely or not at all, unless it exists."""
        if not path.exists():
            with _renamed(path) as unfinished:
                write(unfinished)
        return path

    def keep(self, name: str, make: Callable[[], Any]) -> Path:
        """Store a value in a file, unless it exists."""

        def write(path: Path) -> None:
            with path.open("wb") as file:
                pickle.dump(make(), file, protocol=5)

        return self.once(self.at(name), write)

    def kept(self, name: str) -> Any:  # noqa: ANN401 - what was kept
        """Read a stored value."""
        with self.at(name).open("rb") as file:
            return unpickled(file)

    def shared(self, name: str) -> Any:  # noqa: ANN401 - what was kept
        """Read a value that all parts need, once per process."""
        return _shared(self, name)

    def latest(self, name: str, let_go: Callable[[], None]) -> Any:  # noqa: ANN401
        """Read a large value, releasing the previous one first.

        Args:
            name: of the file.
            let_go: makes others release the previous one too.
        """
        if (self, name) not in _LATEST:
            _LATEST.clear()
            let_go()
            _LATEST[self, name] = self.kept(name)
        return _LATEST[self, name]


_LATEST: dict[tuple[WorkFolder, str], Any] = {}


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause garbage collection, which takes a third of the time and finds nothing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@gc_paused()
def unpickled(file: BinaryIO) -> Any:  # noqa: ANN401 - what was kept
    """Load a value of this run."""
    return pickle.load(file)  # noqa: S301 - our own


@lru_cache(maxsize=4)
def _shared(folder: WorkFolder, name: str) -> Any:  # noqa: ANN401
    return folder.kept(name)


def open_work(into: Path, of: Mapping[str, object]) -> WorkFolder:
    """Open the folder to work in; continue an interrupted run with the same inputs.

    Args:
        into: the folder for the results.
        of: everything that the results depend on; JSON.

    Raises:
        ConfigError: the folder for the results exists.
    """
    if into.exists():
        raise ConfigError(
            [f"{into}: already exists"], next_step="remove it, or name another folder"
        )
    path = into.with_name(f"{into.name}.unfinished")
    inputs = json.dumps({"form": FORM, **of}, sort_keys=True, indent=1)
    if path.exists() and not _is_of(path, inputs):
        shutil.rmtree(path)
    (path / _OUT).mkdir(parents=True, exist_ok=True)
    with _renamed(path / _OF) as file:
        file.write_text(inputs, encoding="utf-8")
    return WorkFolder(path, hashlib.sha256(inputs.encode()).hexdigest())


def finish(folder: WorkFolder, into: Path, manifest: Mapping[str, object]) -> None:
    """Write the manifest, give the results their name, and remove the rest."""
    with _renamed(folder.out(SUCCESS)) as file:
        file.write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n")
    (folder.path / _OUT).rename(into)
    shutil.rmtree(folder.path)


def _is_of(path: Path, inputs: str) -> bool:
    file = path / _OF
    return file.exists() and file.read_text(encoding="utf-8") == inputs


@contextmanager
def _renamed(path: Path) -> Iterator[Path]:
    """Yield a temporary name for a file, which is renamed when it is complete."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield unfinished
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
