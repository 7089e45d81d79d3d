"""Posted HITs that workers have answered, written through the store's own functions."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from piecework.domain.assignment import Answer, Assignment
from piecework.domain.hit import PlannedHit
from piecework.domain.ids import AnswerId, AssignmentId, HitId, HitKey, HitTypeId, ItemId, WorkerId
from piecework.store import assignments, hits
from piecework.store.database import Store


def answered_hits(
    store: Store,
    items_by_hit: Mapping[str, tuple[int, Iterable[str]]],
    workers: Sequence[str],
    *,
    at: datetime,
) -> None:
    """Plan, post and collect HITs, each with one assignment per worker.

    Assignments are named `<HIT>-<worker>`, their answers `<assignment>.<position>`. A
    worker submits a minute after the one before.

    Args:
        store: an open store.
        items_by_hit: batch and item ids of each HIT, by its id.
        workers: who answers each of them.
        at: when all is posted and collected.
    """
    planned = [
        PlannedHit(
            hit_key=HitKey(hit_id),
            batch=batch,
            round=0,
            max_assignments=len(workers),
            reward_cents=50,
            fee_cents=10,
            item_ids=tuple(map(ItemId, items)),
        )
        for hit_id, (batch, items) in items_by_hit.items()
    ]
    hits.plan(store, planned)
    with store.db.atomic():
        for hit in planned:
            hit_id = HitId(hit.hit_key)
            hits.mark_posted(
                store,
                hit.hit_key,
                hit_type_id=HitTypeId("T"),
                hit_id=hit_id,
                at=at,
                lifetime_seconds=86_400,
                duration_seconds=3_600,
                auto_approval_seconds=3_600,
            )
            for minute, worker in enumerate(workers):
                submitted_at = at + timedelta(minutes=minute)
                answers_of(store, hit, worker, at=submitted_at)
            hits.mark_collected(store, hit_id, at=at)


def answers_of(store: Store, hit: PlannedHit, worker: str, *, at: datetime) -> None:
    """Store a worker's assignment of a HIT with its key as its id.

    Part of the caller's transaction.
    """
    assignment_id = AssignmentId(f"{hit.hit_key}-{worker}")
    assignments.keep_collected(
        store,
        (
            Assignment(
                assignment_id=assignment_id,
                hit_id=HitId(hit.hit_key),
                worker_id=WorkerId(worker),
                status="Submitted",
                accepted_at=at - timedelta(minutes=5),
                submitted_at=at,
                raw=f"<Answer>{worker}</Answer>",
            ),
            [
                Answer(
                    answer_id=AnswerId(f"{assignment_id}.{position}"),
                    assignment_id=assignment_id,
                    item_id=item_id,
                    position=position,
                    values={"caption": f"{worker} sees {item_id}"},
                )
                for position, item_id in enumerate(hit.item_ids, start=1)
            ],
        ),
    )
