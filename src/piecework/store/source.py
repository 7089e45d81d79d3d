"""The rows of a source that grows: how far it was read, what is known of each row.

A row is taken in once, by its id. `piecework.store.dealt_items` deals them.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from piecework.domain.growing import SourceRow, version_of
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.text import without_secrets
from piecework.store.database import Store, insert, parsed_moment, to_text

_SET_ASIDE = (
    "SELECT fault, seen_at, located FROM source_quarantine UNION ALL "
    "SELECT fault, first_seen, item_id FROM source_items WHERE state = 'unusable' "
    "AND row_id NOT IN (SELECT row_id FROM source_quarantine)"
)
"""SQL for rows that cannot be used: as they were read, and as no page can show them."""

State = Literal["current", "withdrawn", "replaced", "unusable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What is known of the last reading of the source.

    Attributes:
        number: how many readings there were.
        fingerprint: what the source looked like; `None`: read it again.
        watermark: how far it was read.
        header: its columns at the first reading; `None`: rows may differ.
        read_at: when; `None`: never.
        began_at: when it was read first.
        fault: why it could not be read, or "".
        unfinished: why its end was left for later, or "".
        changed: changes of dealt items so far.
        withdrawn: rows that disappeared so far.
    """

    number: int
    fingerprint: str | None
    watermark: str
    header: tuple[str, ...] | None
    read_at: datetime | None
    began_at: datetime | None
    fault: str
    unfinished: str
    changed: int
    withdrawn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """The latest item of a row.

    Attributes:
        is_dealt: whether it has a batch, and a page can show it.
    """

    item_id: ItemId
    version: int
    digest: str
    state: State
    is_dealt: bool


def reading(store: Store) -> Reading:
    """Return what is known of the last reading."""
    (row,) = store.db.query("SELECT * FROM source_reading")
    del row["only_row"]
    header = row["header"]
    return Reading(
        **{
            **row,
            "header": None if header is None else tuple(json.loads(header)),
            "read_at": parsed_moment(row["read_at"]),
            "began_at": parsed_moment(row["began_at"]),
        }
    )


def keep_reading(
    store: Store,
    *,
    at: datetime,
    number: int,
    fingerprint: str | None,
    fault: str = "",
    watermark: str | None = None,
    unfinished: str = "",
    header: tuple[str, ...] | None = None,
) -> None:
    """Record a reading; part of the caller's transaction.

    Args:
        store: the campaign's memory.
        at: when the source was read.
        number: of this reading.
        fingerprint: what the source looked like; `None`: read it again.
        fault: why it could not be read.
        watermark: how far it was read; `None`: as before.
        unfinished: why its end was left for later.
        header: its columns; those of the first reading stay.
    """
    store.db.execute(
        "UPDATE source_reading SET number = :number, fingerprint = :fingerprint, "
        "watermark = coalesce(:watermark, watermark), read_at = :at, "
        "began_at = coalesce(began_at, :at), fault = :fault, "
        "unfinished = :unfinished, header = coalesce(header, :header)",
        {
            "number": number,
            "fingerprint": fingerprint,
            "watermark": watermark,
            "at": to_text(at),
            "fault": without_secrets(fault),
            "unfinished": without_secrets(unfinished),
            "header": None if header is None else json.dumps(header),
        },
    )


def known(store: Store, row_ids: Iterable[str]) -> dict[str, Known]:
    """Return the latest item of each of these rows, by row id."""
    rows = store.db.execute(
        "SELECT row_id, item_id, version, digest, state, "
        "batch IS NOT NULL AND state <> 'unusable' "
        "FROM json_each(?) AS listed JOIN source_items "
        "ON row_id = value AND is_gold = 0 "
        "ORDER BY version",
        [json.dumps(list(row_ids))],
    )
    return {
        row_id: Known(
            item_id=ItemId(item_id),
            version=version,
            digest=digest,
            state=state,
            is_dealt=bool(is_dealt),
        )
        for row_id, item_id, version, digest, state, is_dealt in rows
    }


def batches_of(store: Store, item_ids: Iterable[ItemId]) -> dict[ItemId, int]:
    """Return the batch of each of these items that was dealt."""
    rows = store.db.execute(
        "SELECT item_id, batch FROM json_each(?) AS listed "
        "JOIN source_items ON item_id = value WHERE batch IS NOT NULL",
        [json.dumps(list(item_ids))],
    )
    return {ItemId(item_id): batch for item_id, batch in rows}


def taken_ids(store: Store, item_ids: Iterable[str]) -> frozenset[str]:
    """Return which of these ids an item has already."""
    rows = store.db.execute(
        "SELECT item_id FROM json_each(?) AS listed JOIN source_items ON item_id = value",
        [json.dumps(list(item_ids))],
    )
    return frozenset(item_id for (item_id,) in rows)


def add(
    store: Store, rows: Iterable[tuple[SourceRow, int, str]], *, id_column: str, at: datetime
) -> None:
    """Take rows in, each with its version and digest; part of a transaction."""
    insert(
        store,
        "source_items",
        (
            {
                "item_id": (item_id := version_of(row.row_id, version)),
                "row_id": row.row_id,
                "version": version,
                "columns": json.dumps({**row.cells, id_column: item_id}, ensure_ascii=False),
                "digest": digest,
                "first_seen": to_text(at),
            }
            for row, version, digest in rows
        ),
    )


def add_gold(store: Store, items: Iterable[Item], *, at: datetime) -> None:
    """Take in items with known answers; known ones stay. Part of a transaction."""
    insert(
        store,
        "source_items",
        (
            {
                "item_id": item.item_id,
                "row_id": item.item_id,
                "columns": json.dumps(dict(item.columns), ensure_ascii=False),
                "digest": "",
                "is_gold": 1,
                "first_seen": to_text(at),
            }
            for item in items
        ),
        or_ignore=True,
    )


def rewrite(store: Store, item_id: ItemId, row: SourceRow, digest: str, *, id_column: str) -> None:
    """Set the cells of an item that no worker was shown; part of a transaction."""
    store.db.execute(
        "UPDATE source_items SET columns = ?, digest = ? "
        "WHERE item_id = ? AND (batch IS NULL OR state = 'unusable')",
        [json.dumps({**row.cells, id_column: item_id}, ensure_ascii=False), digest, item_id],
    )
    set_state(store, [item_id], "current")


def set_unusable(store: Store, faults: Mapping[ItemId, str]) -> None:
    """Set items aside that no page can show, each with its fault.

    Those that were dealt are not asked again. Part of the caller's transaction.
    """
    set_state(store, list(faults), "unusable")
    store.db.executemany(
        "UPDATE source_items SET fault = ? WHERE item_id = ?",
        [(without_secrets(fault), item_id) for item_id, fault in faults.items()],
    )


def unusable(store: Store, row_ids: Iterable[str]) -> dict[str, str]:
    """Return why those of these rows that are set aside cannot be shown, by row id."""
    rows = store.db.execute(
        "SELECT row_id, fault FROM json_each(?) AS listed JOIN source_items "
        "ON row_id = value WHERE state = 'unusable'",
        [json.dumps(list(row_ids))],
    )
    return dict(rows.fetchall())


def set_state(store: Store, item_ids: Sequence[ItemId], state: State) -> None:
    """Set the state of items, and close those that are in work; part of a transaction.

    Args:
        store: the campaign's memory.
        item_ids: the items.
        state: 'current' opens them again.
    """
    of_items = json.dumps(item_ids)
    store.db.execute(
        "UPDATE source_items SET state = ?, fault = '' "
        "WHERE item_id IN (SELECT value FROM json_each(?))",
        [state, of_items],
    )
    # Of an item that no page can show, no answer is wanted, as if its row were gone.
    closed = {"current": None, "unusable": "withdrawn"}.get(state, state)
    store.db.execute(
        "UPDATE items SET closed = ? WHERE item_id IN (SELECT value FROM json_each(?))",
        [closed, of_items],
    )


def count_changes(store: Store, *, changed: int = 0, withdrawn: int = 0) -> None:
    """Add to the counts of changes; part of the caller's transaction."""
    store.db.execute(
        "UPDATE source_reading SET changed = changed + ?, withdrawn = withdrawn + ?",
        [changed, withdrawn],
    )


def set_kept_changes(store: Store, number: int) -> None:
    """Set how many dealt items have other cells in the source now."""
    store.db.execute("UPDATE source_reading SET changed = ?", [number])


@contextmanager
def seen(store: Store) -> Iterator[None]:
    """Let `see` and `gone` work, for one reading of the whole source."""
    # The temporary table may be larger than memory.
    store.db.keep_temporary_on_disk()
    store.db.execute(
        "CREATE TEMP TABLE seen_rows (row_id TEXT PRIMARY KEY, digest TEXT, located TEXT)"
    )
    try:
        yield
    finally:
        store.db.execute("DROP TABLE seen_rows")


def see(store: Store, rows: Sequence[tuple[SourceRow, str]]) -> list[tuple[str, bool]]:
    """Note rows of this reading with their digests.

    Returns:
        For each row, where a row with this id was seen before, or "", and whether that
        row was equal.
    """
    earlier = {
        row_id: (digest, located)
        for row_id, digest, located in store.db.execute(
            "SELECT row_id, digest, located FROM json_each(?) AS listed "
            "JOIN seen_rows ON row_id = value",
            [json.dumps([row.row_id for row, _ in rows])],
        )
    }
    results, new = [], []
    for row, digest in rows:
        before = earlier.get(row.row_id)
        if before is None:
            earlier[row.row_id] = digest, row.located
            new.append((row.row_id, digest, row.located))
            results.append(("", True))
        else:
            results.append((before[1], before[0] == digest))
    store.db.executemany("INSERT INTO seen_rows VALUES (?, ?, ?)", new)
    return results


def gone(store: Store) -> list[ItemId]:
    """Return items whose rows this reading did not see, and not one before."""
    rows = store.db.execute(
        "SELECT item_id FROM source_items "
        "WHERE state IN ('current', 'unusable') AND is_gold = 0 "
        "AND NOT EXISTS (SELECT 1 FROM seen_rows "
        "WHERE seen_rows.row_id = source_items.row_id) ORDER BY number"
    )
    return [ItemId(item_id) for (item_id,) in rows]


def count_current(store: Store) -> int:
    """Return how many items have rows in the source, usable or not."""
    (number,) = store.db.execute(
        "SELECT count(*) FROM source_items WHERE state IN ('current', 'unusable') AND is_gold = 0"
    ).fetchone()
    return int(number)


def quarantine(
    store: Store, faults: Iterable[tuple[SourceRow, str]], *, reading_number: int, at: datetime
) -> None:
    """Set rows aside, each with its fault; part of the caller's transaction."""
    store.db.executemany(
        "INSERT INTO source_quarantine "
        "(located, row_id, fault, reading, seen_at) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (located) DO UPDATE SET row_id = excluded.row_id, "
        "fault = excluded.fault, reading = excluded.reading, "
        "seen_at = excluded.seen_at",
        [
            (row.located, row.row_id, without_secrets(fault), reading_number, to_text(at))
            for row, fault in faults
        ],
    )


def forget_quarantined(store: Store, *, before: int) -> None:
    """Drop what earlier readings set aside; part of the caller's transaction."""
    store.db.execute("DELETE FROM source_quarantine WHERE reading < ?", [before])


def quarantined(store: Store, *, most: int) -> tuple[int, list[str]]:
    """Return how many rows are set aside, and why the first ones are."""
    (number,) = store.db.execute(f"SELECT count(*) FROM ({_SET_ASIDE}) AS faults").fetchone()
    rows = store.db.execute(
        f"SELECT fault FROM ({_SET_ASIDE}) AS faults ORDER BY seen_at, located LIMIT ?", [most]
    )
    return int(number), [fault for (fault,) in rows]
