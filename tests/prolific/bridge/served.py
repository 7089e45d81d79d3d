"""`serve --crowd prolific` and the offline Prolific, each a process of its own."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import boto3

from tests.marketplace.market import HIT_TYPE, QUESTION, free_port
from tests.rehearsal.prolific.people import Researcher

PIECEWORK = Path(sys.executable).with_name("piecework")
TOKEN = "rehearsal-token"  # noqa: S105 - any word is one
_PATIENCE_SECONDS = 60.0


def _environment(url: str = "") -> dict[str, str]:
    return {**os.environ, "PROLIFIC_TOKEN": TOKEN, "PROLIFIC_URL": url}


@contextmanager
def _process(*words: str, url: str = "") -> Iterator["subprocess.Popen[str]"]:
    """A command that says in a line that it listens; killed at the end."""
    with subprocess.Popen(
        [PIECEWORK, *words],
        env=_environment(url),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            assert " at http" in process.stdout.readline()
            yield process
        finally:
            process.kill()


class Served:
    """A marketplace's process, its requester, and a researcher who looks on."""

    def __init__(
        self,
        folder: Path,
        stack: ExitStack,
        *,
        spend_at_most: str = "20",
        balance: str = "100",
        words: Sequence[str] = (),
    ) -> None:
        self.database, self._stack = folder / "market.db", stack
        port = free_port()
        stack.enter_context(
            _process("prolific-emulator", "--port", str(port), "--participants", "0")
        )
        self.url = f"http://127.0.0.1:{port}"
        self.researcher = stack.enter_context(Researcher(self.url))
        self._ports = free_port(), free_port()
        self.endpoint = f"http://127.0.0.1:{self._ports[0]}"
        self._spend_at_most = spend_at_most
        self.requester = self._requester(balance)
        self.process = self.serve(*words)

    def serve(self, *more: str) -> "subprocess.Popen[str]":
        """Start it, or start it again."""
        return self._stack.enter_context(
            _process(
                *("serve", "--database", str(self.database)),
                *("--port", str(self._ports[0])),
                *("--frames-port", str(self._ports[1])),
                *("--frames-url", f"http://localhost:{self._ports[1]}"),
                *("--crowd", "prolific", "--public-url", self.endpoint),
                *(
                    "--live",
                    "--spend-at-most",
                    self._spend_at_most,
                    "--hits-per-visit",
                    "2",
                ),
                *("--settle-seconds", "0", *more),
                url=self.url,
            )
        )

    def _requester(self, balance: str) -> Any:  # noqa: ANN401 - boto3's
        words = ("requester", "add", "Lab", "--balance", balance, "--currency", "GBP")
        printed = subprocess.run(
            [PIECEWORK, *words, "--database", self.database],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        key = dict(
            line.removeprefix("export ").split("=") for line in printed.split("\n")[:2]
        )
        return boto3.Session().client(
            "mturk",
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id=key["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=key["AWS_SECRET_ACCESS_KEY"],
        )

    def restore(self, copy: Path, *more: str) -> None:
        """Kill it, put a copy of its file back, and start it again."""
        self.process.kill()
        self.process.wait()
        for name in ("-wal", "-shm"):
            self.database.with_name(self.database.name + name).unlink(missing_ok=True)
        shutil.copyfile(copy, self.database)
        self.process = self.serve(*more)

    def command(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """What `piecework prolific` says of its file."""
        return subprocess.run(
            [PIECEWORK, "prolific", *words, "--database", self.database],
            env=_environment(self.url),
            capture_output=True,
            text=True,
            check=False,
        )

    def post(self, hits: int, *, most: int = 1, **changes: object) -> list[str]:
        """Post HITs of one type, each for so many workers."""
        kind = self.requester.create_hit_type(**{**HIT_TYPE, **changes})["HITTypeId"]
        return [
            self.requester.create_hit_with_hit_type(
                HITTypeId=kind,
                Question=QUESTION,
                MaxAssignments=most,
                LifetimeInSeconds=3600,
            )["HIT"]["HITId"]
            for _ in range(hits)
        ]

    def until(self, holds: Callable[[], object]) -> None:
        """Wait until the bridge has brought something about."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not holds():
            assert time.monotonic() < deadline, "the bridge has not done it"
            time.sleep(0.2)
