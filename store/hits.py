"""HITs as they were planned, posted and collected."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from domain.hit import PlannedHit
from domain.ids import AssignmentId, HitId, HitKey, HitTypeId, ItemId
from store.columns import insert, moment, to_text
from store.database import Store


def plan(store: Store, hits: Sequence[PlannedHit]) -> None:
    """Remember HITs before any of them is posted; all of them or none."""
    with store.db.atomic():
        insert(
            store,
            "hits",
            (
                {
                    "hit_key": hit.hit_key,
                    "batch": hit.batch,
                    "round": hit.round,
                    "max_assignments": hit.max_assignments,
                    "reward_cents": hit.reward_cents,
                    "fee_cents": hit.fee_cents,
                    "item_ids": json.dumps(hit.item_ids),
                }
                for hit in hits
            ),
        )
        # An item belongs to the batch in which it was planned first.
        insert(
            store,
            "items",
            (
                {"item_id": item_id, "batch": hit.batch}
                for hit in hits
                for item_id in hit.item_ids
            ),
            or_ignore=True,
        )


def load(store: Store, hit_ids: Iterable[HitId] | None = None) -> list[PlannedHit]:
    """HITs in the order of their plan: those with these ids, or all."""
    if hit_ids is None:
        return _select(store, "1")
    return _select(
        store,
        "hit_id IN (SELECT value FROM json_each(?))",
        json.dumps(list(hit_ids)),
    )


def ids(store: Store) -> frozenset[HitId]:
    """The platform's ids of all HITs that were posted."""
    rows = store.db.execute("SELECT hit_id FROM hits WHERE hit_id IS NOT NULL")
    return frozenset(HitId(hit_id) for (hit_id,) in rows)


def of_assignment(store: Store, assignment_id: AssignmentId) -> PlannedHit:
    """The HIT that an assignment is of.

    Raises:
        KeyError: there is no such assignment.
    """
    rows = _select(
        store,
        "hit_id = (SELECT hit_id FROM assignments WHERE assignment_id = ?)",
        assignment_id,
    )
    if not rows:
        raise KeyError(assignment_id)
    return rows[0]


def unposted(store: Store) -> list[PlannedHit]:
    """HITs that are planned and have no id yet."""
    return _select(store, "hit_id IS NULL")


def uncollected(store: Store) -> list[PlannedHit]:
    """HITs that are posted and whose answers have not been fetched."""
    return _select(store, "hit_id IS NOT NULL AND collected_at IS NULL")


def give_up(store: Store, keys: Iterable[HitKey]) -> None:
    """Forget plans that were never posted; what has an id stays."""
    with store.db.atomic():
        store.db.conn.executemany(
            "DELETE FROM hits WHERE hit_key = ? AND hit_id IS NULL",
            [(key,) for key in keys],
        )


def mark_posted(
    store: Store,
    hit_key: HitKey,
    *,
    hit_type_id: HitTypeId,
    hit_id: HitId,
    at: datetime,
) -> None:
    """Write down the platform's id of a HIT; part of the caller's transaction."""
    store.db.execute(
        "UPDATE hits SET hit_type_id = ?, hit_id = ?, posted_at = ? WHERE hit_key = ?",
        [hit_type_id, hit_id, to_text(at), hit_key],
    )


def mark_collected(store: Store, hit_id: HitId, *, at: datetime) -> None:
    """Write down that all of a HIT's answers are here; part of a transaction."""
    store.db.execute(
        "UPDATE hits SET collected_at = ? WHERE hit_id = ?", [to_text(at), hit_id]
    )


def mark_looked(store: Store, hit_ids: Iterable[HitId], *, at: datetime) -> None:
    """Write down that open HITs were asked for answers; part of a transaction."""
    store.db.conn.executemany(
        "UPDATE hits SET looked_at = ? WHERE hit_id = ?",
        [(to_text(at), hit_id) for hit_id in hit_ids],
    )


def _select(store: Store, condition: str, *values: str) -> list[PlannedHit]:
    rows = store.db.query(
        f"SELECT * FROM hits WHERE {condition} ORDER BY rowid", values
    )
    return [_hit(row) for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class HitCounts:
    """HITs of a batch by their state.

    Attributes:
        planned: all of them.
        open: posted, and not collected.
        replacing: posted in a later round than the first.
        last_round: 0 for the first posting.
        collected_at: when the last one was collected, if one was.
    """

    batch: int
    planned: int
    posted: int
    open: int
    replacing: int
    last_round: int
    collected_at: datetime | None

    @property
    def is_collected(self) -> bool:
        """Whether all answers of the batch are here; plans are not waited for."""
        return self.posted == self.planned and not self.open


def count_by_batch(store: Store) -> list[HitCounts]:
    """The HITs of each batch that was begun, by its number."""
    return [
        HitCounts(**{**row, "collected_at": moment(row["collected_at"])})
        for row in store.db.query(
            "SELECT batch, count(*) AS planned, count(hit_id) AS posted, "
            "count(hit_id) - count(collected_at) AS open, "
            "count(iif(round > 0, hit_id, NULL)) AS replacing, "
            "max(round) AS last_round, max(collected_at) AS collected_at "
            "FROM hits GROUP BY batch ORDER BY batch"
        )
    ]


def batch_at_work(store: Store) -> int:
    """The batch of the HIT that was planned last; 0 before the first."""
    row = store.db.execute(
        "SELECT batch FROM hits ORDER BY rowid DESC LIMIT 1"
    ).fetchone()
    return int(row[0]) if row else 0


def next_poll_base(store: Store) -> datetime | None:
    """When the open HIT was looked at, or else posted, that was so longest ago."""
    (earliest,) = store.db.execute(
        "SELECT min(coalesce(looked_at, posted_at)) FROM hits "
        "WHERE hit_id IS NOT NULL AND collected_at IS NULL"
    ).fetchone()
    return moment(earliest)


def _hit(row: dict[str, Any]) -> PlannedHit:
    return PlannedHit(
        hit_key=HitKey(row["hit_key"]),
        batch=row["batch"],
        round=row["round"],
        max_assignments=row["max_assignments"],
        reward_cents=row["reward_cents"],
        fee_cents=row["fee_cents"],
        item_ids=tuple(ItemId(item_id) for item_id in json.loads(row["item_ids"])),
        hit_type_id=HitTypeId(row["hit_type_id"]) if row["hit_type_id"] else None,
        hit_id=HitId(row["hit_id"]) if row["hit_id"] else None,
        posted_at=moment(row["posted_at"]),
        looked_at=moment(row["looked_at"]),
        collected_at=moment(row["collected_at"]),
    )
