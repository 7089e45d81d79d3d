"""Items of a source that grows: which wait for a batch, and which were dealt.

An item is dealt once: its batch is set in the transaction that plans its HITs.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import overload

from piecework.domain.hit import Item
from piecework.domain.ids import HitKey, ItemId
from piecework.store.database import Store, parsed_moment, to_text

_FETCHED = 1_000
"""Items that are read from the store at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingRows:
    """The rows that wait for their batch: how many, and since when the first does."""

    rows: int
    since: datetime | None


def waiting(store: Store) -> WaitingRows:
    """Return how many rows wait for their batch, and since when."""
    rows, first = store.db.execute(
        "SELECT count(*), min(number) FROM source_items "
        "WHERE batch IS NULL AND state = 'current' AND is_gold = 0"
    ).fetchone()
    since = store.db.execute(
        "SELECT first_seen FROM source_items WHERE number = ?", [first]
    ).fetchone()
    return WaitingRows(rows=rows, since=parsed_moment(since[0]) if since else None)


def next_waiting(store: Store, most: int, *, gold: bool = False) -> list[Item]:
    """Return the first items that wait, in the order of their arrival."""
    rows = store.db.execute(
        "SELECT item_id, columns FROM source_items WHERE batch IS NULL "
        "AND state = 'current' AND is_gold = ? ORDER BY number LIMIT ?",
        [gold, most],
    )
    return [_item(*row) for row in rows]


def deal(store: Store, item_ids: Sequence[ItemId], *, batch: int, at: datetime) -> None:
    """Record that items belong to a batch; part of a transaction."""
    of_items = json.dumps(item_ids)
    cursor = store.db.execute(
        "UPDATE source_items SET batch = ? WHERE batch IS NULL "
        "AND item_id IN (SELECT value FROM json_each(?))",
        [batch, of_items],
    )
    if not cursor.rowcount:
        return
    store.db.execute(
        "INSERT INTO source_batches (batch, items) VALUES (?, ?) "
        "ON CONFLICT (batch) DO UPDATE SET "
        "items = source_batches.items + excluded.items",
        [batch, cursor.rowcount],
    )
    store.db.execute(
        "INSERT INTO source_days (day, dealt) VALUES (?, (SELECT count(*) "
        "FROM json_each(?) AS listed JOIN source_items "
        "ON item_id = value AND is_gold = 0)) "
        "ON CONFLICT (day) DO UPDATE SET "
        "dealt = source_days.dealt + excluded.dealt",
        [to_text(at)[:10], of_items],
    )


def days(store: Store, *, since: datetime) -> list[tuple[str, int, int]]:
    """Return day, rows that arrived and rows that were dealt, from a day on."""
    return store.db.execute(
        "SELECT day, arrived, dealt FROM source_days WHERE day >= ? ORDER BY day",
        [to_text(since)[:10]],
    ).fetchall()


def first_rows(store: Store, most: int) -> list[Item]:
    """Return the first rows that were taken in, without those that are gold."""
    rows = store.db.execute(
        "SELECT item_id, columns FROM source_items WHERE is_gold = 0 ORDER BY number LIMIT ?",
        [most],
    )
    return [_item(*row) for row in rows]


def all_ids(store: Store) -> Iterator[ItemId]:
    """Yield the ids of all items, dealt or not."""
    for (item_id,) in store.db.execute("SELECT item_id FROM source_items"):
        yield ItemId(item_id)


class DealtItems(Sequence[Item]):
    """The items that were dealt, in the order of batches and arrival.

    They stay in the store: only those in use are in memory.

    Args:
        store: the store.
        picture_columns: the columns that their page shows as pictures (`Item`).
    """

    def __init__(self, store: Store, picture_columns: Collection[str] | None = None) -> None:
        self._store = store
        self._item = partial(_item, picture_columns=picture_columns)

    def __len__(self) -> int:
        """Return how many items were dealt."""
        (number,) = self._store.db.execute(
            "SELECT coalesce(sum(items), 0) FROM source_batches"
        ).fetchone()
        return int(number)

    def __iter__(self) -> Iterator[Item]:
        """Yield them, a thousand at a time."""
        batch, number = 0, 0
        while rows := self._store.db.execute(
            "SELECT batch, number, item_id, columns FROM source_items "
            "WHERE batch IS NOT NULL AND (batch, number) > (?, ?) "
            "ORDER BY batch, number LIMIT ?",
            [batch, number, _FETCHED],
        ).fetchall():
            for batch, number, item_id, columns in rows:  # noqa: B007 - where to go on
                yield self._item(item_id, columns)

    @overload
    def __getitem__(self, at: int) -> Item: ...
    @overload
    def __getitem__(self, at: slice) -> list[Item]: ...
    def __getitem__(self, at: int | slice) -> Item | list[Item]:
        """Return items by their place."""
        if isinstance(at, slice):
            return [self[number] for number in range(*at.indices(len(self)))]
        number = at + len(self) if at < 0 else at
        row = self._store.db.execute(
            "SELECT item_id, columns FROM source_items WHERE batch IS NOT NULL "
            "ORDER BY batch, number LIMIT 1 OFFSET ?",
            [number],
        ).fetchone()
        if number < 0 or row is None:
            raise IndexError(at)
        return self._item(*row)

    def of(self, item_ids: Iterable[ItemId]) -> dict[ItemId, Item]:
        """Return these items by id; unknown ones are absent."""
        rows = self._store.db.execute(
            "SELECT item_id, columns FROM json_each(?) AS listed "
            "JOIN source_items ON item_id = value",
            [json.dumps(list(item_ids))],
        )
        return {ItemId(item_id): self._item(item_id, columns) for item_id, columns in rows}

    def of_batch(self, batch: int) -> list[Item]:
        """Return the items of a batch in the order of their arrival."""
        rows = self._store.db.execute(
            "SELECT item_id, columns FROM source_items WHERE batch = ? ORDER BY number", [batch]
        )
        return [self._item(*row) for row in rows]


def hits_of_closed(store: Store) -> AbstractSet[HitKey]:
    """Return open or planned HITs that show an item whose row is gone or replaced."""
    rows = store.db.execute(
        # Two halves, because each has an index.
        "SELECT DISTINCT hit_key FROM ("
        "SELECT hit_key, item_ids FROM hits WHERE posted_at IS NULL UNION ALL "
        "SELECT hit_key, item_ids FROM hits "
        "WHERE hit_id IS NOT NULL AND collected_at IS NULL"
        ") AS live CROSS JOIN json_each(live.item_ids) AS shown "
        "CROSS JOIN items "
        "WHERE items.item_id = shown.value "
        "AND items.closed IN ('withdrawn', 'replaced')"
    )
    return {HitKey(hit_key) for (hit_key,) in rows}


def _item(item_id: str, columns: str, *, picture_columns: Collection[str] | None = None) -> Item:
    cells: Mapping[str, str] = json.loads(columns)
    return Item(item_id=ItemId(item_id), columns=cells, picture_columns=picture_columns)
