"""Fetch what workers sent: verbatim first, typed in the same transaction."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

from domain.assignment import Assignment
from domain.hit import PlannedHit
from domain.ids import HitId
from flows.workplace import Workplace
from hit_templates.answers import read_answers
from store import assignments, hits, ledger


def collect(place: Workplace) -> int:
    """Collect every HIT on which nobody works any more; how many assignments came."""
    waiting = {hit.hit_id: hit for hit in hits.uncollected(place.store) if hit.hit_id}
    hit_types = sorted({hit.hit_type_id for hit in waiting.values() if hit.hit_type_id})
    # The listing is read before anything is fetched (it is no snapshot), and no
    # further than it has news: old HITs stay in it for months.
    news = (
        hit_id
        for hit_id in place.platform.reviewable_hits(hit_types)
        if hit_id in waiting
    )
    listed = set(islice(news, len(waiting)))
    # In the order they were planned, so that two stores of one campaign read alike.
    reviewable = [hit for hit_id, hit in waiting.items() if hit_id in listed]
    with ThreadPoolExecutor(place.at_once, thread_name_prefix="fetch") as pool:
        fetched = pool.map(lambda hit: _fetch(place, hit), reviewable)
        return sum(
            _keep(place, hit, arrived)
            for hit, arrived in zip(reviewable, fetched, strict=True)
        )


def _fetch(place: Workplace, hit: PlannedHit) -> list[Assignment]:
    hit_id = HitId(str(hit.hit_id))
    return list(place.platform.assignments(hit_id, slots=hit.max_assignments))


def _keep(place: Workplace, hit: PlannedHit, arrived: Sequence[Assignment]) -> int:
    task, now = place.campaign.task, place.clock.now()
    columns = {item.item_id: item.columns for item in place.campaign.items}
    with place.store.db.atomic():
        for assignment in arrived:
            answers = read_answers(
                task,
                assignment.assignment_id,
                hit.item_ids,
                assignment.fields,
                columns=columns,
            )
            assignments.keep(place.store, assignment, answers)
        hits.mark_collected(place.store, HitId(str(hit.hit_id)), at=now)
        _release_unused(place, hit, len(arrived))
    return len(arrived)


def _release_unused(place: Workplace, hit: PlannedHit, arrived: int) -> None:
    """Slots that nobody filled before the HIT expired cost nothing."""
    # Somebody else may have extended the HIT; what they added is not our promise.
    unused = max(hit.max_assignments - arrived, 0)
    ledger.move(
        place.store,
        unused * (hit.reward_cents + hit.fee_cents),
        credit="held",
        debit="requester",
        intent_key=f"publish:{hit.hit_key}",
        at=place.clock.now(),
    )
