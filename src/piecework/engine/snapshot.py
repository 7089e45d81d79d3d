"""Where a campaign stands, as counts and times, and the steps of a pass, which read it.

Each count is one query to the store. Its cost depends on what is open, not on what is
done. The reader takes a new snapshot only when something has changed. Each step of a
pass asks the same reader what is due, and does it; `status` shows what the reader says.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, Protocol, TypeVar

from piecework.campaign import caps
from piecework.campaign.opened import OpenedCampaign
from piecework.domain.growing import Growth
from piecework.domain.hit import PlannedHit
from piecework.domain.ids import AssignmentId
from piecework.engine.next_action import (
    Action,
    BatchState,
    Growing,
    Snapshot,
    next_action,
)
from piecework.engine.payments.pay import has_interrupted_payments
from piecework.engine.posted_hits import live_hits
from piecework.engine.waits import OPEN_HITS
from piecework.engine.watching.pass_watcher import Watch
from piecework.foundation.tracing.spans import span
from piecework.store import (
    assignments,
    campaign_facts,
    dealt_items,
    decisions,
    hits,
    item_totals,
    ledger,
    source,
)
from piecework.store.hits import HitCounts
from piecework.store.source import Reading


def take_snapshot(opened: OpenedCampaign, new_rows: int = 0) -> Snapshot:
    """Return what is open now; `new_rows` of the source count as taken in already."""
    store, campaign = opened.store, opened.campaign
    counts = hits.count_by_batch(store)
    at_work = next((batch.batch for batch in counts if batch.is_at_work), 0)
    is_collected = any(batch.is_at_work and batch.is_collected for batch in counts)
    undecided = assignments.has_undecided(store)
    unposted = hits.unposted(store)
    open_hits = sum(batch.open for batch in counts)
    refused = _refused(opened, unposted) if open_hits and campaign.crowds is not None else {}
    first_cents = unposted[0].cost_cents if unposted else 0
    room = caps.left(opened, at_work)
    is_of_month = room.month is not None and room.month < first_cents
    stopped, continued = campaign_facts.read_stops(store)
    return Snapshot(
        batch=at_work,
        batches=_batches(opened, counts),
        open_hits=open_hits,
        unposted=len(unposted),
        payable_now=bool(
            caps.payable([hit for hit in unposted if hit.market not in refused], room.today)
        ),
        refused=refused,
        hits_posted=sum(batch.posted for batch in counts),
        replaced=sum(batch.replacing for batch in counts),
        decidable=len(decidable(opened, due_for_decision(opened, is_collected=is_collected)))
        if undecided
        else 0,
        undecided=undecided,
        proposals=count_proposals(opened),
        # Imported work was settled where it was collected.
        unsettled=0 if opened.is_imported else decisions.count_unsettled(store),
        interrupted_payments=has_interrupted_payments(store),
        stopped=stopped,
        # A campaign that is not stopped adopts them before any step, or fails.
        adopting=stopped and campaign_facts.read_notes(store).is_adopting,
        winding_down=stopped and bool(unposted or live_hits(store)),
        left_cents=room.campaign,
        most_rounds=campaign.posting.rounds + continued,
        due_at=_due_at(opened, is_open=open_hits > 0, is_judged=is_collected or not undecided),
        next_day=caps.next_month(opened) if is_of_month else caps.next_day(opened),
        put_off_by="budget.month" if is_of_month else "budget.day",
        growing=_growing(opened, new_rows),
        beyond_budget=item_totals.count_beyond_budget(store, campaign.posting)
        if campaign.rewards.item_budget_cents is not None
        else 0,
        # Imported items are not asked again.
        unweighed=0 if opened.is_imported else len(item_totals.to_weigh(store, campaign.posting)),
    )


def _refused(opened: OpenedCampaign, unposted: Sequence[PlannedHit]) -> dict[str, int]:
    """Return how many planned HITs wait because their market refused some."""
    markets = campaign_facts.read_notes(opened.store).refused_markets
    return dict(Counter(hit.market for hit in unposted if hit.market in markets))


def _growing(opened: OpenedCampaign, new_rows: int) -> Growing | None:
    """Return the rows that wait, also those that come now, if the campaign's items grow."""
    growth = opened.campaign.growth
    if growth is None:
        return None
    waiting, now = dealt_items.waiting(opened.store), opened.clock.now()
    rows = waiting.rows + new_rows
    since = waiting.since or (now if new_rows else None)
    latest = None if since is None else since + timedelta(seconds=growth.batch_every_seconds)
    moments = (latest, next_rows_at(opened, source.reading(opened.store)))
    return Growing(
        waiting=rows,
        is_due=rows >= growth.batch_size or (latest is not None and latest <= now),
        due_at=min((moment for moment in moments if moment), default=None),
    )


def due_for_decision(opened: OpenedCampaign, *, is_collected: bool) -> frozenset[AssignmentId]:
    """Return undecided assignments that are due for a decision.

    A batch is judged as a whole, because the evidence is in other answers (the same
    sentence under many pictures). But MTurk approves automatically what is not judged
    in time, and then it is too late to reject. So while HITs of the batch are still
    open, an assignment that has waited for three quarters of that time
    (`Assignment.judge_by`) is judged by what is known.

    Args:
        opened: the campaign.
        is_collected: whether all answers of the batch at work are collected.
    """
    due_at = None if is_collected else opened.clock.now()
    return assignments.undecided(opened.store, due_at=due_at)


def decidable(opened: OpenedCampaign, due: frozenset[AssignmentId]) -> frozenset[AssignmentId]:
    """Return those of them that do not wait for a person."""
    if due and opened.campaign.decided_by == "person":
        return due - decisions.proposed_assignments(opened.store)
    return due


def count_proposals(opened: OpenedCampaign) -> int:
    """Return how many subjects a person has to look at; 0 where the policy decides."""
    if opened.campaign.decided_by == "policy":
        return 0
    return decisions.count_proposals(opened.store)


def next_poll_of_open_hits(opened: OpenedCampaign) -> datetime | None:
    """Return when to check open HITs next; `None` if no HIT is open."""
    longest_ago = hits.next_poll_base(opened.store)
    return None if longest_ago is None else longest_ago + OPEN_HITS


def _batches(opened: OpenedCampaign, counts: list[HitCounts]) -> dict[int, BatchState]:
    store, campaign = opened.store, opened.campaign
    lacks = item_totals.batches_lacking(store, campaign.posting, crowd=campaign.crowd_size)
    nothing = item_totals.Lacks(answers=0, least=0)
    cap = campaign.rewards.batch_budget_cents
    taken = {} if cap is None else ledger.taken_by_batch(store)
    return {
        batch.batch: BatchState(
            last_round=batch.last_round,
            is_collected=batch.is_collected,
            lacking=lacks.get(batch.batch, nothing).answers,
            least_lacking=lacks.get(batch.batch, nothing).least,
            out_of_reach=lacks.get(batch.batch, nothing).out_of_reach,
            unsure=lacks.get(batch.batch, nothing).unsure,
            # A complete batch buys nothing more.
            left_cents=None
            if cap is None or batch.batch not in lacks
            else cap - taken.get(batch.batch, 0),
        )
        for batch in counts
    }


def _due_at(opened: OpenedCampaign, *, is_open: bool, is_judged: bool) -> datetime | None:
    """Return when open HITs are checked again, or an assignment has to be judged."""
    poll = next_poll_of_open_hits(opened) if is_open else None
    deadline = None if is_judged else assignments.next_due(opened.store, opened.clock.now())
    moments = [poll, deadline]
    return min((moment for moment in moments if moment), default=None)


_DAY = timedelta(days=1)


def next_rows_at(opened: OpenedCampaign, known: Reading) -> datetime | None:
    """Return when more rows of a rehearsal's source arrive; `None`: not known."""
    growth = opened.campaign.growth
    if (
        growth is None
        or growth.a_day is None
        or not opened.is_rehearsal
        or known.began_at is None
        or (known.fingerprint or "").endswith(" all")
    ):
        return None
    days = (opened.clock.now() - known.began_at) // _DAY
    return known.began_at + (days + 1) * _DAY


def as_read(
    opened: OpenedCampaign, growth: Growth, known: Reading, fingerprint: str
) -> tuple[str, str]:
    """Return the fingerprint with what a reading depends on: so far, and at the end."""
    most = arrived(opened, growth, known)
    whole = f"{growth.settings} {fingerprint} all"
    return (whole if most is None else f"{growth.settings} {fingerprint} {most}"), whole


def arrived(opened: OpenedCampaign, growth: Growth, known: Reading) -> int | None:
    """Return how many rows of the source a rehearsal has by now; `None`: all."""
    if growth.a_day is None or not opened.is_rehearsal:
        return None
    now = opened.clock.now()
    return growth.a_day * (1 + (now - (known.began_at or now)) // _DAY)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToJudge:
    """What to judge now.

    Attributes:
        assignment_ids: undecided assignments that are due.
        batch: the batch at work.
        is_collected: whether all its answers are collected.
    """

    assignment_ids: frozenset[AssignmentId] = frozenset()
    batch: int = 0
    is_collected: bool = False

    def __bool__(self) -> bool:
        return bool(self.assignment_ids)


class Reader:
    """Read an opened campaign for the steps of a pass.

    Attributes:
        opened: the campaign.
        poll_open_hits: check open HITs for new answers, even if that was done recently.
        to_judge: what heuristics have judged, and policy or people now decide.
    """

    def __init__(
        self, opened: OpenedCampaign, *, poll_open_hits: bool = False, new_rows: int = 0
    ) -> None:
        """Read nothing yet.

        Args:
            opened: the campaign.
            poll_open_hits: as the attribute.
            new_rows: rows of the source that count as taken in already, to look ahead.
        """
        self.opened = opened
        self._new_rows = new_rows
        self.poll_open_hits = poll_open_hits
        self.to_judge: ToJudge | None = None
        self._version: tuple[int, int] | None = None
        self._snapshot: Snapshot | None = None

    def snapshot(self) -> Snapshot:
        """Return what is open; it is read again after this or another process wrote."""
        version = self.opened.store.version()
        if self._snapshot is None or version != self._version:
            self._version, self._snapshot = version, take_snapshot(self.opened, self._new_rows)
        return self._snapshot

    def action(self, snapshot: Snapshot | None = None) -> Action:
        """Return what is due now, or whom the campaign waits for."""
        today = self.opened.clock.now().date()
        return next_action(snapshot or self.snapshot(), self.opened.campaign, today=today)


_T = TypeVar("_T")
_Due = TypeVar("_Due")
_Opened = TypeVar("_Opened", bound=OpenedCampaign)


class Call(Protocol):
    """Run a step by its name and return its result."""

    def __call__(self, name: str, step: Callable[[], _T], /) -> _T:
        """Run the step once."""
        ...


def call_plainly(_name: str, step: Callable[[], _T], /) -> _T:
    """Run a step without any wrapper."""
    return step()


def timed(call: Call, watch: Watch) -> Call:
    """Wrap `call` so that each step is timed, for metrics and for a trace."""

    def call_timed(name: str, step: Callable[[], _T], /) -> _T:
        with span(f"step {name}", is_shared=True):
            return watch.time_step(name, lambda: call(name, step))

    return call_timed


@dataclass(frozen=True, slots=True)
class Step(Generic[_Opened, _Due]):
    """One verb of a pass.

    Attributes:
        name: the verb.
        due: reads what to do; the value is false if there is no work to do.
        act: does it, and returns a number that the log explains
            (`piecework.engine.run_pass`).
    """

    name: str
    due: Callable[[Reader], _Due]
    act: Callable[[_Opened, _Due], int]

    def __call__(
        self, opened: _Opened, reader: Reader | None = None, *, call: Call = call_plainly
    ) -> int:
        """Do what is due, if any.

        Args:
            opened: the campaign.
            reader: the reader of the pass; a new one by default.
            call: runs the step if something is due.
        """
        due = self.due(reader or Reader(opened))
        return call(self.name, lambda: self.act(opened, due)) if due else 0
