"""Evidence and changes of earned qualifications, shared by a requester's campaigns.

One SQLite file holds them, beside the campaign files, because no campaign's own store
sees the others' work. If the stores are in PostgreSQL, a schema of the same database
holds them. A change is stored before its call, like an intent, and closed after it. A
lock lets one pass at a time decide and call, so that two campaigns cannot make the same
change. The lock ends with its process.
"""

import fcntl
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from piecework.domain.errors import StoreError
from piecework.domain.ids import WorkerId
from piecework.domain.qualifications import (
    DueChange,
    EarnedRule,
    Holding,
    ItemOutcome,
    RecordedChange,
    Share,
)
from piecework.domain.store_address import StoreAddress, schema_name
from piecework.foundation.sqlitefile.database import (
    bring_up_to_date,
    origin,
    patiently,
    read_schema,
)
from piecework.store.connection import Connection
from piecework.store.database import from_text, parsed_moment, to_text
from piecework.store.files import check_kind, make_private_store
from piecework.store.sqlite_database import SqliteDatabase

SCHEMA = Path(__file__).with_name("earned_schema")
"""The folder with its SQL files for SQLite."""

MIGRATIONS = read_schema("piecework earned", SCHEMA)
_LATEST = (
    "SELECT * FROM changes WHERE change_id IN (SELECT max(change_id) FROM changes "
    "WHERE market = ? AND name = ? GROUP BY worker_id) ORDER BY change_id"
)
_NEXT_EDITION = (
    "INSERT INTO editions (market, kind, edition) VALUES (?, ?, 1) "
    "ON CONFLICT (market, kind) DO UPDATE SET edition = editions.edition + 1"
)


def shared_records(path: Path, store: StoreAddress) -> StoreAddress:
    """Return where campaigns share records: a file, or a schema named after it.

    Args:
        path: the file.
        store: where the campaign's store is; the schema is in the same database.
    """
    schema = schema_name(f"records/{path.stem}") if store.url else ""
    return StoreAddress(path=path, url=store.url, schema=schema)


def own_records(store: StoreAddress) -> StoreAddress:
    """Return where a rehearsal has records of its own, beside its store."""
    schema = schema_name(f"records of/{store.schema}") if store.url else ""
    return StoreAddress(path=store.folder / "earned.db", url=store.url, schema=schema)


@contextmanager
def open_records(address: StoreAddress, market: str) -> Iterator["EarnedRecords"]:
    """Open records, and create them if they do not exist.

    Raises:
        StoreError: they are another program's, or cannot be used.
    """
    if address.url:
        from piecework.store.postgres import sessions  # noqa: PLC0415 - an extra installs the driver

        with sessions.records(address) as session:
            yield EarnedRecords(db=session, market=market, locked=session.locked)
        return
    path = address.path
    with _open_file(path) as database:
        yield EarnedRecords(db=database, market=market, locked=partial(_locked, path))


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.with_name(f"{path.name}.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def _open_file(path: Path) -> Iterator[SqliteDatabase]:
    check_kind(path)
    try:
        make_private_store(path)
        connection = sqlite3.connect(path, timeout=30, check_same_thread=False)
    except (OSError, sqlite3.Error) as fault:
        raise _unusable(path, fault) from fault
    try:
        known = origin(connection, MIGRATIONS)
        if known.is_foreign or known.unknown:
            raise StoreError(
                f"{path}: not the records of earned qualifications of this version",
                next_step="give records in the file of earned the path of another file",
            )
        patiently(connection, "PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        database = SqliteDatabase(connection, path)
        bring_up_to_date(database, MIGRATIONS)
        yield database
    except sqlite3.Error as fault:
        raise _unusable(path, fault) from fault
    finally:
        connection.close()


def _unusable(path: Path, fault: Exception) -> StoreError:
    return StoreError(
        f"{path}: the records of earned qualifications cannot be used ({fault})",
        next_step="check the disk and the file, then run the same command again",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EarnedRecords:
    """The open records, for one requester at one marketplace.

    Attributes:
        locked: waits until no other process decides or calls, and keeps others waiting.
    """

    db: Connection
    market: str
    locked: Callable[[], AbstractContextManager[None]]

    def contribution(self, kind: str, campaign: str) -> str:
        """Return the edition of decisions that a campaign's evidence contains."""
        row = self._first(
            "SELECT decisions FROM contributions WHERE market = ? AND kind = ? AND campaign = ?",
            *(self.market, kind, campaign),
        )
        return str(row["decisions"]) if row else ""

    def contribute(
        self,
        kind: str,
        campaign: str,
        outcomes: Iterable[tuple[WorkerId, ItemOutcome]],
        *,
        undecided: Iterable[tuple[WorkerId, str]] = (),
        decisions: str,
    ) -> None:
        """Add or replace evidence of a campaign, in one transaction.

        Args:
            kind: the kind of work.
            campaign: the name of the campaign, with that of its store.
            outcomes: items by worker; earlier ones of the same items are replaced.
            undecided: workers and items that are not evidence, or no longer.
            decisions: the edition of decisions that they contain.
        """
        with self.db.atomic():
            self.db.executemany(
                "DELETE FROM evidence WHERE market = ? AND kind = ? AND campaign = ? "
                "AND worker_id = ? AND item_id = ?",
                [(self.market, kind, campaign, *pair) for pair in undecided],
            )
            self.db.executemany(
                "INSERT INTO evidence "
                "(market, kind, campaign, worker_id, item_id, agrees, at) "
                "VALUES (?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (market, kind, worker_id, campaign, item_id) "
                "DO UPDATE SET agrees = excluded.agrees, at = excluded.at",
                [
                    (
                        *(self.market, kind, campaign, worker_id, outcome.item_id),
                        *(outcome.agrees, to_text(outcome.at)),
                    )
                    for worker_id, outcome in outcomes
                ],
            )
            self.db.execute(
                "INSERT INTO contributions (market, kind, campaign, decisions) "
                "VALUES (?, ?, ?, ?) ON CONFLICT (market, kind, campaign) "
                "DO UPDATE SET decisions = excluded.decisions",
                [self.market, kind, campaign, decisions],
            )
            self.db.execute(_NEXT_EDITION, [self.market, kind])

    def state(self, rule: EarnedRule, campaign: str) -> None:
        """Store the rule as a campaign states it.

        Raises:
            StoreError: another campaign states other terms for the same qualification.
        """
        row = self._first(
            "SELECT * FROM rules WHERE market = ? AND name = ?", self.market, rule.name
        )
        if row and row["terms"] != rule.terms and row["campaign"] != campaign:
            raise StoreError(
                f"earned: {rule.name!r} is stated as {rule.terms} here, but the "
                f"campaign {row['campaign'].partition('/')[0]} states {row['terms']}",
                next_step="state the same in both campaign files, and advance that campaign once",
            )
        if row is None or row["terms"] != rule.terms:
            with self.db.atomic():
                self.db.execute(
                    "INSERT INTO rules (market, name, terms, campaign) "
                    "VALUES (?, ?, ?, ?) ON CONFLICT (market, name) DO UPDATE SET "
                    "terms = excluded.terms, campaign = excluded.campaign, "
                    "edition = 0, day = ''",
                    [self.market, rule.name, rule.terms, campaign],
                )

    def is_applied(self, rule: EarnedRule, *, now: datetime) -> bool:
        """Whether the rule was applied today to all evidence that there is."""
        row = self._first(
            "SELECT 1 AS yes FROM rules WHERE market = ? AND name = ? AND terms = ? "
            "AND day = ? AND edition = coalesce((SELECT edition FROM editions "
            "WHERE market = ? AND kind = ?), 0)",
            *(self.market, rule.name, rule.terms, to_text(now)[:10]),
            *(self.market, rule.kind),
        )
        return row is not None

    def apply(
        self, rule: EarnedRule, changes: Mapping[WorkerId, DueChange], *, now: datetime
    ) -> None:
        """Store the changes that the rule makes, and that it was applied."""
        with self.db.atomic():
            for worker_id, change in changes.items():
                self._insert(rule.name, worker_id, change, by="rule", at=now)
            self.db.execute(
                "UPDATE rules SET day = ?, edition = coalesce((SELECT edition "
                "FROM editions WHERE market = ? AND kind = ?), 0) "
                "WHERE market = ? AND name = ?",
                [to_text(now)[:10], self.market, rule.kind, self.market, rule.name],
            )

    def restore(
        self, name: str, worker_id: WorkerId, change: DueChange, *, by: str, at: datetime
    ) -> None:
        """Store a person's grant; only later items count against the worker."""
        counts_after = change.share.last or at
        with self.db.atomic():
            self._insert(name, worker_id, change, by=by, at=at, counts_after=counts_after)

    def outcomes(self, kind: str) -> Mapping[WorkerId, list[ItemOutcome]]:
        """Return the items of each worker of a kind."""
        by_worker: dict[WorkerId, list[ItemOutcome]] = defaultdict(list)
        for row in self.db.query(
            "SELECT * FROM evidence WHERE market = ? AND kind = ? "
            "ORDER BY worker_id, campaign, item_id",
            [self.market, kind],
        ):
            by_worker[WorkerId(row["worker_id"])].append(
                ItemOutcome(
                    at=from_text(row["at"]),
                    campaign=row["campaign"],
                    item_id=row["item_id"],
                    agrees=bool(row["agrees"]),
                )
            )
        return by_worker

    def holdings(self, name: str) -> Mapping[WorkerId, Holding]:
        """Return who holds a qualification now; changes that are open count as done."""
        return {
            WorkerId(row["worker_id"]): Holding(
                since=from_text(row["decided_at"]), counts_after=parsed_moment(row["counts_after"])
            )
            for row in self.db.query(_LATEST, [self.market, name])
            if row["change"] == "grant"
        }

    def unfinished(self, name: str) -> list[RecordedChange]:
        """Return changes that are open, or whose worker was not notified."""
        return self._changes("AND name = ? AND (done_at IS NULL OR notified_at IS NULL)", name)

    def changes(self, name: str) -> list[RecordedChange]:
        """Return all changes of a qualification, in order."""
        return self._changes("AND name = ?", name)

    def begin(self, change: RecordedChange, *, at: datetime) -> None:
        """Store that a call may be made now."""
        self._mark("begun_at", change, at)

    def close(self, change: RecordedChange, *, at: datetime) -> None:
        """Store that the marketplace has a change."""
        self._mark("done_at", change, at)

    def notified(self, change: RecordedChange, *, at: datetime) -> None:
        """Store that the worker was notified."""
        self._mark("notified_at", change, at)

    def _mark(self, column: str, change: RecordedChange, at: datetime) -> None:
        with self.db.atomic():
            self.db.execute(
                f"UPDATE changes SET {column} = ? WHERE change_id = ?", [to_text(at), change.number]
            )

    def _changes(self, condition: str, *values: str) -> list[RecordedChange]:
        rows = self.db.query(
            f"SELECT * FROM changes WHERE market = ? {condition} ORDER BY change_id",
            [self.market, *values],
        )
        return [_recorded(row) for row in rows]

    def _insert(
        self,
        name: str,
        worker_id: WorkerId,
        change: DueChange,
        *,
        by: str,
        at: datetime,
        counts_after: datetime | None = None,
    ) -> None:
        share = change.share
        self.db.execute(
            "INSERT INTO changes (market, name, worker_id, change, decided_by, "
            "decided_at, items, agreed, first_at, last_at, because, counts_after) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                *(self.market, name, worker_id, change.change, by, to_text(at)),
                *(share.items, share.agreed),
                *(each and to_text(each) for each in (share.first, share.last)),
                change.because,
                counts_after and to_text(counts_after),
            ],
        )

    def _first(self, sql: str, *values: str) -> dict[str, Any] | None:
        return next(iter(self.db.query(sql, list(values))), None)


def _recorded(row: Mapping[str, Any]) -> RecordedChange:
    return RecordedChange(
        number=row["change_id"],
        name=row["name"],
        worker_id=WorkerId(row["worker_id"]),
        change=row["change"],
        decided_by=row["decided_by"],
        decided_at=from_text(row["decided_at"]),
        share=Share(
            items=row["items"],
            agreed=row["agreed"],
            first=parsed_moment(row["first_at"]),
            last=parsed_moment(row["last_at"]),
        ),
        because=row["because"],
        was_begun=row["begun_at"] is not None,
        done_at=parsed_moment(row["done_at"]),
        notified_at=parsed_moment(row["notified_at"]),
    )
