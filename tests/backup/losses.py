"""How much a lost machine takes with it: `python -m tests.backup.losses 60`.

A marketplace's database gets a commit every 20 milliseconds and is replicated to S3 as
moto serves it. At a random moment Litestream is killed, and nothing more is sent. What
a restore brings back is compared with what was committed.
"""

import os
import shutil
import signal
import statistics
import sys
import tempfile
import threading
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Self

import boto3
from moto.server import ThreadedMotoServer

from piecework.backup.marker import read_address
from piecework.backup.replicator import Replicator
from piecework.backup.restoring import ReplicatedFile, litestream, restore
from piecework.domain.clock import SystemClock
from piecework.marketplace.state.backend import Backend, Rules
from tests.backup.conftest import litestream_of

_PAUSE_SECONDS = 0.02
_PATIENCE_SECONDS = 60.0
_BUCKET = "losses"


@dataclass(frozen=True, slots=True)
class Loss:
    """What did not come back.

    Attributes:
        commits: how many commits.
        seconds: age of the oldest of them when the machine was lost.
        lag_seconds: what the metric said at that moment.
    """

    commits: int
    seconds: float
    lag_seconds: float


class _Writer:
    """Commits all the time, and notes when each commit returned."""

    def __init__(self, database: Path) -> None:
        self._database = database
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write)
        self.committed_at: list[float] = []
        self.first = 0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _write(self) -> None:
        with closing(Backend(self._database, Rules())) as backend:
            mark = backend.mark()
            self.first = int(mark.partition("/")[2]) if mark else 0
            while not self._ended.wait(_PAUSE_SECONDS):
                with backend.without_catch_up() as transaction:
                    transaction.execute(
                        "INSERT OR REPLACE INTO settings VALUES ('at', ?)", str(time.monotonic())
                    )
                self.committed_at.append(time.monotonic())


def lose(folder: Path, rng: Random, address: str) -> Loss:
    """Write for some seconds, kill Litestream, and restore."""
    database = folder / "m.db"
    with closing(Backend(database, Rules())) as backend:
        backend.begin_generation()
    file = ReplicatedFile(database, read_address(address))
    replicator = Replicator(file, litestream(use="this test"), SystemClock())
    with _Writer(database) as writer, replicator.running():
        _wait_until_running(replicator)
        time.sleep(rng.uniform(1.0, 4.0))
        process = litestream_of(database)
        os.kill(process, signal.SIGSTOP)
        lost_at = time.monotonic()
        lag_seconds = replicator.distance().seconds
        count = writer.first + sum(at <= lost_at for at in writer.committed_at)
        copy = folder / "copy.db"
        restored = restore(read_address(address), copy).commits
        os.kill(process, signal.SIGKILL)
    lost = writer.committed_at[restored - writer.first : count - writer.first]
    seconds = lost_at - lost[0] if lost else 0.0
    return Loss(len(lost), seconds, lag_seconds)


def _wait_until_running(replicator: Replicator) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not replicator.distance().is_running:
        assert time.monotonic() < deadline, "the backup has not begun"
        time.sleep(0.02)


def _main(times: int) -> None:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    os.environ |= {
        "AWS_ENDPOINT_URL_S3": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "a-key",
        "AWS_SECRET_ACCESS_KEY": "a-secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    client = boto3.Session().client("s3", endpoint_url=f"http://{host}:{port}")
    client.create_bucket(Bucket=_BUCKET)
    losses = []
    for number in range(times):
        folder = Path(tempfile.mkdtemp(prefix="piecework-losses-"))
        rng = Random(number)  # noqa: S311 - no secret
        losses.append(lose(folder, rng, f"s3://{_BUCKET}/{number}"))
        shutil.rmtree(folder)
        print(number, losses[-1], flush=True)  # noqa: T201 - a table for people
    server.stop()
    for name in ("seconds", "commits", "lag_seconds"):
        numbers = [getattr(loss, name) for loss in losses]
        print(  # noqa: T201 - as above
            f"{name}: median {statistics.median(numbers):.2f}, greatest {max(numbers):.2f}"
        )


if __name__ == "__main__":
    _main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
