"""HITs as they were planned, posted and collected."""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from domain.hit import PlannedHit
from domain.ids import HitId, HitKey, HitTypeId, ItemId
from store.database import Store
from store.times import from_text, to_text


def plan(store: Store, hits: Iterable[PlannedHit]) -> None:
    """Remember HITs before any of them is posted; all of them or none."""
    rows = [
        (
            hit.hit_key,
            hit.batch,
            hit.round,
            hit.max_assignments,
            hit.reward_cents,
            hit.fee_cents,
            json.dumps(hit.item_ids),
        )
        for hit in hits
    ]
    with store.db.atomic():
        store.db.conn.executemany(
            "INSERT INTO hits (hit_key, batch, round, max_assignments, "
            "reward_cents, fee_cents, item_ids) VALUES (?, ?, ?, ?, ?, ?, ?)",
            rows,
        )


def every(store: Store) -> list[PlannedHit]:
    """All HITs, in the order of their plan."""
    return _select(store, "1")


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


def _select(store: Store, condition: str) -> list[PlannedHit]:
    rows = store.db.query(f"SELECT * FROM hits WHERE {condition} ORDER BY rowid")
    return [_hit(row) for row in rows]


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
        posted_at=from_text(row["posted_at"]) if row["posted_at"] else None,
        looked_at=from_text(row["looked_at"]) if row["looked_at"] else None,
        collected_at=from_text(row["collected_at"]) if row["collected_at"] else None,
    )
