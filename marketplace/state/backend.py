"""The house: one database, one clock, one mint, and turns taken one after another.

Both sides and the rehearsal's controls come through `turn`, so whoever looks first sees
everything that time has done meanwhile.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from marketplace.exceptions import Refusal
from marketplace.http.call_counts import CallCounts
from marketplace.http.faults import FaultScript
from marketplace.requester import operations
from marketplace.state import accounts, clock, keys, lifecycle, replay_protection
from marketplace.state.ids import IdGenerator
from marketplace.state.storage import Storage
from marketplace.state.transaction import Transaction


class WrongDatabaseError(Exception):
    """The database belongs to a marketplace that was started otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How a marketplace was started; kept in its database for good.

    Attributes:
        rehearsal: virtual time, simulated workers, money that is not.
        seed: where a rehearsal's ids come from.
        start: virtual time at the very beginning.
    """

    rehearsal: bool = False
    seed: int = 0
    start: datetime | None = None


class Backend:
    """An open marketplace without its doors."""

    def __init__(self, database: Path, rules: Rules) -> None:
        self.rules = rules
        self.calls = CallCounts()
        self.faults = FaultScript()
        self.has_backlog = False
        self._keeper: Callable[[], None] | None = None
        self._id_generator = IdGenerator(rules.seed if rules.rehearsal else None)
        self._storage = Storage(database)
        try:
            with self._storage.transaction() as conn:
                _settle_rules(conn, rules)
        except BaseException:
            self._storage.close()
            raise

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """One turn, after what has come due; all of it or nothing.

        What came due is kept even if the turn is refused. If too much has come due at
        once, the turn is behind; where a keeper catches up, it leaves that to him.
        """
        if self._keeper is None or not self.has_backlog:
            self.catch_up()
        with self._storage.transaction() as conn:
            before = conn.total_changes
            yield self._turn(conn)
            if conn.total_changes != before:
                self.calls.write(conn)

    def catch_up(self) -> bool:
        """Do some of what has come due; whether something is left."""
        with self._storage.transaction() as conn:
            transaction = self._turn(conn)
            was_behind, self.has_backlog = (
                self.has_backlog,
                (lifecycle.is_due(transaction) and lifecycle.catch_up(transaction)),
            )
        if self.has_backlog and not was_behind and self._keeper is not None:
            self._keeper()
        return self.has_backlog

    @contextmanager
    def without_catch_up(self) -> Iterator[Transaction]:
        """A look at what time does not change, such as keys; cheaper than a turn."""
        with self._storage.transaction() as conn:
            yield self._turn(conn)

    @contextmanager
    def group_commits(
        self, has_begun: Callable[[], None], keeper: Callable[[], None]
    ) -> Iterator[None]:
        """Turns of this block may share a commit, and are safe only after `commit`.

        Args:
            has_begun: called when a turn has written something that waits for it.
            keeper: called when the house falls behind; has to see to it that
                `catch_up` is called for as long as it `is_behind`.
        """
        self._storage.gather(has_begun)
        self._keeper = keeper
        try:
            yield
        finally:
            self._keeper = None
            self._storage.gather(None)

    def commit(self) -> None:
        """Put on the disk what turns that are taken together have written.

        Raises:
            sqlite3.Error: all of it was lost, and has not happened.
        """
        self._storage.commit()

    def perform(
        self,
        access_key: str,
        operation: str,
        given: object,
        *,
        proof: replay_protection.Proof | None = None,
    ) -> dict[str, Any]:
        """One call of the requester API, from its members to its answer's members.

        Args:
            access_key: of the requester.
            operation: its name.
            given: the members of the request.
            proof: the signature that this call spends, if signatures are checked.

        Raises:
            Refusal: and then nothing has changed.
        """
        with self.transaction() as transaction:
            if self.rules.rehearsal:
                requester = accounts.add_requester(
                    transaction,
                    access_key,
                    balance_cents=accounts.REHEARSAL_BALANCE_CENTS,
                )
            else:
                requester = keys.owner(transaction, access_key)
            if proof is not None:
                replay_protection.spend(transaction, proof)
            return _perform(transaction, requester, operation, given)

    def move_clock(self, now_ms: int) -> None:
        """Set a rehearsal's time; what comes due by that is for `catch_up`.

        Raises:
            Refusal: it would run backwards.
        """
        with self._storage.transaction() as conn:
            clock.move(conn, now_ms)

    def advance_clock(self, now_ms: int) -> bool:
        """Move a rehearsal's time on to a moment; false if that has passed already.

        What comes due by then is for `catch_up`.
        """
        with self._storage.transaction() as conn:
            present = clock.virtual_ms(conn)
            if present is not None and now_ms <= present:
                return False
            clock.move(conn, now_ms)
        return True

    def new_request_id(self) -> str:
        """An id for a reply."""
        return self._id_generator.request()

    def close(self) -> None:
        """Write down what waits and close the database."""
        with self._storage.transaction() as conn:
            self.calls.write(conn)
        self._storage.close()

    def _turn(self, conn: sqlite3.Connection) -> Transaction:
        now_ms = clock.virtual_ms(conn) if self.rules.rehearsal else None
        return Transaction(
            conn=conn,
            now_ms=clock.machine_ms() if now_ms is None else now_ms,
            id_generator=self._id_generator,
            has_backlog=self.has_backlog,
            lag_ms=self.faults.lag_ms,
        )


def _perform(
    transaction: Transaction, requester: int, operation: str, given: object
) -> dict[str, Any]:
    if transaction.has_backlog and isinstance(given, dict):
        lifecycle.settle_named(
            transaction,
            hit_id=given.get("HITId"),
            assignment_id=given.get("AssignmentId"),
        )
    try:
        return operations.perform(transaction, requester, operation, given)
    except Refusal as refusal:
        if transaction.has_backlog and refusal.turk_code == "InsufficientFunds":
            # What is held for HITs that have expired may be about to be released.
            raise Refusal("ThrottlingException", "Rate exceeded") from refusal
        raise


def rules_of(database: Path) -> Rules:
    """How the marketplace of a file was started, so that it can be opened again.

    Raises:
        sqlite3.Error: it is no marketplace's file.
    """
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as conn:
        if conn.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None:
            return Rules()  # somebody is making it at this moment, or it was emptied
        found = dict(conn.execute("SELECT key, value FROM settings"))
    return Rules(
        rehearsal=found.get("rehearsal") == "1", seed=int(found.get("seed", "0"))
    )


def _settle_rules(conn: sqlite3.Connection, rules: Rules) -> None:
    wanted = {"rehearsal": str(int(rules.rehearsal))}
    if rules.rehearsal:
        wanted["seed"] = str(rules.seed)
    found = {row["key"]: row["value"] for row in conn.execute("SELECT * FROM settings")}
    if not found:
        conn.executemany(
            "INSERT INTO settings (key, value) VALUES (?, ?)", wanted.items()
        )
        if rules.rehearsal:
            clock.move(conn, clock.to_ms(rules.start or clock.DEFAULT_START))
        return
    for key, value in wanted.items():
        if found.get(key) != value:
            raise WrongDatabaseError(
                f"This database was made with {key} {found.get(key)}, "
                f"not {value}; start it as it was made, or take another file."
            )
