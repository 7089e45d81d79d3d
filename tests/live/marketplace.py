"""A live marketplace as people run it: a process of its own, keys, invited people."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any

import httpx

from piecework.marketplace.state import accounts, clock, ledger
from piecework.marketplace.state.accounts import REHEARSAL_BALANCE_CENTS, Key, NewWorker
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.workers import invitations
from tests.crash.people import People
from tests.end_to_end.conftest import ROOT
from tests.live.disturbed_line import Line, listening
from tests.marketplace.market import free_port
from tests.marketplace.served_apart import SERVE

PEOPLE = ("ann", "bob", "cat", "dan", "eve", "fay")


@dataclass
class LiveMarketplace:
    """A marketplace on a file, which can be killed and started again."""

    database: Path
    line: Line
    key: Key
    codes: dict[str, str]
    words: tuple[str, ...] = ()
    _frames_port: int = field(default_factory=free_port)
    _process: "subprocess.Popen[str] | None" = None

    def options(self) -> list[str]:
        """The options with which it is served."""
        _, port = self.line.upstream
        return [
            *("--database", str(self.database)),
            *("--port", str(port), "--frames-port", str(self._frames_port)),
            *("--site-url", self.line.address),
            *("--frames-url", f"http://localhost:{self._frames_port}"),
            *self.words,
        ]

    def serving(self) -> list[str]:
        """The command that serves it."""
        return [*SERVE, *self.options()]

    def start(self) -> None:
        """Serve the file until `kill`; returns when it listens."""
        self._process = subprocess.Popen(
            self.serving(), stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline().startswith("marketplace at")

    def kill(self) -> None:
        """End it as a power cut would."""
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()

    def books(self) -> dict[str, Any]:
        """Everything it has written down, once its own laws are seen to hold."""
        with (
            closing(Backend(self.database, Rules())) as backend,
            backend.transaction() as transaction,
        ):
            assert ledger.broken_laws(transaction) == []
            return ledger.read_books(transaction)


@contextmanager
def live_marketplace(
    folder: Path, *words: str, kind: type[LiveMarketplace] = LiveMarketplace
) -> Iterator[LiveMarketplace]:
    """A running one with a requester, who has $10,000, and six invited people.

    Args:
        folder: where its file is.
        words: more options of `serve`.
        kind: how it is started and killed.
    """
    database = folder / "marketplace.db"
    with closing(Backend(database, Rules())) as backend, backend.transaction() as transaction:
        key = accounts.give_key(transaction, "The lab", deposit_cents=REHEARSAL_BALANCE_CENTS)
        codes = {
            name: invitations.invite(
                transaction, NewWorker(handle=name, country="US"), lifetime_ms=clock.DAY
            ).code
            for name in PEOPLE
        }
    with ExitStack() as stack:
        line = stack.enter_context(listening(("127.0.0.1", free_port())))
        market = kind(database, line, key, codes, words)
        stack.callback(market.kill)
        market.start()
        yield market


@dataclass(slots=True)
class InvitedPeople(People):
    """Scripted workers who sign in as invited people do, by the form of their link."""

    codes: dict[str, str] = field(default_factory=dict)

    def next_assignment(self, client: httpx.Client) -> dict[str, str] | None:
        """Go on with what was accepted before the machine was lost, or accept a HIT."""
        listed = client.get("/worker/hits", headers={"Accept": "text/html"}).text
        held = re.search(r"/worker/assignments/\w+", listed)
        if held is None:
            return People.next_assignment(self, client)  # slots: no bare super
        shown = client.get(held[0], headers={"Accept": "text/html"}).text
        frame = re.search(r'<iframe[^>]* src="([^"]+)"', shown)
        assert frame, shown
        return {"assignment_id": held[0].rpartition("/")[2], "frame_url": unescape(frame[1])}

    def sign_in(self, handle: str, client: httpx.Client) -> None:
        """Open a session; its cookie stays with the client."""
        sent = {"invitation": self.codes[handle]}
        asked = {"accept": "text/html"}
        reply = client.post("/worker/sign-in", data=sent, headers=asked)
        assert reply.status_code == httpx.codes.SEE_OTHER, reply.text
