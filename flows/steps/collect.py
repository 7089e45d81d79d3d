"""Fetch what workers sent: verbatim first, typed in the same transaction."""

from collections.abc import Callable, Container, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from itertools import islice

from domain.assignment import Answer, Assignment
from domain.clock import as_it_is
from domain.errors import PlatformRefused
from domain.hit import HitStatus, PlannedHit
from domain.ids import HitId
from flows.steps import qualifying
from flows.steps.one_hit import must_be_over, status_of
from flows.steps.posted import publish_key
from flows.workplace import Workplace
from hit_templates.answers import read_answers
from store import assignments, hits, ledger, polls

_OVER = frozenset({"Reviewable", "Reviewing"})

Read = tuple[Assignment, tuple[Answer, ...]]


def collect(place: Workplace, *, harvest: bool = False) -> int:
    """Collect every HIT on which nobody works any more; how many assignments came.

    HITs that stay open for long are asked for what they have got so far.

    Args:
        place: the campaign at work.
        harvest: ask the open HITs now, however lately that was done.
    """
    qualifying.keep_scores(place)
    waiting = {hit.hit_id: hit for hit in hits.uncollected(place.store) if hit.hit_id}
    hit_types = sorted({hit.hit_type_id for hit in waiting.values() if hit.hit_type_id})
    older = polls.older(place.store.db.conn)
    # If a HIT must be over by now, all of a listing is read.
    if harvest or any(must_be_over(place, hit) for hit in waiting.values()):
        older = frozenset()
    # The listing is read before anything is fetched (it is no snapshot), and no further
    # than it may have news, for old HITs stay in it for months.
    news = (
        hit_id
        for hit_id in place.platform.reviewable_hits(hit_types, older=older)
        if hit_id in waiting
    )
    try:
        listed = set(islice(news, len(waiting)))
    except PlatformRefused as refusal:
        if refusal.kind != "hit_type_unknown":
            raise
        # It was deleted by hand, or with a qualification type that it requires; its
        # HITs are still there, and a harvest asks for them one by one.
        listed, harvest = set(), True
    # In the order they were planned, so that two stores of one campaign read alike.
    reviewable = [
        (hit, hit.max_assignments)
        for hit_id, hit in waiting.items()
        if hit_id in listed
    ]
    came = _fetch_all(place, reviewable, _keep_whole)
    still_open = [hit for hit_id, hit in waiting.items() if hit_id not in listed]
    if still_open and (harvest or _is_harvest_due(place, still_open)):
        came += _harvest(place, still_open, older)
    return came


def next_harvest(place: Workplace) -> datetime | None:
    """When open HITs are next asked for what they have got; `None` if none is open."""
    still_open = hits.uncollected(place.store)
    return _harvest_at(still_open) if still_open else None


def _is_harvest_due(place: Workplace, still_open: Sequence[PlannedHit]) -> bool:
    now = as_it_is(place.clock)
    # Further ahead than any is put off: the clock was wrong when that was written.
    return not now < _harvest_at(still_open) <= now + polls.HARVEST


def _harvest_at(still_open: Sequence[PlannedHit]) -> datetime:
    moments = [hit.looked_at or hit.posted_at for hit in still_open]
    return min(moment for moment in moments if moment) + polls.HARVEST


def _harvest(
    place: Workplace, still_open: Sequence[PlannedHit], older: Container[str]
) -> int:
    """Fetch what open HITs have got since they were last asked, and close what is over.

    What somebody put aside or deleted by hand, or the platform disposed of, is in no
    listing of reviewable HITs.
    """
    known = assignments.count_by_hit(place.store)
    got = dict(place.platform.submitted(older=older))
    status = _status_where_in_doubt(place, still_open, got)
    over = [hit for hit in still_open if status.get(hit.hit_id) in _OVER]
    _fetch_all(place, [(hit, hit.max_assignments) for hit in over], _keep_whole)
    for hit in still_open:
        if status.get(hit.hit_id) == "Disposed":
            close_gone(place, hit)
    news = [
        (hit, got[hit.hit_id])
        for hit in still_open
        if hit.hit_id
        and status.get(hit.hit_id) not in {*_OVER, "Disposed"}
        and got.get(hit.hit_id, 0) > known.get(hit.hit_id, 0)
    ]
    before = sum(known.values())
    _fetch_all(place, news, _keep_part)
    with place.store.db.atomic():
        asked = [hit.hit_id for hit in still_open if hit.hit_id]
        hits.mark_looked(place.store, asked, at=as_it_is(place.clock))
    return sum(assignments.count_by_hit(place.store).values()) - before


def _status_where_in_doubt(
    place: Workplace, still_open: Sequence[PlannedHit], got: Mapping[HitId, int]
) -> dict[HitId | None, HitStatus]:
    """Status by id of HITs that may be over or gone; each costs a call."""
    doubtful = [
        hit
        for hit in still_open
        # Full, or in no list of what is there.
        if not 0 <= got.get(HitId(str(hit.hit_id)), -1) < hit.max_assignments
        or must_be_over(place, hit)
    ]
    with ThreadPoolExecutor(place.at_once, thread_name_prefix="status") as pool:
        found = pool.map(lambda hit: status_of(place, hit), doubtful)
        return {hit.hit_id: status for hit, status in zip(doubtful, found, strict=True)}


def close_gone(place: Workplace, hit: PlannedHit) -> None:
    """Close a HIT that the platform has no more, with the assignments that are here."""
    have = assignments.count_by_hit(place.store).get(HitId(str(hit.hit_id)), 0)
    with place.store.db.atomic():
        _close(place, hit, have)


def _fetch_all(
    place: Workplace,
    some: Sequence[tuple[PlannedHit, int]],
    keep: Callable[[Workplace, PlannedHit, Sequence[Read]], None],
) -> int:
    """Fetch HITs that hold so many assignments, or so many slots; how many came."""
    task = place.campaign.task
    columns = {item.item_id: item.columns for item in place.campaign.items}
    with ThreadPoolExecutor(place.at_once, thread_name_prefix="fetch") as pool:
        fetched = pool.map(lambda one: _fetch(place, *one), some)
        came = 0
        for (hit, _), arrived in zip(some, fetched, strict=True):
            read = tuple(
                (
                    one,
                    read_answers(
                        task,
                        one.assignment_id,
                        hit.item_ids,
                        one.fields,
                        columns=columns,
                    ),
                )
                for one in arrived
            )
            with place.store.db.atomic():
                keep(place, hit, read)
            came += len(arrived)
    return came


def _fetch(place: Workplace, hit: PlannedHit, slots: int) -> list[Assignment]:
    return list(place.platform.assignments(HitId(str(hit.hit_id)), slots=slots))


def _keep_part(place: Workplace, hit: PlannedHit, arrived: Sequence[Read]) -> None:
    _hold_more(place, hit, len(arrived))
    for assignment, answers in arrived:
        assignments.keep(place.store, assignment, answers)


def _hold_more(place: Workplace, hit: PlannedHit, arrived: int) -> None:
    """Slots that somebody added by hand are held by the platform, and cost as others.

    Nobody asked a cap for them; from here on they count against every cap.
    """
    if arrived <= hit.max_assignments:
        return
    known = assignments.count_by_hit(place.store).get(HitId(str(hit.hit_id)), 0)
    added = arrived - max(known, hit.max_assignments)
    _book_slots(place, hit, added, credit="requester", debit="held")


def _keep_whole(place: Workplace, hit: PlannedHit, arrived: Sequence[Read]) -> None:
    _keep_part(place, hit, arrived)
    _close(place, hit, len(arrived))


def _close(place: Workplace, hit: PlannedHit, arrived: int) -> None:
    at = place.clock.now()
    hits.mark_collected(place.store, HitId(str(hit.hit_id)), at=at)
    _release_unused(place, hit, arrived)


def _release_unused(place: Workplace, hit: PlannedHit, arrived: int) -> None:
    """Slots that nobody filled before the HIT expired cost nothing."""
    # More may have arrived: slots that somebody added are held when they are filled.
    unused = max(hit.max_assignments - arrived, 0)
    _book_slots(place, hit, unused, credit="held", debit="requester")


def _book_slots(
    place: Workplace,
    hit: PlannedHit,
    slots: int,
    *,
    credit: ledger.Account,
    debit: ledger.Account,
) -> None:
    ledger.move(
        place.store,
        slots * (hit.reward_cents + hit.fee_cents),
        credit=credit,
        debit=debit,
        intent_key=publish_key(hit),
        at=place.clock.now(),
    )
