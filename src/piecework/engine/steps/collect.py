"""Fetch what workers sent: verbatim first, typed in the same transaction."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice

from piecework.campaign.opened import CampaignRun
from piecework.domain.assignment import Answer, Assignment
from piecework.domain.clock import wall_time
from piecework.domain.errors import PlatformRefused, RefusedForSafety
from piecework.domain.hit import HitStatus, PlannedHit
from piecework.domain.ids import HitId, ItemId
from piecework.engine.polling import OPEN_HITS
from piecework.engine.posting import qualification_test
from piecework.engine.posting.closing import close, close_gone, hold_added_slots
from piecework.engine.posting.hit_status import must_be_over, status_of
from piecework.engine.reader import Reader
from piecework.engine.snapshot import next_poll_of_open_hits
from piecework.engine.step import Step
from piecework.hit_templates.answers import read_answers
from piecework.store import assignments, hits, intents
from piecework.store.database import writing
from piecework.store.last_pass import older_hits
from piecework.store.settlements import forget_key

_OVER = frozenset({"Reviewable", "Reviewing"})
_A_TRANSACTION = 50
"""HITs that are written down together; what is not written is fetched again."""

_Fetched = tuple[Assignment, tuple[Answer, ...]]
_Keep = Callable[[CampaignRun, PlannedHit, Sequence[_Fetched]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """What the platform is to be asked for.

    Attributes:
        hits: those that were posted and whose answers are not all here.
        has_test: whether workers take a test before the work.
        polls: ask open HITs now, however lately that was done.
    """

    hits: Mapping[HitId, PlannedHit]
    has_test: bool
    polls: bool

    def __bool__(self) -> bool:
        return bool(self.hits) or self.has_test


def due(reader: Reader) -> Due:
    """HITs that workers may have answered, and the test that they may have taken."""
    store = reader.opened.store
    return Due(
        hits={hit.hit_id: hit for hit in hits.uncollected(store) if hit.hit_id},
        has_test=qualification_test.is_posted(reader.opened),
        polls=reader.poll_open_hits,
    )


def act(run: CampaignRun, due: Due) -> int:
    """Collect every HIT on which no worker works any more; how many assignments came.

    HITs that stay open for long are asked for what they have got so far.
    """
    if due.has_test:
        qualification_test.keep_scores(run)
    waiting = due.hits
    if not waiting:
        return 0
    older: Container[str] = older_hits(run.store.db.conn)
    # If a HIT must be over by now, all of a listing is read.
    if due.polls or any(must_be_over(run, hit) for hit in waiting.values()):
        older = frozenset()
    listed = _reviewable(run, waiting, older)
    # In the order they were planned, so that two stores of one campaign read alike.
    over = [hit for hit_id, hit in waiting.items() if hit_id in (listed or ())]
    known = assignments.count(run.store)
    _fetch_all(run, [(hit, hit.max_assignments) for hit in over], _keep_whole)
    still_open = [
        hit for hit_id, hit in waiting.items() if hit_id not in (listed or ())
    ]
    if still_open and (listed is None or due.polls or _is_poll_due(run)):
        _poll_open_hits(run, still_open, older)
    # A HIT that was extended is fetched again, with what was known.
    return assignments.count(run.store) - known


collect = Step("collect", due, act)


def _reviewable(
    run: CampaignRun, waiting: Mapping[HitId, PlannedHit], older: Container[str]
) -> set[HitId] | None:
    """Those of the HITs that are waited for on which no worker works any more.

    `None` if the platform does not know their HIT type: it was deleted by hand, or with
    a qualification type that it requires. Its HITs are still there, and have to be
    asked for one by one.
    """
    hit_types = sorted({hit.hit_type_id for hit in waiting.values() if hit.hit_type_id})
    # The listing is read before anything is fetched (it is no snapshot), and no further
    # than it may have news, for old HITs stay in it for months.
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
    # Further ahead than any is put off: the clock was wrong when that was written.
    return due_at is None or not now < due_at <= now + OPEN_HITS


def _poll_open_hits(
    run: CampaignRun, still_open: Sequence[PlannedHit], older: Container[str]
) -> None:
    """Fetch what open HITs have got since they were last asked, and close what is over.

    What was put aside, deleted by hand, or disposed of by the platform is in no listing
    of reviewable HITs.
    """
    known = assignments.count_by_hit(run.store)
    got = dict(run.platform.submitted(older=older))
    status = _status_where_in_doubt(run, still_open, got)
    over = [hit for hit in still_open if status.get(hit.hit_id) in _OVER]
    _fetch_all(run, [(hit, hit.max_assignments) for hit in over], _keep_whole)
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
    _fetch_all(run, news, _keep_part)
    with run.store.db.atomic():
        asked = [hit.hit_id for hit in still_open if hit.hit_id]
        hits.mark_looked(run.store, asked, at=wall_time(run.clock))


def _status_where_in_doubt(
    run: CampaignRun, still_open: Sequence[PlannedHit], got: Mapping[HitId, int]
) -> dict[HitId | None, HitStatus]:
    """Status by id of HITs that may be over or gone; each costs a call."""
    doubtful = [
        hit
        for hit in still_open
        # Full, or in no list of what is there.
        if not 0 <= got.get(HitId(str(hit.hit_id)), -1) < hit.max_assignments
        or must_be_over(run, hit)
    ]
    with ThreadPoolExecutor(run.at_once, thread_name_prefix="status") as pool:
        statuses = pool.map(lambda hit: status_of(run, hit), doubtful)
        return {
            hit.hit_id: status for hit, status in zip(doubtful, statuses, strict=True)
        }


def _fetch_all(
    run: CampaignRun, wanted: Sequence[tuple[PlannedHit, int]], keep: _Keep
) -> None:
    """Fetch HITs that hold so many assignments, or so many slots."""
    columns = {item.item_id: item.columns for item in run.campaign.items}
    with ThreadPoolExecutor(run.at_once, thread_name_prefix="fetch") as pool:
        slots = {HitId(str(hit.hit_id)): number for hit, number in wanted}
        parts = run.platform.in_one_call(slots)
        fetched = pool.map(run.platform.assignments, parts)
        assignment_lists = chain.from_iterable(part.values() for part in fetched)
        pairs = zip((hit for hit, _ in wanted), assignment_lists, strict=True)
        while together := list(islice(_read(run, pairs, columns), _A_TRANSACTION)):
            with writing(run.store):
                for hit, read in together:
                    keep(run, hit, read)


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
                    assignment,
                    read_answers(
                        run.campaign.task,
                        assignment.assignment_id,
                        hit.item_ids,
                        assignment.fields,
                        columns=columns,
                    ),
                )
                for assignment in arrived
            ],
        )


def _keep_part(run: CampaignRun, hit: PlannedHit, arrived: Sequence[_Fetched]) -> None:
    _refuse_given_up(run, arrived)
    hold_added_slots(run, hit, len(arrived))
    for assignment, answers in arrived:
        assignments.keep(run.store, assignment, answers)


def _keep_whole(run: CampaignRun, hit: PlannedHit, arrived: Sequence[_Fetched]) -> None:
    _keep_part(run, hit, arrived)
    close(run, hit, len(arrived))


def _refuse_given_up(run: CampaignRun, arrived: Sequence[_Fetched]) -> None:
    """Refuse to go on beside work that was given up as lost and is there again.

    A copy of the marketplace may have an assignment at work that had been sent in. Its
    worker sends it in once more, under the same id; the store has a verdict already.
    """
    for assignment, _ in arrived:
        name = assignment.assignment_id
        if intents.outcome(run.store, forget_key(name)) is not None:
            raise RefusedForSafety(
                f"{run.platform.endpoint}: assignment {name} was given up as lost, and "
                "its worker has sent it in again: it waits to be approved or rejected",
                next_step=f"piecework reconcile {run.campaign.path} takes it back and "
                "lets the campaign go on",
            )
