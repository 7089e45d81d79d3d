"""HITs as they were planned, posted, extended and collected.

Slots that are added to a HIT have their own row, which names the HIT; the row counts as
posted once the slots exist. A posted HIT's own row is never rewritten: all its slots
are added up when it is read.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from piecework.domain.hit import PlannedHit
from piecework.domain.ids import AssignmentId, HitId, HitKey, HitTypeId, ItemId
from piecework.store.database import Store, insert, parsed_moment, to_text

ROUND = (
    "coalesce((SELECT max(more.round) FROM hits AS more "
    "CROSS JOIN intents "
    "WHERE more.extends = hits.hit_key AND operation = 'publish' "
    "AND subject_kind = 'hit' AND subject_id = more.hit_key "
    "AND made_at <= assignments.accepted_at), "
    "hits.round)"
)
"""SQL for the round that asked for an assignment, over `hits` and `assignments`.

Work accepted after slots were added to its HIT belongs to the round that added them.
SQLite keeps the order of a `CROSS JOIN`, so only intents of such slots are looked up.
"""


_IS_LOST = (
    "EXISTS (SELECT 1 FROM intents WHERE operation = 'forget' "
    "AND subject_kind = 'hit' AND subject_id = hit_key)"
)
"""SQL for whether the platform has lost a HIT (`piecework.engine.recover`)."""


_ALL_IS_THERE = (
    "(NOT EXISTS (SELECT 1 FROM intents WHERE operation = 'forget') OR NOT EXISTS ("
    "SELECT 1 FROM json_each(planned.item_ids) AS shown JOIN answers ON item_id = shown.value "
    "JOIN intents ON operation = 'forget' AND subject_kind = 'assignment' "
    "AND subject_id = assignment_id))"
)
"""SQL for whether the platform has all answers to the items of a HIT, over `planned`."""


_PLANNED = (
    "SELECT hits.rowid AS number, hits.*, "
    "(SELECT coalesce(sum(more.max_assignments), 0) FROM hits AS more "
    "WHERE more.extends = hits.hit_key AND more.posted_at IS NOT NULL) AS added FROM hits"
)
"""SQL for all HITs, each with the slots that were added to it."""


def plan(store: Store, hits: Sequence[PlannedHit]) -> None:
    """Store HITs before any of them is posted; all of them or none."""
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
                    "arm": hit.arm,
                    "market": hit.market,
                    "extends": hit.extends,
                }
                for hit in hits
            ),
        )
        # An item belongs to the batch that planned it first.
        insert(
            store,
            "items",
            ({"item_id": item_id, "batch": hit.batch} for hit in hits for item_id in hit.item_ids),
            or_ignore=True,
        )


def price_anew(store: Store, fee_by_key: Mapping[HitKey, int]) -> None:
    """Set the fees of planned HITs to today's, in cents; equal fees stay untouched."""
    if not fee_by_key:
        return
    with store.db.atomic():
        store.db.executemany(
            "UPDATE hits SET fee_cents = :fee "
            "WHERE hit_key = :key AND posted_at IS NULL AND fee_cents <> :fee",
            [{"key": key, "fee": fee} for key, fee in fee_by_key.items()],
        )


def arms(store: Store) -> dict[HitId, str]:
    """Return the arm of each HIT of an experiment, by its id."""
    rows = store.db.execute(
        "SELECT hit_id, arm FROM hits WHERE hit_id IS NOT NULL AND arm <> '' ORDER BY rowid"
    )
    return {HitId(hit_id): arm for hit_id, arm in rows}


def markets(store: Store) -> dict[HitId, str]:
    """Return the market of each posted HIT that has one, by its id."""
    rows = store.db.execute(
        "SELECT hit_id, market FROM hits WHERE hit_id IS NOT NULL AND market <> ''"
    )
    return {HitId(hit_id): market for hit_id, market in rows}


def load_hits(store: Store, hit_ids: Iterable[HitId] | None = None) -> list[PlannedHit]:
    """Return HITs in the order of their plan: those with these ids, or all."""
    if hit_ids is None:
        return _select(store, "1 = 1")
    return _select(store, "hit_id IN (SELECT value FROM json_each(?))", json.dumps(list(hit_ids)))


def ids(store: Store) -> frozenset[HitId]:
    """Return the platform's ids of all HITs that were posted."""
    rows = store.db.execute("SELECT hit_id FROM hits WHERE hit_id IS NOT NULL")
    return frozenset(HitId(hit_id) for (hit_id,) in rows)


def lost_ids(store: Store) -> frozenset[HitId]:
    """Return the ids of HITs that the platform has lost."""
    rows = store.db.execute(f"SELECT hit_id FROM hits WHERE {_IS_LOST}")
    return frozenset(HitId(hit_id) for (hit_id,) in rows)


def last_reward_cents(store: Store) -> int | None:
    """Return the reward of the HIT that was planned last; `None` before the first."""
    row = store.db.execute("SELECT reward_cents FROM hits ORDER BY rowid DESC LIMIT 1").fetchone()
    return None if row is None else int(row[0])


def of_assignment(store: Store, assignment_id: AssignmentId) -> PlannedHit:
    """Return the HIT of an assignment.

    Raises:
        KeyError: there is no such assignment.
    """
    return of_assignments(store, [assignment_id])[assignment_id]


def of_assignments(
    store: Store, assignment_ids: Iterable[AssignmentId]
) -> dict[AssignmentId, PlannedHit]:
    """Return the HIT of each of these assignments, without unknown ones."""
    rows = store.db.query(
        f"SELECT planned.*, assignment_id FROM json_each(?) AS chosen CROSS JOIN assignments "
        f"CROSS JOIN ({_PLANNED}) AS planned "
        "WHERE assignment_id = chosen.value AND planned.hit_id = assignments.hit_id",
        [json.dumps(list(assignment_ids))],
    )
    return {AssignmentId(row["assignment_id"]): _hit(row) for row in rows}


def prices_of(
    store: Store, assignment_ids: Iterable[AssignmentId]
) -> dict[AssignmentId, tuple[int, int]]:
    """Return reward and fee of each of these assignments, in cents."""
    rows = store.db.execute(
        "SELECT assignment_id, reward_cents, fee_cents "
        "FROM assignments JOIN hits USING (hit_id) "
        "WHERE assignment_id IN (SELECT value FROM json_each(?))",
        [json.dumps(list(assignment_ids))],
    )
    return {AssignmentId(name): (reward, fee) for name, reward, fee in rows}


def unposted(store: Store) -> list[PlannedHit]:
    """Return HITs and extensions that are planned and not posted yet."""
    return _select(store, "posted_at IS NULL")


def posted_since(store: Store, moment: datetime) -> bool:
    """Whether a HIT was posted, or its call was begun, at this time or later."""
    row = store.db.execute(
        "SELECT 1 FROM intents WHERE operation = 'publish' AND made_at >= ? LIMIT 1",
        [to_text(moment)],
    ).fetchone()
    return row is not None


def count_posted(store: Store, hit_keys: Iterable[HitKey]) -> int:
    """Return how many of these HITs and extensions were posted."""
    (number,) = store.db.execute(
        "SELECT count(*) FROM hits WHERE posted_at IS NOT NULL "
        "AND hit_key IN (SELECT value FROM json_each(?))",
        [json.dumps(list(hit_keys))],
    ).fetchone()
    return int(number)


def uncollected(store: Store) -> list[PlannedHit]:
    """Return posted HITs with answers that have not been fetched."""
    return _select(store, "hit_id IS NOT NULL AND collected_at IS NULL")


def showing(store: Store, item_ids: Iterable[ItemId], *, batch: int) -> list[HitId]:
    """Return the HITs of a batch that were posted with any of these items."""
    rows = store.db.execute(
        "SELECT hit_id FROM hits, json_each(hits.item_ids) AS shown "
        "WHERE batch = ? AND hit_id IS NOT NULL "
        "AND shown.value IN (SELECT value FROM json_each(?)) "
        f"AND NOT {_IS_LOST} GROUP BY hit_id ORDER BY min(hits.rowid)",
        [batch, json.dumps(list(item_ids))],
    )
    return [HitId(hit_id) for (hit_id,) in rows]


def by_key(store: Store, hit_key: HitKey) -> PlannedHit:
    """Return the HIT with a key.

    Raises:
        KeyError: there is no such HIT.
    """
    rows = _select(store, "hit_key = ?", hit_key)
    if not rows:
        raise KeyError(hit_key)
    return rows[0]


def filled_hits(store: Store, batch: int) -> list[PlannedHit]:
    """Return HITs of a batch in which every slot brought exactly one assignment.

    HITs that were expired by hand are left out: no worker would find a slot added to
    them. So are those with an item that was
    answered in work that the platform has lost: it could not keep that worker out.
    """
    return _select(
        store,
        "batch = ? AND collected_at IS NOT NULL AND NOT EXISTS "
        "(SELECT 1 FROM intents WHERE operation = 'expire' "
        "AND subject_kind = 'hit' AND subject_id = hit_key) AND "
        f"NOT {_IS_LOST} AND {_ALL_IS_THERE} AND "
        "max_assignments + added = "
        "(SELECT count(*) FROM assignments WHERE assignments.hit_id = planned.hit_id)",
        batch,
    )


def older_than(store: Store, hit_keys: Iterable[HitKey]) -> frozenset[HitId]:
    """Return ids of HITs that were planned before all of these."""
    rows = store.db.execute(
        "SELECT hit_id FROM hits WHERE hit_id IS NOT NULL AND rowid < (SELECT "
        "min(rowid) FROM hits WHERE hit_key IN (SELECT value FROM json_each(?)))",
        [json.dumps(list(hit_keys))],
    )
    return frozenset(HitId(hit_id) for (hit_id,) in rows)


def give_up(store: Store, keys: Iterable[HitKey]) -> None:
    """Delete plans that were never posted; posted HITs stay.

    Rows of a source wait again if their batch has no HIT any more. In other batches
    they are asked for in the next round.
    """
    with store.db.atomic():
        store.db.executemany(
            "DELETE FROM hits WHERE hit_key = ? AND posted_at IS NULL", [(key,) for key in keys]
        )
        without_hits = (
            "SELECT batch FROM source_batches WHERE NOT EXISTS "
            "(SELECT 1 FROM hits WHERE hits.batch = source_batches.batch)"
        )
        store.db.execute(f"UPDATE source_items SET batch = NULL WHERE batch IN ({without_hits})")
        store.db.execute(f"DELETE FROM items WHERE batch IN ({without_hits})")
        store.db.execute(f"DELETE FROM source_batches WHERE batch IN ({without_hits})")


def batches_of_types(store: Store) -> dict[HitTypeId, int]:
    """Return the first batch in which HITs of each type were posted."""
    return {
        HitTypeId(row["hit_type_id"]): row["batch"]
        for row in store.db.query(
            "SELECT hit_type_id, min(batch) AS batch FROM hits "
            "WHERE hit_type_id IS NOT NULL GROUP BY hit_type_id ORDER BY hit_type_id"
        )
    }


def mark_posted(
    store: Store,
    hit_key: HitKey,
    *,
    hit_type_id: HitTypeId,
    hit_id: HitId,
    lifetime_seconds: int,
    duration_seconds: int,
    auto_approval_seconds: int,
    at: datetime,
) -> None:
    """Record the platform's id of a HIT, and its times; part of the caller's transaction."""
    store.db.execute(
        "UPDATE hits SET hit_type_id = ?, hit_id = ?, lifetime_seconds = ?, "
        "duration_seconds = ?, auto_approval_seconds = ?, posted_at = ? WHERE hit_key = ?",
        [
            *(hit_type_id, hit_id, lifetime_seconds, duration_seconds),
            *(auto_approval_seconds, to_text(at), hit_key),
        ],
    )


def mark_extended(store: Store, extension: PlannedHit, *, is_open: bool, at: datetime) -> None:
    """Record that slots were added to a HIT; part of the caller's transaction.

    Args:
        store: the campaign's memory.
        extension: the row that planned it.
        is_open: the HIT gets answers again; false if it was found to be gone.
        at: when.
    """
    store.db.execute(
        "UPDATE hits SET posted_at = ? WHERE hit_key = ?", [to_text(at), extension.hit_key]
    )
    if is_open:
        store.db.execute(
            "UPDATE hits SET collected_at = NULL, looked_at = ? WHERE hit_key = ?",
            [to_text(at), extension.extends],
        )


def mark_collected(store: Store, *hit_ids: HitId, at: datetime) -> None:
    """Record that all answers of these HITs are stored; part of a transaction."""
    store.db.execute(
        "UPDATE hits SET collected_at = ? WHERE hit_id IN (SELECT value FROM json_each(?))",
        [to_text(at), json.dumps(hit_ids)],
    )


def reopen(store: Store, hit_id: HitId) -> None:
    """Wait again for the answers of a HIT; part of the caller's transaction."""
    store.db.execute("UPDATE hits SET collected_at = NULL WHERE hit_id = ?", [hit_id])


def count_held_slots(store: Store, hit: PlannedHit) -> int:
    """Return for how many slots of a HIT money is held: free, in work, or undecided.

    Work that the platform has lost does not count.
    """
    is_lost, is_open, undecided, settled = store.db.execute(
        f"SELECT {_IS_LOST}, collected_at IS NULL, "
        "count(iif(assignment_id IS NOT NULL AND outcome IS NULL, 1, NULL)), "
        "count(outcome) FROM hits LEFT JOIN assignments "
        "ON assignments.hit_id = hits.hit_id AND NOT EXISTS (SELECT 1 FROM intents "
        "WHERE operation = 'forget' AND subject_kind = 'assignment' "
        "AND subject_id = assignment_id) "
        "WHERE hit_key = ? GROUP BY hit_key",
        [hit.hit_key],
    ).fetchone()
    if is_lost:
        return 0
    return hit.max_assignments - settled if is_open else int(undecided)


def mark_looked(store: Store, hit_ids: Iterable[HitId], *, at: datetime) -> None:
    """Record that open HITs were checked for answers."""
    store.db.execute(
        "UPDATE hits SET looked_at = ? WHERE hit_id IN (SELECT value FROM json_each(?))",
        [to_text(at), json.dumps(list(hit_ids))],
    )


def _select(store: Store, condition: str, *values: str | int) -> list[PlannedHit]:
    # The plus keeps SQLite from reading all rows in their order, to save the sorting.
    rows = store.db.query(
        f"SELECT * FROM ({_PLANNED}) AS planned WHERE {condition} ORDER BY +number", values
    )
    return [_hit(row) for row in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class HitCounts:
    """HITs of a batch by their state.

    Attributes:
        is_at_work: whether it is the batch at work (`batch_at_work`).
        unposted: planned and not posted, extensions included.
        open: posted and not collected.
        replacing: posted or extended in a later round than the first.
        last_round: 0 for the first posting.
    """

    batch: int
    is_at_work: bool
    unposted: int
    posted: int
    open: int
    replacing: int
    last_round: int

    @property
    def is_collected(self) -> bool:
        """Whether all HITs of the batch are posted and collected."""
        return not self.unposted and not self.open


_AT_WORK = (
    "SELECT min(batch) FROM (SELECT batch FROM hits "
    "WHERE hit_id IS NOT NULL AND collected_at IS NULL UNION ALL "
    "SELECT batch FROM assignments JOIN hits USING (hit_id) "
    "WHERE verdict IS NULL UNION ALL "
    "SELECT * FROM (SELECT batch FROM hits ORDER BY rowid DESC LIMIT 1) AS newest"
    ") AS batches"
)


def count_by_batch(store: Store) -> list[HitCounts]:
    """Count the HITs of each batch that was begun, in the order of batches."""
    return [
        HitCounts(**{**row, "is_at_work": bool(row["is_at_work"])})
        for row in store.db.query(
            f"SELECT batch, batch = ({_AT_WORK}) AS is_at_work, "
            "sum(iif(state = 'planned', hits, 0)) AS unposted, "
            "sum(iif(state IN ('open', 'collected'), hits, 0)) AS posted, "
            "sum(iif(state = 'open', hits, 0)) AS open, "
            "sum(iif(round > 0 AND state <> 'planned', hits, 0)) AS replacing, "
            "max(round) AS last_round "
            "FROM hit_counts GROUP BY batch ORDER BY batch"
        )
    ]


def batch_at_work(store: Store) -> int:
    """Return the first batch that is open or undecided; 0 before any was planned.

    Without such a batch, it is the batch of the HIT that was planned last. An earlier
    batch is current again if one of its HITs was reopened
    (`piecework.engine.recover`).
    """
    return int(store.db.execute(_AT_WORK).fetchone()[0] or 0)


def next_poll_base(store: Store) -> datetime | None:
    """Return the earliest time that an open HIT was last checked, or else posted."""
    (earliest,) = store.db.execute(
        "SELECT min(coalesce(looked_at, posted_at)) FROM hits "
        "WHERE hit_id IS NOT NULL AND collected_at IS NULL"
    ).fetchone()
    return parsed_moment(earliest)


def _hit(row: dict[str, Any]) -> PlannedHit:
    return PlannedHit(
        hit_key=HitKey(row["hit_key"]),
        batch=row["batch"],
        round=row["round"],
        max_assignments=row["max_assignments"] + row["added"],
        reward_cents=row["reward_cents"],
        fee_cents=row["fee_cents"],
        item_ids=tuple(ItemId(item_id) for item_id in json.loads(row["item_ids"])),
        arm=row["arm"],
        market=row["market"],
        extends=HitKey(row["extends"]) if row["extends"] else None,
        hit_type_id=HitTypeId(row["hit_type_id"]) if row["hit_type_id"] else None,
        hit_id=HitId(row["hit_id"]) if row["hit_id"] else None,
        posted_at=parsed_moment(row["posted_at"]),
        lifetime_seconds=row["lifetime_seconds"],
        duration_seconds=row["duration_seconds"],
        auto_approval_seconds=row["auto_approval_seconds"],
        looked_at=parsed_moment(row["looked_at"]),
        collected_at=parsed_moment(row["collected_at"]),
    )
