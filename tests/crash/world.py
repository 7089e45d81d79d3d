"""The environment of a pass, and what can happen to it during a call.

Everything is real: a small disk that is filled, another process's lock on the store,
and a marketplace in a separate process that is killed.
"""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing.process import BaseProcess
from pathlib import Path

import psycopg

from piecework.domain.store_address import StoreAddress
from piecework.marketplace.http.server import Marketplace, serve, serve_forever
from tests.crash.apart import apart
from tests.marketplace.market import free_port

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
DISK_BYTES = 3_000_000
_HOLDER = """
import sqlite3, sys
store = sqlite3.connect(sys.argv[1], isolation_level=None)
store.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


def can_mount() -> bool:
    """Whether a small disk can be created here."""
    return sys.platform == "linux" and os.geteuid() == 0


@contextmanager
def small_disk(folder: Path, size: int = DISK_BYTES) -> Iterator[None]:
    """Mount a separate disk of a few megabytes at `folder`."""
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def without_room(folder: Path) -> Iterator[None]:
    """Fill the small disk at `folder` until the block ends."""
    filler = folder / "filler"
    _fill_disk(filler)
    try:
        yield
    finally:
        filler.unlink()


def _fill_disk(filler: Path) -> None:
    with suppress(OSError), filler.open("ab", buffering=0) as file:
        while True:
            file.write(bytes(4096))


@dataclass(slots=True)
class World:
    """A folder with the campaign, and the marketplace that it works on.

    Attributes:
        endpoint: URL of the marketplace.
        address: where the campaign's store is, if not in `out`.
        jumped: seconds by which the pipeline's clock is shifted.
    """

    folder: Path
    endpoint: str = ""
    address: StoreAddress | None = None
    jumped: float = 0
    _server: BaseProcess | None = None
    _holder: "subprocess.Popen[str] | None" = None
    _ports: tuple[int, int] = (0, 0)
    _names: dict[str, str] = field(
        default_factory=lambda: {
            "disk full": "_fill",
            "store locked": "_lock",
            "clock a day ahead": "_ahead",
            "clock an hour back": "_back",
            "store restored": "_copy_store",
            "marketplace killed": "kill",
            "marketplace restarted": "_restart",
            "connection dropped": "_drop",
        }
    )

    @property
    def out(self) -> Path:
        """Return the path of the store."""
        return self.folder / "out"

    def strike(self, name: str) -> None:
        """Let something happen now."""
        getattr(self, self._names[name])()

    def mend(self) -> None:
        """Do what a user does: free space, end the other program, start again."""
        self.filler.unlink(missing_ok=True)
        if self._holder is not None:
            self._holder.communicate()
            self._holder = None
        if self._server is not None and not self._server.is_alive():
            self._start()
        if self._copy.exists():
            self._put_back()

    @property
    def filler(self) -> Path:
        """Return the file that fills the disk."""
        return self.out / "filler"

    def leave_room(self, kilobytes: int) -> None:
        """Fill the disk up to this much free space."""
        self._fill()
        os.truncate(self.filler, self.filler.stat().st_size - kilobytes * 1024)

    def _fill(self) -> None:
        _fill_disk(self.filler)

    @property
    def _copy(self) -> Path:
        return self.folder / "copy.db"

    def _store(self) -> Path:
        return next(self.out.glob("*/piecework.db"))

    def _copy_store(self) -> None:
        with (
            closing(sqlite3.connect(self._store())) as store,
            closing(sqlite3.connect(self._copy)) as copy,
        ):
            store.backup(copy)

    def _put_back(self) -> None:
        """Restore the store from a copy, as a user who has lost it would."""
        store = self._store()
        for log in ("-wal", "-shm"):
            store.with_name(store.name + log).unlink(missing_ok=True)
        self._copy.rename(store)

    def _lock(self) -> None:
        store = self._store()
        self._holder = subprocess.Popen(
            [sys.executable, "-S", "-c", _HOLDER, str(store)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._holder.stdout is not None
        assert self._holder.stdout.readline() == "held\n"

    def _drop(self) -> None:
        """End all sessions of the campaign's database, as a restarted server does."""
        assert self.address is not None
        with psycopg.connect(self.address.url, autocommit=True) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name LIKE 'process %' "
                "AND datname = current_database()"
            )

    def _ahead(self) -> None:
        self.jumped = 24 * 3600

    def _back(self) -> None:
        self.jumped = -3600

    def kill(self) -> None:
        """End the marketplace as a power cut would."""
        assert self._server is not None
        assert self._server.pid is not None
        os.kill(self._server.pid, signal.SIGKILL)
        self._server.join()

    def _restart(self) -> None:
        self.kill()
        self._start()

    def _start(self) -> None:
        self._server = apart().Process(
            target=_serve, args=(self.folder / "marketplace.db", *self._ports)
        )
        self._server.start()
        # The first process of a test imports everything, on a busy machine.
        deadline = time.monotonic() + 240
        while time.monotonic() < deadline:
            with (
                suppress(OSError),
                socket.create_connection(("127.0.0.1", self._ports[0]), timeout=1),
            ):
                return
            time.sleep(0.01)
        raise TimeoutError("the marketplace did not come back")

    @contextmanager
    def marketplace(self, *, apart: bool) -> Iterator[None]:
        """Run a marketplace for the campaign, in this process or in a separate one."""
        if not apart:
            with serve(
                Marketplace(self.folder / "marketplace.db", rehearsal=True, seed=1, start=START)
            ) as running:
                self.endpoint = running.endpoint_url
                yield
            return
        self._ports = free_port(), free_port()
        self.endpoint = f"http://127.0.0.1:{self._ports[0]}"
        self._start()
        try:
            yield
        finally:
            self.kill()


def _serve(database: Path, port: int, frames_port: int) -> None:
    serve_forever(
        Marketplace(
            database, rehearsal=True, seed=1, start=START, port=port, frames_port=frames_port
        )
    )
