"""The backend: one database, one clock, one id generator, one transaction at a time.

Worker site, requester API and a rehearsal's controls all work on it by `transaction`,
which first does what has come due (`catch_up`), so that each caller meets the state
that time has made meanwhile. A call does only so much of it: what is left is the
*backlog*, which `GroupCommit` works off between calls.

Order of a call, all under the storage's lock except the last:

1. `catch_up` in a transaction of its own, which stays even if the call is refused;
2. the call's own transaction: all of it or nothing;
3. `commit`, at once, or shared with other calls inside `group_commits`; only then is
   the call's reply sent.
"""

import json
import logging
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from piecework.marketplace.state import (
    accounts,
    clock,
    database_file,
    lifecycle,
    lineage,
)
from piecework.marketplace.state.call_counts import CallCounts
from piecework.marketplace.state.clock_jumps import Moment, WatchedClock, steady_ms
from piecework.marketplace.state.database_file import WrongDatabaseError
from piecework.marketplace.state.ids import IdGenerator
from piecework.marketplace.state.money import MTURK, PriceList
from piecework.marketplace.state.storage import Storage, is_passing
from piecework.marketplace.state.transaction import Transaction

_LOG = logging.getLogger(__name__)
_KEPT_EVERY_MS = 60 * clock.SECOND


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How a marketplace was started; all but the balance is kept in its database.

    Attributes:
        rehearsal: virtual time, simulated workers, money that is not.
        seed: where a rehearsal's ids come from.
        start: virtual time at the very beginning.
        clock_runs: whether a rehearsal's time runs by itself; else programs move it.
        balance_cents: what a requester has whom a rehearsal sees for the first time.
        prices: its currency, which stays once money is in it, and its fees, which may
            be others at each start; a HIT keeps the fee that it was posted with.
        spend_at_most_cents: of all requesters together; None is no limit.
        clock_is_right: whether a person has said so, however far it has jumped.
    """

    rehearsal: bool = False
    seed: int = 0
    start: datetime | None = None
    clock_runs: bool = False
    balance_cents: int = accounts.REHEARSAL_BALANCE_CENTS
    prices: PriceList = MTURK
    spend_at_most_cents: int | None = None
    clock_is_right: bool = False

    @property
    def time_passes(self) -> bool:
        """Whether time passes without anybody moving it, so that pages may count it."""
        return self.clock_runs or not self.rehearsal


class Backend:
    """An open marketplace without its addresses.

    Attributes:
        database: its file.
        rules: how it was started.
        calls: how often each operation of the requester API was called.
        has_backlog: whether more has come due than `catch_up` has done.
        lag_ms: how old a HIT must be to be listed; a rehearsal's script of faults.
    """

    def __init__(self, database: Path, rules: Rules) -> None:
        self.database, self.rules = database, rules
        self.calls = CallCounts()
        self.has_backlog = False
        self.lag_ms = 0
        self._on_backlog: Callable[[], None] | None = None
        self._nothing_due: tuple[int, int] | None = None
        self._kept_ms: int | None = None
        self._id_generator = IdGenerator(rules.seed if rules.rehearsal else None)
        database_file.check_kind(database)
        database_file.check_log(database)
        self._storage = Storage(database)
        try:
            if not rules.rehearsal:
                database_file.check_private(database)
            with self._storage.transaction() as conn:
                _settle_rules(conn, rules)
                self._watched_clock = _watched_clock(conn, rules)
            if rules.rehearsal:
                self._storage.commit_without_sync()
        except BaseException:
            self._storage.close()
            raise

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """A transaction after what has come due; all of it or nothing.

        Inside `group_commits` a backlog is left to what works it off between calls, and
        the transaction says that there is one.
        """
        with self._storage.transaction() as conn:
            transaction = self._transaction(conn)
            if self._leaves_backlog() or not (
                self.has_backlog or self._is_due(transaction)
            ):
                yield from self._used(transaction)
                return
        self.catch_up()
        with self._storage.transaction() as conn:
            yield from self._used(self._transaction(conn))

    def _used(self, transaction: Transaction) -> Iterator[Transaction]:
        """Give a transaction to a call; counts of calls are written if it writes."""
        changes_before = transaction.conn.total_changes
        yield transaction
        if transaction.conn.total_changes != changes_before:
            self.calls.write(transaction.conn)
            self._keep_time(transaction)

    @contextmanager
    def without_catch_up(self) -> Iterator[Transaction]:
        """A transaction about what time does not change, such as keys; cheaper."""
        with self._storage.transaction() as conn:
            yield self._transaction(conn)

    def catch_up(self) -> bool:
        """Do a slice of what has come due; whether something is left."""
        had_backlog = self.has_backlog
        with self._storage.transaction() as conn:
            transaction = self._transaction(conn)
            self.has_backlog = self._is_due(transaction) and lifecycle.catch_up(
                transaction
            )
        if self.has_backlog and not had_backlog and self._on_backlog is not None:
            self._on_backlog()
        return self.has_backlog

    def _leaves_backlog(self) -> bool:
        return self.has_backlog and self._on_backlog is not None

    def _is_due(self, transaction: Transaction) -> bool:
        """Whether anything has come due; looked up once for a moment and its state."""
        state = (transaction.due_ms, transaction.conn.total_changes)
        if state == self._nothing_due:
            return False
        is_due = lifecycle.is_due(transaction)
        self._nothing_due = None if is_due else state
        return is_due

    @contextmanager
    def group_commits(
        self, on_first_write: Callable[[], None], on_backlog: Callable[[], None]
    ) -> Iterator[None]:
        """Transactions of this block share commits: durable only after `commit`.

        Args:
            on_first_write: called when the first transaction has written something
                that waits for `commit`.
            on_backlog: called when a backlog begins; has to see to it that `catch_up`
                is called until there is none.
        """
        self._storage.share_commits(on_first_write)
        self._on_backlog = on_backlog
        try:
            yield
        finally:
            self._on_backlog = None
            self._storage.share_commits(None)

    def commit(self) -> None:
        """Make durable what the transactions of `group_commits` have written.

        Raises:
            sqlite3.Error: all of it was lost, and has not happened.
        """
        self._storage.commit()

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
            return clock.advance(conn, now_ms)

    def begin_generation(self) -> None:
        """Begin a generation of this database, as each server does that starts."""
        with self.without_catch_up() as transaction:
            lineage.begin(transaction)

    def mark(self) -> str | None:
        """The present moment of the database (`state.lineage`)."""
        return self._storage.mark()

    def keep_time(self) -> None:
        """Tell the database the moment, so that a start later knows a jump from one."""
        with self.without_catch_up() as transaction:
            self._keep_time(transaction)

    def _keep_time(self, transaction: Transaction) -> None:
        """The same as part of a transaction; once a minute will do."""
        known_ms = self._watched_clock.known_ms
        if self._kept_ms is None or abs(known_ms - self._kept_ms) >= _KEPT_EVERY_MS:
            self._kept_ms = known_ms
            if clock.virtual_ms(transaction.conn) is None:
                clock.keep_known_ms(transaction.conn, known_ms)

    def data_version(self) -> int:
        """Changes whenever another connection to the file has changed something."""
        return self._storage.data_version()

    def new_request_id(self) -> str:
        """An id for a reply."""
        return self._id_generator.request()

    def close(self) -> None:
        """Write down what waits and close the database."""
        try:
            with self.without_catch_up() as transaction:
                self.calls.write(transaction.conn)
                self._keep_time(transaction)
        except sqlite3.OperationalError as fault:
            if not is_passing(fault):
                raise
            _LOG.warning("closed without the last counts of calls: %s", fault)
        finally:
            self._storage.close()

    def _transaction(self, conn: sqlite3.Connection) -> Transaction:
        now_ms = clock.virtual_ms(conn) if self.rules.rehearsal else None
        if now_ms is None:
            counted_ms = steady_ms()
            moment = self._watched_clock.read(clock.machine_ms(), counted_ms)
        else:
            counted_ms, moment = now_ms, Moment(now_ms)
        return Transaction(
            conn=conn,
            now_ms=moment.now_ms,
            steady_ms=counted_ms,
            held_ms=moment.held_ms,
            id_generator=self._id_generator,
            has_backlog=self.has_backlog,
            lag_ms=self.lag_ms,
            prices=self.rules.prices,
            spend_at_most_cents=self.rules.spend_at_most_cents,
        )


def is_begun(database: Path) -> bool:
    """Whether a file holds a marketplace; a start without room leaves one that is none.

    Raises:
        sqlite3.OperationalError: the file cannot be read now.
    """
    if not database.exists():
        return False
    try:
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as conn:
            tables = "SELECT 1 FROM sqlite_master WHERE name = 'settings'"
            if conn.execute(tables).fetchone() is None:
                return False
            return conn.execute("SELECT 1 FROM settings").fetchone() is not None
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError:
        return True  # Something else's file; who opens it says so.


def rules_of(database: Path) -> Rules:
    """How the marketplace of a file was started, so that it can be opened again.

    Raises:
        WrongDatabaseError: it is no database's file.
        sqlite3.Error: it cannot be read.
    """
    database_file.check_kind(database)
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as conn:
        tables = "SELECT 1 FROM sqlite_master WHERE name = 'settings'"
        if conn.execute(tables).fetchone() is None:
            # New, or another process is making it just now, or it is another program's:
            # `Backend` says so.
            return Rules()
        settings = dict(conn.execute("SELECT key, value FROM settings"))
    return Rules(
        rehearsal=settings.get("rehearsal") == "1",
        seed=int(settings.get("seed", "0")),
        clock_runs="ahead_ms" in settings,
        prices=_kept_prices(settings),
    )


def _settle_rules(conn: sqlite3.Connection, rules: Rules) -> None:
    wanted = {"rehearsal": str(int(rules.rehearsal))}
    if rules.rehearsal:
        wanted["seed"] = str(rules.seed)
    rows = conn.execute("SELECT * FROM settings")
    settings = {row["key"]: row["value"] for row in rows}
    if not settings:
        conn.executemany(
            "INSERT INTO settings (key, value) VALUES (?, ?)", wanted.items()
        )
        if rules.rehearsal:
            _start_clock(conn, rules)
        _settle_prices(conn, rules.prices, settings)
        return
    for key, value in wanted.items():
        if settings.get(key) != value:
            raise WrongDatabaseError(
                f"This database was made with {key} {settings.get(key)}, "
                f"not {value}; start it as it was made, or take another file."
            )
    _settle_prices(conn, rules.prices, settings)
    if rules.rehearsal and rules.clock_runs != clock.runs(conn):
        present = clock.virtual_ms(conn) or 0
        if rules.clock_runs:
            clock.let_run(conn, max(present, clock.machine_ms()))
        else:
            clock.let_stand(conn, present)


def _watched_clock(conn: sqlite3.Connection, rules: Rules) -> WatchedClock:
    known_ms = clock.last_known_ms(conn)
    if rules.clock_is_right:
        known_ms = clock.machine_ms()
        clock.keep_known_ms(conn, known_ms)
    return WatchedClock(clock.machine_ms(), steady_ms(), known_ms)


def _settle_prices(
    conn: sqlite3.Connection, prices: PriceList, settings: Mapping[str, str]
) -> None:
    known = _kept_prices(settings)
    if known == prices:
        return
    has_money = conn.execute("SELECT 1 FROM entries LIMIT 1").fetchone() is not None
    if known.currency != prices.currency and has_money:
        raise WrongDatabaseError(
            f"This database holds money in {known.currency}, not in {prices.currency}; "
            "start it as it was made, or take another file."
        )
    conn.execute(
        "INSERT INTO settings (key, value) VALUES ('prices', ?) "
        "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (json.dumps(prices.members()),),
    )


def _kept_prices(settings: Mapping[str, str]) -> PriceList:
    """The prices of the last start; MTurk's, where a file says nothing of them."""
    kept = settings.get("prices")
    return MTURK if kept is None else PriceList.of_members(json.loads(kept))


def _start_clock(conn: sqlite3.Connection, rules: Rules) -> None:
    start_ms = None if rules.start is None else clock.to_ms(rules.start)
    if rules.clock_runs:
        clock.let_run(conn, clock.machine_ms() if start_ms is None else start_ms)
    else:
        standard = clock.to_ms(clock.DEFAULT_START)
        clock.let_stand(conn, standard if start_ms is None else start_ms)
