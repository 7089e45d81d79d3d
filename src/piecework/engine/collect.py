"""Fetch what workers sent; store it verbatim and typed in one transaction."""

from collections.abc import Container, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import chain, islice

from piecework.campaign.opened import CampaignRun
from piecework.domain.assignment import Answer, Assignment
from piecework.domain.clock import wall_time
from piecework.domain.errors import PlatformRefused, RefusedForSafety
from piecework.domain.hit import HitStatus, PlannedHit
from piecework.domain.ids import HitId, ItemId
from piecework.domain.text import shell_word
from piecework.engine import requirements
from piecework.engine.posted_hits import (
    close_gone,
    close_hits,
    hold_added_slots,
    must_be_over,
    status_of,
)
from piecework.engine.snapshot import Reader, Step, next_poll_of_open_hits
from piecework.engine.waits import OPEN_HITS
from piecework.hit_templates.answers import read_answers
from piecework.store import assignments, hits, intents
from piecework.store.database import writing
from piecework.store.last_pass import older_hits
from piecework.store.settlements import forget_key

_OVER = frozenset({"Reviewable", "Reviewing"})
_A_TRANSACTION = 50
"""HITs per transaction; those not written are fetched again."""

_Fetched = tuple[Assignment, tuple[Answer, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """What to ask the platform for.

    Attributes:
        hits: posted HITs with answers that are not collected yet.
        has_test: whether workers take a test before the work.
        polls: check open HITs now, even if that was done recently.
    """

    hits: Mapping[HitId, PlannedHit]
    has_test: bool
    polls: bool

    def __bool__(self) -> bool:
        return bool(self.hits) or self.has_test


def due(reader: Reader) -> Due:
    """Return HITs that workers may have answered, and whether there is a test."""
    store = reader.opened.store
    return Due(
        hits={hit.hit_id: hit for hit in hits.uncollected(store) if hit.hit_id},
        has_test=requirements.is_test_posted(reader.opened),
        polls=reader.poll_open_hits,
    )


def act(run: CampaignRun, due: Due) -> int:
    """Collect every HIT that workers have finished; return how many assignments came.

    HITs that stay open for long are checked for the answers they have so far.
    """
    if due.has_test:
        requirements.keep_test_scores(run)
    waiting = due.hits
    if not waiting:
        return 0
    older: Container[str] = older_hits(run.store.db)
    # If a HIT must be over by now, all of a listing is read.
    if due.polls or any(must_be_over(run, hit) for hit in waiting.values()):
        older = frozenset()
    listed = _reviewable(run, waiting, older)
    # In the order of their plan, so that two stores of one campaign are equal.
    over = [hit for hit_id, hit in waiting.items() if hit_id in (listed or ())]
    came = _fetch_all(run, [(hit, hit.max_assignments) for hit in over], are_over=True)
    still_open = [hit for hit_id, hit in waiting.items() if hit_id not in (listed or ())]
    if still_open and (listed is None or due.polls or _is_poll_due(run)):
        came += _poll_open_hits(run, still_open, older)
    return came


collect = Step("collect", due, act)


def _reviewable(
    run: CampaignRun, waiting: Mapping[HitId, PlannedHit], older: Container[str]
) -> set[HitId] | None:
    """Return those of the waiting HITs on which no worker works any more.

    `None` if the platform does not know their HIT type: it was deleted by hand, or with
    a qualification type that it requires. Its HITs still exist and have to be asked for
    one at a time.
    """
    hit_types = sorted({hit.hit_type_id for hit in waiting.values() if hit.hit_type_id})
    # The listing is not a snapshot, so it is read before any fetch. It is read only as
    # far as it may have news, because old HITs stay in it for months.
    news = (
        hit_id
        for hit_id in run.platform.reviewable_hits(hit_types, older=older)
        if hit_id in waiting
    )
    try:
        return set(islice(news, len(waiting)))
    except PlatformRefused as refusal:
        if refusal.kind != "hit_type_unknown":
            raise
        return None


def _is_poll_due(run: CampaignRun) -> bool:
    now, due_at = wall_time(run.clock), next_poll_of_open_hits(run)
    # A time further ahead than any poll is postponed: the clock was wrong back then.
    return due_at is None or not now < due_at <= now + OPEN_HITS


def _poll_open_hits(
    run: CampaignRun, still_open: Sequence[PlannedHit], older: Container[str]
) -> int:
    """Fetch new answers of open HITs, and close HITs that are over.

    Returns:
        How many assignments came.

    HITs that were set aside, deleted by hand, or disposed of by the platform are in no
    listing of reviewable HITs.
    """
    known = assignments.count_by_hit(run.store)
    got = dict(run.platform.submitted(older=older))
    status = _status_where_in_doubt(run, still_open, got)
    over = [hit for hit in still_open if status.get(hit.hit_id) in _OVER]
    came = _fetch_all(run, [(hit, hit.max_assignments) for hit in over], are_over=True)
    for hit in still_open:
        if status.get(hit.hit_id) == "Disposed":
            close_gone(run, hit)
    news = [
        (hit, got[hit.hit_id])
        for hit in still_open
        if hit.hit_id
        and status.get(hit.hit_id) not in {*_OVER, "Disposed"}
        and got.get(hit.hit_id, 0) > known.get(hit.hit_id, 0)
    ]
    came += _fetch_all(run, news, are_over=False)
    asked = [hit.hit_id for hit in still_open if hit.hit_id]
    hits.mark_looked(run.store, asked, at=wall_time(run.clock))
    return came


def _status_where_in_doubt(
    run: CampaignRun, still_open: Sequence[PlannedHit], got: Mapping[HitId, int]
) -> dict[HitId | None, HitStatus]:
    """Return the status by id of HITs that may be over or gone; each costs a call."""
    doubtful = [
        hit
        for hit in still_open
        # Full, or in no listing.
        if not 0 <= got.get(HitId(str(hit.hit_id)), -1) < hit.max_assignments
        or must_be_over(run, hit)
    ]
    with ThreadPoolExecutor(run.most_calls, thread_name_prefix="status") as pool:
        statuses = pool.map(lambda hit: status_of(run, hit), doubtful)
        return {hit.hit_id: status for hit, status in zip(doubtful, statuses, strict=True)}


def _fetch_all(
    run: CampaignRun, wanted: Sequence[tuple[PlannedHit, int]], *, are_over: bool
) -> int:
    """Fetch HITs and keep the answers; return how many assignments are new.

    Args:
        run: the campaign at work.
        wanted: HITs, each with its number of assignments or slots.
        are_over: no worker works on them any more, so they are closed.
    """
    if not wanted:
        return 0
    known, came = assignments.count_by_hit(run.store, [_id(hit) for hit, _ in wanted]), 0
    items = run.items_of(hit for hit, _ in wanted)
    columns = {item_id: item.columns for item_id, item in items.items()}
    with ThreadPoolExecutor(run.most_calls, thread_name_prefix="fetch") as pool:
        slots = {_id(hit): number for hit, number in wanted}
        parts = run.platform.in_one_call(slots)
        fetched = pool.map(run.platform.assignments, parts)
        assignment_lists = chain.from_iterable(part.values() for part in fetched)
        pairs = zip((hit for hit, _ in wanted), assignment_lists, strict=True)
        while together := list(islice(_read(run, pairs, columns), _A_TRANSACTION)):
            with writing(run.store):
                _keep(run, together, known, are_over=are_over)
            # A HIT that was extended is fetched again with its known assignments.
            came += sum(max(0, len(read) - known.get(_id(hit), 0)) for hit, read in together)
    return came


def _read(
    run: CampaignRun,
    pairs: Iterator[tuple[PlannedHit, Sequence[Assignment]]],
    columns: Mapping[ItemId, Mapping[str, str]],
) -> Iterator[tuple[PlannedHit, list[_Fetched]]]:
    """Type the answers of fetched assignments, HIT by HIT."""
    for hit, arrived in pairs:
        yield (
            hit,
            [
                (
                    _with_deadline(hit, assignment),
                    read_answers(
                        run.campaign.task,
                        assignment.assignment_id,
                        hit.item_ids,
                        assignment.fields,
                        columns=columns,
                        platform=assignment.platform_ids,
                    ),
                )
                for assignment in arrived
            ],
        )


def _with_deadline(hit: PlannedHit, assignment: Assignment) -> Assignment:
    """Return an assignment with the time of its approval, by its HIT if nothing else says it."""
    if assignment.auto_approved_at is not None or not hit.auto_approval_seconds:
        return assignment
    delay = timedelta(seconds=hit.auto_approval_seconds)
    return replace(assignment, auto_approved_at=assignment.submitted_at + delay)


def _keep(
    run: CampaignRun,
    together: Sequence[tuple[PlannedHit, Sequence[_Fetched]]],
    known: Mapping[HitId, int],
    *,
    are_over: bool,
) -> None:
    """Keep what arrived of these HITs; part of the caller's transaction."""
    arrived = [fetched for _, read in together for fetched in read]
    _refuse_given_up(run, arrived)
    for hit, read in together:
        hold_added_slots(run, hit, len(read), known=known.get(_id(hit), 0))
    assignments.keep_collected(run.store, *arrived)
    if are_over:
        close_hits(run, {hit: len(read) for hit, read in together})


def _id(hit: PlannedHit) -> HitId:
    return HitId(str(hit.hit_id))


def _refuse_given_up(run: CampaignRun, arrived: Sequence[_Fetched]) -> None:
    """Refuse to continue if work that was given up as lost has come back.

    In a restored marketplace an assignment that had been submitted may be in work
    again. Its worker submits it again under the same id; the store already has a
    verdict.
    """
    keys = {forget_key(assignment.assignment_id): assignment for assignment, _ in arrived}
    for key in sorted(intents.declared(run.store, keys)):
        raise RefusedForSafety(
            f"{run.platform.endpoint}: assignment {keys[key].assignment_id} was given up as "
            "lost, but its worker has submitted it again: it waits for approval or rejection",
            next_step=f"piecework store reconcile {shell_word(run.campaign.path)} takes it "
            "back and "
            "lets the campaign continue",
        )
