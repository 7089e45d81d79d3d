"""The folder in which large files are worked on, and the processes that do it.

Work is done in `NAME.unfinished` beside the requested folder. Each file is written
under another name and renamed when it is complete, so existing files are complete, and
an interrupted run continues where it stopped. At the end `_SUCCESS` lists the files,
and the folder gets its final name: an incomplete folder never has that name. Where the file
system has locks, one command at a time works in it. Only a folder that a run began is emptied.

Parts exchange only files, so a cluster of several machines needs a folder that all of them
see. If a worker dies, only its current part is lost, and another worker does it. A command
takes an existing cluster, or processes on this machine.
"""

import fcntl
import gc
import hashlib
import json
import logging
import os
import pickle
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from piecework.domain.errors import ConfigError, PieceworkError, load_extra
from piecework.domain.tables import give_back

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["LOCAL", "Do", "OnProgress", "PartRunner", "here", "on_dask"]

SUCCESS = "_SUCCESS"
"""The last file to be written: JSON with the files and their numbers of rows."""

FORM = 4
"""Incremented when the format of parts changes: work that an earlier version began is
then started again."""

_OF = "of.json"
_OUT = "out"
_LOCK = ".lock"


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
            give_back()  # or the process keeps what its largest step took
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
            self.release_latest(let_go)
            _LATEST[self, name] = self.kept(name)
        return _LATEST[self, name]

    def release_latest(self, let_go: Callable[[], None]) -> None:
        """Release the large value that this process read last; `let_go` is as for `latest`."""
        _LATEST.clear()
        let_go()


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


@contextmanager
def open_work(into: Path, of: Mapping[str, object]) -> Iterator[WorkFolder]:
    """Open the folder to work in; continue an interrupted run with the same inputs.

    Args:
        into: the folder for the results.
        of: everything that the results depend on; JSON.

    Raises:
        ConfigError: the folder for the results exists, another command works on it, or the
            name of the folder to work in is taken.
    """
    _refuse_existing(into)
    path = into.with_name(f"{into.name}.unfinished")
    if path.exists() and not _is_of_a_run(path):
        raise ConfigError(
            [f"{path}: no interrupted run left it, and the work on {into.name} needs this name"],
            next_step="rename it, or name another folder",
        )
    path.mkdir(parents=True, exist_ok=True)
    inputs = json.dumps({"form": FORM, **of}, sort_keys=True, indent=1)
    with _alone_in(path):
        _refuse_existing(into)  # another command may just have finished it
        if _inputs_in(path) != inputs:
            _empty(path)
        with _renamed(path / _OF) as file:
            file.write_text(inputs, encoding="utf-8")
        (path / _OUT).mkdir(exist_ok=True)
        yield WorkFolder(path, hashlib.sha256(inputs.encode()).hexdigest())


def finish(folder: WorkFolder, into: Path, manifest: Mapping[str, object]) -> None:
    """Write the manifest, give the results their name, and remove the rest."""
    with _renamed(folder.out(SUCCESS)) as file:
        file.write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n")
    (folder.path / _OUT).rename(into)
    _empty(folder.path)
    shutil.rmtree(folder.path)


def _refuse_existing(into: Path) -> None:
    if into.exists():
        raise ConfigError(
            [f"{into}: already exists"], next_step="remove it, or name another folder"
        )


@contextmanager
def _alone_in(path: Path) -> Iterator[None]:
    """Lock a folder for the block; the operating system ends the lock with the process.

    Raises:
        ConfigError: another command works in the folder.
    """
    with (path / _LOCK).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as fault:
            raise ConfigError(
                [f"{path}: another command works in it"],
                next_step="wait until it ends, or name another folder",
            ) from fault
        except OSError:
            pass  # a folder that several machines share may have no locks
        yield


def _is_of_a_run(path: Path) -> bool:
    """Return whether a run began this folder, or nothing is in it."""
    if not path.is_dir():
        return False
    names = {entry.name for entry in path.iterdir()} - {_LOCK}
    # A run that was killed at once leaves only the temporary name of its inputs.
    if all(name.startswith(f".{_OF}.") for name in names):
        return True
    try:
        inputs = json.loads(_inputs_in(path))
    except ValueError:
        return False
    return isinstance(inputs, dict) and "form" in inputs


def _inputs_in(path: Path) -> str:
    file = path / _OF
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def _empty(path: Path) -> None:
    """Delete what a run left, its inputs last: until then the folder is known as a run's."""
    entries = [entry for entry in path.iterdir() if entry.name not in {_LOCK, _OF}]
    for entry in [*entries, path / _OF]:
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink(missing_ok=True)


@contextmanager
def _renamed(path: Path) -> Iterator[Path]:
    """Yield a temporary name for a file, which is renamed when it is complete."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield unfinished
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


OnProgress = Callable[[str, int, int], None]
"""Called with the step, the number of finished parts, and the number of parts."""


Do = Callable[[int], None]
"""Does the part with this number."""

PartRunner = Callable[[str, Do, Sequence[int]], None]
"""Does a step for these parts, and raises the first error that one of them raises."""


def here(on_progress: OnProgress) -> PartRunner:
    """Run in this process, one part after another."""

    def run_parts(step: str, do: Do, parts: Sequence[int]) -> None:
        for done, part in enumerate(parts):
            on_progress(step, done, len(parts))
            do(part)
        on_progress(step, len(parts), len(parts))

    return run_parts


@contextmanager
def on_dask(address: str, on_progress: OnProgress, *, processes: int = 2) -> Iterator[PartRunner]:
    """Run on the cluster at the address, or on `LOCAL`, which ends with the context.

    Raises:
        ConfigError: Dask is not installed, or no scheduler answers at the address.
    """
    with dask_client(address, processes=processes) as client:
        from distributed import as_completed  # noqa: PLC0415 - an extra
        from distributed.scheduler import KilledWorker  # noqa: PLC0415

        def run_parts(step: str, do: Do, parts: Sequence[int]) -> None:
            futures = client.map(do, parts, pure=False, retries=0, key=step)
            on_progress(step, 0, len(parts))
            try:
                for done, future in enumerate(as_completed(futures), start=1):
                    future.result()
                    on_progress(step, done, len(parts))
            except KilledWorker as fault:
                raise PieceworkError(
                    f"{step}: {TRIES} processes died on the same part; there may be "
                    "too little memory",
                    next_step="run the same command again: it continues from there",
                ) from fault
            finally:
                client.cancel(futures)

        yield run_parts


LOCAL = "local"
"""Instead of an address: a cluster of processes on this machine."""

TRIES = 3
"""How many processes may die of the same work before it fails."""

_PROCESSES = 2
_SECONDS_TO_CONNECT = 20

_OF_PROCESSES = {
    "distributed.scheduler.allowed-failures": TRIES,
    # By default, malloc returns each freed array to the system, and the profiler looks
    # at every stack a hundred times a second: a third more processor time.
    "distributed.nanny.pre-spawn-environ": {"OMP_NUM_THREADS": 1},
    "distributed.worker.profile.enabled": False,
}
"""Settings of a local cluster. A cluster of several machines has its own."""


@contextmanager
def dask_client(address: str, *, processes: int = _PROCESSES) -> Iterator["Client"]:
    """Yield a client of the cluster at the address; `LOCAL` ends with the context.

    Raises:
        ConfigError: Dask is not installed, or no scheduler answers at the address.
    """
    load_extra("distributed", extra="dask", use="--dask")
    from distributed import Client, LocalCluster  # noqa: PLC0415 - an extra

    if address == LOCAL:
        import dask  # noqa: PLC0415 - an extra

        with (
            dask.config.set(_OF_PROCESSES),
            LocalCluster(
                n_workers=processes,
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",
                memory_limit=0,
                # Heartbeats fail while a cluster closes; what matters reaches the client.
                silence_logs=logging.CRITICAL,
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client
        return
    try:
        client = Client(address, timeout=_SECONDS_TO_CONNECT)
    except (OSError, ValueError, TimeoutError) as fault:
        raise ConfigError(
            [f"--dask {address}: no scheduler answers ({fault})"],
            next_step="dask scheduler starts a cluster; --dask without an address uses "
            "this machine",
        ) from fault
    with client:
        yield client
