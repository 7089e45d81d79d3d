"""An account at an outside market, and the process that runs its bridge.

Two bridges to one market would each find the same bonuses unpaid. The operating system
releases the lock, which lies beside the marketplace's database, when the process ends, so
a crash leaves nothing to clean up. The lock works only on the machine that holds the
database.
"""

import fcntl
import json
import logging
import os
import sqlite3
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import ClassVar, Generic, Protocol, Self, TypeVar

from piecework.foundation.client.errors import ApiError, Refused, Unusable
from piecework.foundation.client.token import AccountToken
from piecework.foundation.client.transport import Patience, Transport
from piecework.foundation.tracing.spans import span
from piecework.marketplace.state import outside_crowd
from piecework.marketplace.state.backend import Backend, Rules
from piecework.marketplace.state.money import PriceList
from piecework.marketplace.state.outside_crowd import OutsideCrowd, OutsideMarket
from piecework.marketplace.state.transaction import Transaction
from piecework.markets.bridging.admission import LEAST_REGISTERS

_LITTLE = Patience(tries=2, first_seconds=0.5, longest_seconds=5)
"""The patience of calls that a participant waits for."""

SAMPLE_CENTS = 100_00
"""The pay whose cost a market is asked for, to learn its fees."""


@dataclass(slots=True)
class Bridge:
    """A marketplace and another market together; each market's bridge adds to it.

    Attributes:
        name: how the marketplace's tables name the market.
        market: its display name.
        backend: the marketplace's database, with its own connection.
        faults: messages about what failed in this step.
        changes: how many calls of this step changed something at the market.
        is_due_soon: whether something waits for posts to settle.
        is_compared: whether studies were compared since this bridge began.
    """

    name: ClassVar[str]
    market: ClassVar[str]
    backend: Backend
    faults: list[str] = field(default_factory=list, kw_only=True)
    changes: int = field(default=0, kw_only=True)
    is_due_soon: bool = field(default=False, kw_only=True)
    is_compared: bool = field(default=False, kw_only=True)

    @property
    def log(self) -> logging.Logger:
        """The log of this market's bridge."""
        return logging.getLogger(f"piecework.markets.{self.name}.bridge")

    def tried(self, act: Callable[[], None]) -> None:
        """Run a part of a step; the next step repeats refused or lost calls."""
        changes = self.changes
        try:
            act()
        except ApiError as fault:
            if fault.outcome == "refused":
                self.changes = changes  # A refused call needs no quick retry.
            self.log.warning("%s", fault)
            self.faults.append(str(fault))

    def made_step(
        self, compare: Callable[[Self], None], parts: Iterable[tuple[Callable[[Self], None], bool]]
    ) -> bool:
        """Make a step; return whether a call changed the market.

        Args:
            compare: compares the file with the market.
            parts: what is done then, in this order, and whether it publishes or pays, which
                waits for the comparison.
        """
        self.changes, self.faults, self.is_due_soon = 0, [], False
        self.tried(partial(compare, self))
        for part, spends in parts:
            if self.is_compared or not spends:
                self.tried(partial(part, self))
        return self.changes > 0

    def say_of_bonus(self, batch: sqlite3.Row, trouble: str) -> None:
        """Store a sentence about bonuses for people to read; "" clears it."""
        with self.backend.transaction() as transaction:
            transaction.execute(
                "UPDATE bonus_batches SET trouble = ? WHERE id = ?", trouble, batch["id"]
            )

    def say(self, study: sqlite3.Row, trouble: str) -> None:
        """Store a sentence about a study for people to read; "" clears it."""
        self._say("studies", study, trouble)

    def say_of_visit(self, visit: sqlite3.Row, trouble: str) -> None:
        """Store a sentence about a visit for people to read; "" clears it."""
        self._say("visits", visit, trouble)

    def _say(self, table: str, row: sqlite3.Row, trouble: str) -> None:
        # The row was read before, and this step may have said something else since.
        with self.backend.reading() as transaction:
            is_stored = transaction.has(
                f"SELECT 1 FROM {table} WHERE id = ? AND trouble = ?", row["id"], trouble
            )
        if not is_stored:
            with self.backend.transaction() as transaction:
                transaction.execute(
                    f"UPDATE {table} SET trouble = ? WHERE id = ?", trouble, row["id"]
                )

    def stays_halted(
        self, study: sqlite3.Row, sentences: Mapping[str, str], *, is_needed: bool
    ) -> bool:
        """Return whether a person paused or ended a study there; say so if it is needed.

        Args:
            study: its row.
            sentences: the sentence for `status`, by the status of a study that stopped recruiting.
            is_needed: whether there is work for it.
        """
        sentence = "" if study["halted_by"] else sentences.get(study["status"], "")
        if sentence and is_needed:
            self.say(study, sentence)
        elif study["trouble"] in sentences.values():
            self.say(study, "")
        return bool(sentence)

    @contextmanager
    def saying_refusals(self, study: sqlite3.Row) -> Iterator[None]:
        """Say of a study which call about it was refused in the block."""
        try:
            yield
        except Refused as refusal:
            self.say(study, f"{refusal} {refusal.next_step}".strip())
            raise

    @contextmanager
    def saying_refusals_of_visit(self, visit: sqlite3.Row) -> Iterator[None]:
        """Say of a visit which call about it was refused in the block, unless it may pass."""
        try:
            yield
        except Refused as refusal:
            if not refusal.may_pass:
                self.say_of_visit(
                    visit,
                    f"{self.market} refused a call about {visit['submission_id']}: "
                    f"{refusal} {refusal.next_step}".strip(),
                )
            raise

    def note(
        self, study: sqlite3.Row, *, stage: str, status: str, halted_by: str | None = None
    ) -> None:
        """Store the stage of a study, and why it stopped recruiting; None keeps the reason."""
        with self.backend.transaction() as transaction:
            transaction.execute(
                "UPDATE studies SET stage = ?, status = ?, halted_by = coalesce(?, halted_by) "
                "WHERE id = ?",
                stage,
                status,
                halted_by,
                study["id"],
            )

    def mark(self, messages: Iterable[sqlite3.Row], sent_there: str | None) -> None:
        """Store whether messages were sent at the market; None lets them wait."""
        with self.backend.transaction() as transaction:
            transaction.conn.executemany(
                "UPDATE messages SET sent_there = ? WHERE id = ?",
                [(sent_there, message["id"]) for message in messages],
            )

    def study(self, study_id: int) -> sqlite3.Row:
        """Return a study by its row id."""
        with self.backend.reading() as transaction:
            row = transaction.first_row("SELECT * FROM studies WHERE id = ?", study_id)
        if row is None:
            raise LookupError(f"no study has the row id {study_id}")
        return row


B = TypeVar("B", bound=Bridge)
C = TypeVar("C")
T = TypeVar("T", bound=AccountToken)


def settle_bridge(step: Callable[[B], bool], bridge: B, *, most: int = 20) -> None:
    """Make steps until one changes nothing; for a rehearsal, where time is frozen."""
    for _ in range(most):
        if not step(bridge):
            return


@dataclass(frozen=True, slots=True, kw_only=True)
class Account(ABC, Generic[B]):
    """An account at a market that a marketplace can use.

    Attributes:
        name: how the marketplace's tables name the market.
        title: its display name.
        crowd: the marketplace's interface to participants.
        prices: what the market charges.
        address: the API's address.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    crowd: OutsideCrowd
    prices: PriceList
    address: str

    @abstractmethod
    def start(self) -> "LastStart":
        """Return how the marketplace is served now."""

    @abstractmethod
    def begun(self, backend: Backend) -> B:
        """Return a bridge on a marketplace's database."""

    @contextmanager
    def bridge(self, database: Path, rules: Rules, *, among: Collection[str] = ()) -> Iterator[B]:
        """Open a bridge on a marketplace's database, with its own connection.

        Args:
            database: the marketplace's database.
            rules: how the marketplace is served.
            among: the names of all markets that are served; () is only this one.
        """
        with closing(Backend(database, replace(rules, prices=self.prices))) as backend:
            with backend.transaction() as transaction:
                outside_crowd.claim(
                    transaction,
                    OutsideMarket(name=self.name, title=self.title, prices=self.prices),
                    among=among,
                )
                self.start().keep(transaction)
            yield self.begun(backend)


@contextmanager
def waiting_clients(
    address: str, token: AccountToken, client: Callable[[Transport], C]
) -> Iterator[list[C]]:
    """Open the clients that look participants up, each with its own connection."""
    with ExitStack() as stack:
        yield [
            client(stack.enter_context(Transport(address, token, patience=_LITTLE)))
            for _ in range(LEAST_REGISTERS)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class LastStart:
    """How the marketplace was last served for a market, for readers of its file.

    Attributes:
        address: the API's address.
        is_live: whether publishing and paying were allowed.
        spend_at_most_cents: the cap for everything.
    """

    name: ClassVar[str]
    address: str = ""
    is_live: bool = False
    spend_at_most_cents: int = 0

    @classmethod
    def read(cls, transaction: Transaction) -> Self:
        """Read the last start."""
        row = transaction.first_row("SELECT value FROM settings WHERE key = ?", cls.name)
        return cls() if row is None else cls(**json.loads(row["value"]))

    def keep(self, transaction: Transaction) -> None:
        """Store it."""
        transaction.execute(
            "INSERT INTO settings (key, value) VALUES (?, ?) "
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            self.name,
            json.dumps(asdict(self)),
        )


def number_of(transaction: Transaction, query: str, *values: object) -> int:
    """Return the one number that a query yields; 0 without a row."""
    row = transaction.first_row(query, *values)
    return int(row[0]) if row else 0


def prices_by_sample(
    cost_cents: int, currency: str, *, least_per_hour_cents: int, longest_approval_seconds: int
) -> PriceList:
    """Return fees and tax as a percentage of what participants get.

    A market rounds each payment separately, so a visit's cost may differ by a penny; the bridge
    books the difference (`settling`).

    Args:
        cost_cents: what a place costs that pays `SAMPLE_CENTS`.
        currency: the account's currency.
        least_per_hour_cents: the least pay for an hour.
        longest_approval_seconds: when a requester has to have decided.
    """
    return PriceList(
        currency=currency,
        percent=Decimal(cost_cents - SAMPLE_CENTS) * 100 / SAMPLE_CENTS,
        extra_percent_for_many=Decimal(0),
        extra_percent_for_masters=Decimal(0),
        minimum_cents=0,
        least_per_hour_cents=least_per_hour_cents,
        longest_approval_seconds=longest_approval_seconds,
    )


_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long to wait between steps.

    Attributes:
        first_seconds: the wait after a change, and the shortest between any two steps.
        longest_seconds: while nothing happens, each wait doubles up to this.
        look_seconds: how often to check whether the marketplace has changed.
    """

    first_seconds: float = 3.0
    longest_seconds: float = 120.0
    look_seconds: float = 1.0


class StepObserver(Protocol):
    """Learns of each step, for metrics; it must not raise."""

    def __call__(self, *, seconds: float, faults: int, is_whole: bool) -> None:
        """Take a step's duration, its refused or lost calls, whether it was whole."""


class Running(Generic[B]):
    """Makes steps until stopped: soon after a change, otherwise less and less often.

    Args:
        bridge: the bridge.
        step: makes one step of it; returns whether a call changed the other market.
        news: set by others to ask for a step sooner.
        pace: how long to wait between steps.
        after_step: learns of each step.
    """

    def __init__(
        self,
        bridge: B,
        step: Callable[[B], bool],
        news: threading.Event | None = None,
        pace: Pace | None = None,
        *,
        after_step: StepObserver | None = None,
    ) -> None:
        self._bridge, self._step = bridge, step
        self._news = news or threading.Event()
        self._pace = pace or Pace()
        self._after_step = after_step
        self._stop = threading.Event()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Make steps in a thread for as long as the block lasts.

        Raises:
            Unusable: another bridge is at work on this database.
        """
        thread = threading.Thread(target=self._run, name="bridge", daemon=True)
        with only_bridge(self._bridge.backend.database, self._bridge.market):
            thread.start()
            try:
                yield
            finally:
                self._stop.set()
                thread.join()

    def _run(self) -> None:
        pace = self._pace
        wait = pace.first_seconds
        while not self._stop.is_set():
            self._news.clear()  # News during the step triggers the next one.
            began, is_whole = time.monotonic(), False
            try:
                with span("bridge step", {"piecework.market": self._bridge.market}):
                    has_changed = self._step(self._bridge)
                is_whole = True
            except sqlite3.OperationalError as fault:  # locked, or a full disk
                _LOG.warning("the bridge waits: %s", fault)
                has_changed = False
            except Exception:  # noqa: BLE001 - people wait for pay, so it continues
                _LOG.exception("a step of the bridge failed")
                has_changed = False
            if self._after_step is not None:
                self._after_step(
                    seconds=time.monotonic() - began,
                    faults=len(self._bridge.faults),
                    is_whole=is_whole,
                )
            is_busy = has_changed or self._bridge.is_due_soon
            wait = pace.first_seconds if is_busy else wait * 2
            wait = min(wait, pace.longest_seconds)
            if self._wait(wait):
                wait = pace.first_seconds

    def _wait(self, seconds: float) -> bool:
        """Wait, at most until news or a change here; return whether there was any.

        There are always at least `first_seconds` between two steps.
        """
        backend, pace = self._bridge.backend, self._pace
        version, waited = backend.data_version(), 0.0
        while waited < seconds and not self._stop.wait(pace.look_seconds):
            waited += pace.look_seconds
            if waited < pace.first_seconds:
                continue
            if self._news.is_set() or backend.data_version() != version:
                return True
        return False


SUFFIX = "bridge.lock"


@contextmanager
def only_bridge(database: Path, market: str) -> Iterator[None]:
    """Lock a marketplace's database for as long as the block lasts.

    Args:
        database: the marketplace's database.
        market: the outside market's display name; each market has a bridge.

    Raises:
        Unusable: another bridge holds the lock; the message names its process.
    """
    name = f"{database.name}.{market.lower()}.{SUFFIX}"
    with database.with_name(name).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as fault:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise Unusable(
                f"{database}: process {holder} already serves it for {market}",
                next_step="use that process, or end it first",
            ) from fault
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
