"""The folder in which parts are worked on, and what becomes of it when all is done.

Work is done in `NAME.unfinished` beside the folder that was asked for. Each file is
written under another name and renamed when it is whole, so what is there is finished,
and a run that was cut off goes on where it stopped. At the end `_SUCCESS` lists the
files, and the folder gets its name: nothing else with that name was ever there.
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
"""The last file to be written: JSON, which files of how many rows there are."""

FORM = 1
"""One more whenever parts are kept in another way: what an earlier version began is
then done anew."""

_OF = "of.json"
_OUT = "out"


@dataclass(frozen=True, slots=True)
class WorkFolder:
    """Where parts are worked on; cheap to send to another process.

    Attributes:
        digest: of all that the results depend on. A process that remembers what another
            run of the same name shared does not take it for this run's.
    """

    path: Path
    digest: str

    def at(self, name: str) -> Path:
        """A file to come and go."""
        return self.path / name

    def out(self, name: str) -> Path:
        """A file that stays."""
        return self.path / _OUT / name

    def once(self, path: Path, write: Callable[[Path], None]) -> Path:
        """Write a file, unless it is there already, whole or not at all."""
        if not path.exists():
            with _renamed(path) as unfinished:
                write(unfinished)
        return path

    def keep(self, name: str, make: Callable[[], Any]) -> Path:
        """Keep a value in a file, unless it is there already."""

        def write(path: Path) -> None:
            with path.open("wb") as file:
                pickle.dump(make(), file, protocol=5)

        return self.once(self.at(name), write)

    def kept(self, name: str) -> Any:  # noqa: ANN401 - what was kept
        """The value that was kept."""
        with self.at(name).open("rb") as file:
            return unpickled(file)

    def shared(self, name: str) -> Any:  # noqa: ANN401 - what was kept
        """The same, for what all parts want: read once a process."""
        return _shared(self, name)

    def latest(self, name: str, let_go: Callable[[], None]) -> Any:  # noqa: ANN401
        """The same for what is large: the one before it is let go of first.

        Args:
            name: of the file.
            let_go: has others let go of the one before, too.
        """
        if (self, name) not in _LATEST:
            _LATEST.clear()
            let_go()
            _LATEST[self, name] = self.kept(name)
        return _LATEST[self, name]


_LATEST: dict[tuple[WorkFolder, str], Any] = {}


@contextmanager
def gc_paused() -> Iterator[None]:
    """Spares looking for circles among what has none: a third of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@gc_paused()
def unpickled(file: BinaryIO) -> Any:  # noqa: ANN401 - what was kept
    """A value of this run."""
    return pickle.load(file)  # noqa: S301 - our own


@lru_cache(maxsize=4)
def _shared(folder: WorkFolder, name: str) -> Any:  # noqa: ANN401
    return folder.kept(name)


def open_work(into: Path, of: Mapping[str, object]) -> WorkFolder:
    """The folder to work in: that of a run that was cut off, if it was of the same.

    Args:
        into: the folder that is to be made.
        of: all that the results depend on; JSON.

    Raises:
        ConfigError: there is something already where the results are to be.
    """
    if into.exists():
        raise ConfigError(
            [f"{into}: is there already"], next_step="remove it, or name another folder"
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
    """Give the results their name, with the list of them; remove the rest."""
    with _renamed(folder.out(SUCCESS)) as file:
        file.write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n")
    (folder.path / _OUT).rename(into)
    shutil.rmtree(folder.path)


def _is_of(path: Path, inputs: str) -> bool:
    file = path / _OF
    return file.exists() and file.read_text(encoding="utf-8") == inputs


@contextmanager
def _renamed(path: Path) -> Iterator[Path]:
    """Another name for a file that gets its own when it is whole."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield unfinished
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
