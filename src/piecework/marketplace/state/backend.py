"""The backend: one database, one clock, one id generator, one transaction at a time.

The worker site, the requester API and a rehearsal's controls all use `transaction`,
which first does due work (`catch_up`), so that each caller sees the state as of now. A
call does only a slice of it. The rest is the *backlog*, which `GroupCommit` works off
between calls.

The steps of a call, all under the storage's lock except the last:

1. `catch_up` in its own transaction, which is kept even if the call is refused;
2. the call's own transaction, all or nothing;
3. `commit`, at once, or shared with other calls inside `group_commits`; only then is
   the call's reply sent.

Calls of each requester operation are counted since the database was created.
"""

import json
import logging
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from piecework.marketplace.state import accounts, clock, lifecycle, lineage, storage
from piecework.marketplace.state.clock import Moment, WatchedClock, steady_ms
from piecework.marketplace.state.money import MTURK, PriceList
from piecework.marketplace.state.storage import Storage, WrongDatabaseError, is_passing
from piecework.marketplace.state.transaction import IdGenerator, Transaction, keep_setting

_LOG = logging.getLogger(__name__)
_KEPT_EVERY_MS = 60 * clock.SECOND


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How a marketplace is started; its database stores all but the balance.

    Attributes:
        rehearsal: virtual time, simulated workers, money that is not, deterministic ids,
            controls, and accounts on first sight.
        seed: the seed of a rehearsal's ids.
        start: virtual time at the first start; later the database has the time.
        clock_runs: whether a rehearsal's time runs on its own, from today without a start;
            else programs move it.
        simulates: whether all work of a rehearsal is done by simulated workers; not stored.
        balance_cents: a new requester's balance in a rehearsal.
        prices: its currency, which is fixed once it holds money, and its fees, which
            may change at each start; a HIT keeps the fee with which it was posted.
        spend_at_most_cents: the spending limit of all requesters together, if any.
        clock_is_right: whether the operator has confirmed the clock, though it is far
            ahead of the last time in the database.
    """

    rehearsal: bool = False
    seed: int = 0
    start: datetime | None = None
    clock_runs: bool = False
    simulates: bool = False
    balance_cents: int = accounts.REHEARSAL_BALANCE_CENTS
    prices: PriceList = MTURK
    spend_at_most_cents: int | None = None
    clock_is_right: bool = False

    @property
    def time_passes(self) -> bool:
        """Whether time passes on its own, so that pages may show a countdown."""
        return self.clock_runs or not self.rehearsal


class Backend:
    """An open marketplace without its network side.

    Attributes:
        database: its file.
        rules: how it was started.
        calls: how often each operation of the requester API was called.
        has_backlog: whether `catch_up` has left due work.
        lag_ms: the age at which a HIT is listed, from a rehearsal's fault script.
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
        storage.check_database_kind(database)
        storage.check_log_file(database)
        self._storage = Storage(database)
        try:
            if not rules.rehearsal:
                storage.check_is_private(database)
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
        """Open a transaction, all or nothing, after due work is done.

        Inside `group_commits`, a backlog is worked off between calls, and the
        transaction's `has_backlog` is set.
        """
        with self._storage.transaction() as conn:
            transaction = self._transaction(conn)
            if self._leaves_backlog() or not (self.has_backlog or self._is_due(transaction)):
                yield from self._used(transaction)
                return
        self.catch_up()
        with self._storage.transaction() as conn:
            yield from self._used(self._transaction(conn))

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """Open a transaction that cannot write, after due work is done.

        A bridge, which has its own connection, reads a great deal; in `transaction`, a
        server would wait for it. Not inside `group_commits`.
        """
        with self._storage.reading() as conn:
            transaction = self._transaction(conn)
            if not (self.has_backlog or self._is_due(transaction)):
                yield transaction
                return
        self.catch_up()
        with self._storage.reading() as conn:
            yield self._transaction(conn)

    def _used(self, transaction: Transaction) -> Iterator[Transaction]:
        """Give a transaction to a call; store call counts if it writes."""
        changes_before = transaction.conn.total_changes
        yield transaction
        if transaction.conn.total_changes != changes_before:
            self.calls.write(transaction.conn)
            self._keep_time(transaction)

    @contextmanager
    def without_catch_up(self) -> Iterator[Transaction]:
        """Open a cheaper transaction for data that time does not change."""
        with self._storage.transaction() as conn:
            yield self._transaction(conn)

    def secret_of_key(self, access_key: str) -> str:
        """Return the secret of a key; time does not change it, so no transaction is opened.

        Raises:
            Refusal: the key is unknown, or was revoked.
        """
        return accounts.checked_secret(self._storage.value(accounts.FIND_KEY, access_key))

    def catch_up(self) -> bool:
        """Do a slice of the due work; return whether some is left."""
        had_backlog = self.has_backlog
        with self._storage.transaction() as conn:
            transaction = self._transaction(conn)
            self.has_backlog = self._is_due(transaction) and lifecycle.catch_up(transaction)
        if self.has_backlog and not had_backlog and self._on_backlog is not None:
            self._on_backlog()
        return self.has_backlog

    def _leaves_backlog(self) -> bool:
        return self.has_backlog and self._on_backlog is not None

    def _is_due(self, transaction: Transaction) -> bool:
        """Return whether work is due, with one query per time and state."""
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
        """Let this block's transactions share commits: durable only after `commit`.

        Args:
            on_first_write: called when the first transaction has written data that
                waits for `commit`.
            on_backlog: called when a backlog begins; must ensure that `catch_up` is
                called until none is left.
        """
        self._storage.share_commits(on_first_write)
        self._on_backlog = on_backlog
        try:
            yield
        finally:
            self._on_backlog = None
            self._storage.share_commits(None)

    def commit(self) -> None:
        """Make the writes of `group_commits`' transactions durable.

        Raises:
            sqlite3.Error: all writes were lost and have not happened.
        """
        self._storage.commit()

    def move_clock(self, now_ms: int) -> None:
        """Set a rehearsal's time; `catch_up` does the work that becomes due.

        Raises:
            Refusal: time would run backwards.
        """
        with self._storage.transaction() as conn:
            clock.move_clock(conn, now_ms)

    def advance_clock(self, now_ms: int) -> bool:
        """Advance a rehearsal's time; return false if that time has passed already.

        `catch_up` does the work that becomes due.
        """
        with self._storage.transaction() as conn:
            return clock.advance_clock(conn, now_ms)

    def begin_generation(self) -> None:
        """Begin a new generation of this database, as each starting server does."""
        with self.without_catch_up() as transaction:
            lineage.begin_generation(transaction)

    def mark(self) -> str | None:
        """The database's current mark (`state.lineage`)."""
        return self._storage.mark()

    def keep_time(self) -> None:
        """Store the time, so that a later start can detect a clock jump and count on."""
        with self.without_catch_up() as transaction:
            self._keep_time(transaction)

    def _keep_time(self, transaction: Transaction) -> None:
        """Do the same within a transaction, at most once a minute."""
        known_ms = self._watched_clock.known_ms
        if self._kept_ms is None or abs(known_ms - self._kept_ms) >= _KEPT_EVERY_MS:
            self._kept_ms = known_ms
            if clock.virtual_ms(transaction.conn) is None:
                clock.keep_known_ms(transaction.conn, known_ms)
                clock.keep_counted_ms(transaction.conn, transaction.counted_ms)

    def check_writing(self) -> None:
        """Store the time of this check, to find out whether anything can be stored.

        Raises:
            sqlite3.OperationalError: the disk is full, or the file is locked.
        """
        with self.without_catch_up() as transaction:
            clock.keep_checked_ms(transaction.conn, clock.machine_ms())

    def is_locked(self) -> bool:
        """Return at once whether another connection is writing to the file."""
        return self._storage.is_locked()

    def data_version(self) -> int:
        """Return a number that changes when another connection changes the file."""
        return self._storage.data_version()

    def new_request_id(self) -> str:
        """Return an id for a reply."""
        return self._id_generator.request()

    def close(self) -> None:
        """Store waiting counts and close the database."""
        try:
            with self.without_catch_up() as transaction:
                self.calls.write(transaction.conn)
                self._keep_time(transaction)
        except sqlite3.OperationalError as fault:
            if not is_passing(fault):
                raise
            _LOG.warning("closed without storing the last call counts: %s", fault)
        finally:
            self._storage.close()

    def _transaction(self, conn: sqlite3.Connection) -> Transaction:
        now_ms = clock.virtual_ms(conn) if self.rules.rehearsal else None
        if now_ms is None:
            moment = self._watched_clock.read(clock.machine_ms(), steady_ms())
            counted_ms = self._watched_clock.counted_ms
        else:
            counted_ms, moment = now_ms, Moment(now_ms)
        return Transaction(
            conn=conn,
            now_ms=moment.now_ms,
            counted_ms=counted_ms,
            held_ms=moment.held_ms,
            id_generator=self._id_generator,
            has_backlog=self.has_backlog,
            lag_ms=self.lag_ms,
            prices=self.rules.prices,
            spend_at_most_cents=self.rules.spend_at_most_cents,
        )


def is_begun(database: Path) -> bool:
    """Return whether a file holds a marketplace. After a full disk it may hold none.

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
        return True  # Another program's file; opening it reports that.


def rules_of(database: Path) -> Rules:
    """Return how a file's marketplace was started, to open it again.

    Raises:
        WrongDatabaseError: the file is not a database.
        sqlite3.Error: the file cannot be read.
    """
    storage.check_database_kind(database)
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as conn:
        tables = "SELECT 1 FROM sqlite_master WHERE name = 'settings'"
        if conn.execute(tables).fetchone() is None:
            # The file is new, being created right now, or another program's: `Backend`
            # reports that.
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
        conn.executemany("INSERT INTO settings (key, value) VALUES (?, ?)", wanted.items())
        if rules.rehearsal:
            _start_clock(conn, rules)
        _settle_prices(conn, rules.prices, settings)
        return
    for key, value in wanted.items():
        if settings.get(key) != value:
            raise WrongDatabaseError(
                f"This database was made with {key} {settings.get(key)}, "
                f"not {value}; start it with that, or use another file."
            )
    _settle_prices(conn, rules.prices, settings)
    if rules.rehearsal and rules.clock_runs != clock.clock_runs(conn):
        present = clock.virtual_ms(conn) or 0
        if rules.clock_runs:
            clock.let_clock_run(conn, max(present, clock.machine_ms()))
        else:
            clock.let_clock_stand(conn, present)


def _watched_clock(conn: sqlite3.Connection, rules: Rules) -> WatchedClock:
    known_ms = clock.last_known_ms(conn)
    if rules.clock_is_right:
        known_ms = clock.machine_ms()
        clock.keep_known_ms(conn, known_ms)
    counted_ms = clock.last_counted_ms(conn)
    return WatchedClock(clock.machine_ms(), steady_ms(), known_ms, counted_ms)


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
            "start it with that, or use another file."
        )
    keep_setting(conn, "prices", json.dumps(prices.members()))


def _kept_prices(settings: Mapping[str, str]) -> PriceList:
    """Return the prices of the last start, or MTurk's if the file has none."""
    kept = settings.get("prices")
    return MTURK if kept is None else PriceList.of_members(json.loads(kept))


def _start_clock(conn: sqlite3.Connection, rules: Rules) -> None:
    start_ms = None if rules.start is None else clock.to_ms(rules.start)
    if rules.clock_runs:
        clock.let_clock_run(conn, clock.machine_ms() if start_ms is None else start_ms)
    else:
        standard = clock.to_ms(clock.DEFAULT_START)
        clock.let_clock_stand(conn, standard if start_ms is None else start_ms)


class CallCounts:
    """Counts that are stored with the next write."""

    def __init__(self) -> None:
        self._waiting: Counter[str] = Counter()

    def count(self, operation: str) -> None:
        """Count one more call of this operation, successful or not."""
        self._waiting[operation] += 1

    def write(self, conn: sqlite3.Connection) -> None:
        """Store waiting counts in the open transaction."""
        for operation, times in self._waiting.items():
            conn.execute(
                "INSERT INTO calls (operation, times) VALUES (?, ?) ON CONFLICT "
                "(operation) DO UPDATE SET times = times + excluded.times",
                (operation, times),
            )
        self._waiting.clear()

    def read(self, conn: sqlite3.Connection) -> dict[str, int]:
        """Return all counts, including waiting ones."""
        self.write(conn)
        rows = conn.execute("SELECT operation, times FROM calls ORDER BY operation")
        return {row["operation"]: row["times"] for row in rows}
