"""`market serve --crowd prolific` and the offline Prolific, each a process of its own."""

import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from offline_markets_tests.prolific.people import Researcher
from tests.marketplace.market import free_port
from tests.marketplace.served_apart import ServedForCrowd

if TYPE_CHECKING:
    import subprocess

TOKEN = "rehearsal-token"  # noqa: S105 - any word is one


class Served(ServedForCrowd):
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
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        variables = {"PROLIFIC_TOKEN": TOKEN, "PROLIFIC_URL": self.url}
        super().__init__(folder, stack, variables, balance=balance, currency="GBP")
        self.listening("market", "prolific", "emulator", "--port", str(port), "--participants", "0")
        self.researcher = stack.enter_context(Researcher(self.url))
        self._spend_at_most = spend_at_most
        self.process = self.serve(*words)

    def serve(self, *more: str) -> "subprocess.Popen[str]":
        """Start it, or start it again."""
        return self.serve_for(
            *("--crowd", "prolific", "--public-url", self.endpoint),
            *("--live", "--spend-at-most", self._spend_at_most),
            *("--hits-per-visit", "2", "--settle-seconds", "0", *more),
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
        """What `piecework market prolific` says of its file."""
        return self.run("market", "prolific", *words, "--database", str(self.database))
