"""The planner: what is due next, when and why; a pure function of values.

Steps and `status` read the same plan, so `status` announces what really happens next.
Reading how far a campaign is does not plan HITs: counts tell which batch comes next,
and only `piecework.engine.plan` deals out its items.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal

from piecework.campaign.dealing import first_rounds_cost_cents, pays_for_first_rounds
from piecework.campaign.market_shares import hit_cost_cents
from piecework.domain.campaign import Campaign
from piecework.domain.progress import BY_A_PERSON, Waiting
from piecework.domain.text import plural

Step = Literal["decide", "resume", "settle", "weigh", "wind down", "plan", "launch"]
"""Steps of a pass that can be due while the campaign waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchState:
    """The state of a batch that was begun.

    Attributes:
        last_round: 0 for the first posting.
        is_collected: all its HITs were posted, and all their answers are here.
        lacking: accepted answers that are still wanted and can be had.
        least_lacking: answers that the item with the fewest missing ones lacks; 0 if no
            item lacks any.
        left_cents: what its own cap leaves; `None`: there is no such cap, or it lacks
            nothing.
        out_of_reach: accepted answers that are wanted but that no worker is left to
            give.
        unsure: items that lack an answer because they are not sure enough.
    """

    last_round: int
    is_collected: bool
    lacking: int
    least_lacking: int
    left_cents: int | None
    out_of_reach: int = 0
    unsure: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What is open in a campaign, as counts and times; see `piecework.engine.snapshot`.

    Attributes:
        batch: the batch at work (`piecework.store.hits.batch_at_work`); 0 before it.
        batches: the state of each batch that was begun, by number.
        open_hits: HITs that were posted and not collected.
        unposted: HITs that are planned and not posted.
        payable_now: whether today's cap pays for one of them.
        decidable: undecided assignments that are due and do not wait for a person.
        undecided: whether any answer or assignment has no decision.
        proposals: subjects that wait for a person.
        unsettled: decisions that are not carried out yet.
        interrupted_payments: whether a process died during a payment.
        stopped: whether a person has stopped the campaign.
        winding_down: whether a stopped campaign has HITs to expire or plans to drop.
        left_cents: what the campaign's cap leaves.
        most_rounds: how often a batch may be posted again.
        due_at: when a step is due although the campaign waits for workers.
        next_day: when a new UTC day begins.
        put_off_by: the key of the cap that postpones planned HITs.
        unweighed: items that have all the answers they want but whose labels were not
            weighed yet; 0 if weighing has no effect.
        growing: rows that wait, if the campaign's items grow.
        refused: planned HITs that wait because their market refused some, by market;
            empty while no other HIT is open.
        hits_posted: HITs that were posted, extensions not counted.
        replaced: HITs that were posted or extended in a later round than the first.
        beyond_budget: answers lacking of items whose own budget is spent.
        adopting: whether it was stopped, and HITs of a newer copy are not adopted yet.
    """

    batch: int
    batches: Mapping[int, BatchState]
    open_hits: int
    unposted: int
    payable_now: bool
    decidable: int
    undecided: bool
    proposals: int
    unsettled: int
    interrupted_payments: bool
    stopped: bool
    winding_down: bool
    left_cents: int
    most_rounds: int
    due_at: datetime | None
    next_day: datetime
    unweighed: int = 0
    put_off_by: str = "budget.day"
    growing: "Growing | None" = None
    refused: Mapping[str, int] = field(default_factory=dict)
    hits_posted: int = 0
    replaced: int = 0
    beyond_budget: int = 0
    adopting: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Growing:
    """The rows of a source that wait for their batch.

    Attributes:
        waiting: how many there are.
        is_due: whether a batch is made of them now.
        due_at: when their batch is made at the latest, or more rows are known to come;
            `None`: not known.
    """

    waiting: int
    is_due: bool
    due_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NextPosting:
    """The HITs that come next: a batch's first round, or one that replaces answers.

    Attributes:
        room_cents: what they may cost together.
    """

    batch: int
    round: int
    room_cents: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """What is due next.

    Attributes:
        waiting_for: who has to act; `the next pass` if a step is due now.
        step: the step that is due, if any.
        at: when, if it is not now and the time is known.
        reason: why, in a sentence.
        stopped_by: the key that ended or postpones a campaign that lacks answers, or
            the command with which a person stopped it; otherwise empty.
    """

    waiting_for: Waiting
    reason: str
    step: Step | Literal[""] = ""
    at: datetime | None = None
    stopped_by: str = ""


def next_action(snapshot: Snapshot, campaign: Campaign, *, today: date) -> Action:
    """Return what is due now, or whom the campaign waits for."""
    step = _step_due(snapshot)
    if step is not None:
        return step
    stopped_by = BY_A_PERSON if snapshot.stopped else ""
    refused = sum(snapshot.refused.values())
    is_put_off = snapshot.unposted > refused and not snapshot.stopped
    if snapshot.open_hits:
        return Action(
            waiting_for="workers",
            reason=("expired HITs" if snapshot.stopped else "open HITs")
            + f": {snapshot.open_hits}{_why_refused(snapshot)}",
            at=snapshot.due_at,
            stopped_by=snapshot.put_off_by if is_put_off else stopped_by,
        )
    if is_put_off:
        is_of_day = snapshot.put_off_by == "budget.day"
        return Action(
            waiting_for="the next day" if is_of_day else "the next month",
            reason=f"{snapshot.put_off_by} postpones {snapshot.unposted} HITs",
            at=snapshot.next_day,
            stopped_by=snapshot.put_off_by,
        )
    if snapshot.proposals:
        return Action(
            waiting_for="people",
            reason=f"{snapshot.proposals} decisions wait for a person",
            stopped_by=stopped_by,
        )
    return _end_or_launch(snapshot, campaign, today=today)


def _why_refused(snapshot: Snapshot) -> str:
    if not snapshot.refused:
        return ""
    waiting = plural(sum(snapshot.refused.values()), "planned HIT")
    return f"; {' and '.join(snapshot.refused)} refused {waiting}"


def may_weigh(snapshot: Snapshot) -> bool:
    """Return whether to weigh labels now: the current batch has no open work."""
    return bool(snapshot.unweighed) and is_settled(snapshot)


def next_posting(snapshot: Snapshot, campaign: Campaign, *, today: date) -> NextPosting | None:
    """Return what to plan now; `None` while earlier work is open, or at the end.

    Labels are weighed before any planning. Then the order is: what the current batch
    lacks, the next batch, and when all are posted, what any batch still lacks. Money
    for later batches is not spent on replacements: an item with four answers is worth
    more than an item without any. Nothing is planned once the cap of the campaign or of a
    batch has become less than the plain cost.
    """
    posting = _within_batches(snapshot, campaign, today=today)
    # Before the first batch, planning refuses a campaign that costs too much.
    if posting is None or snapshot.growing is not None or not snapshot.batches:
        return posting
    return posting if pays_for_first_rounds(campaign, on=today) else None


def _within_batches(snapshot: Snapshot, campaign: Campaign, *, today: date) -> NextPosting | None:
    if snapshot.stopped or snapshot.unweighed or not is_settled(snapshot):
        return None
    to_come = _to_come(snapshot, campaign)
    if snapshot.batch and _may_be_posted_again(snapshot, snapshot.batch):
        reserved = 0 if snapshot.growing else first_rounds_cost_cents(campaign, to_come, on=today)
        again = _again(snapshot, campaign, snapshot.batch, reserved, today=today)
        if again is not None:
            return again
    if to_come:
        return _first_round(snapshot, campaign, to_come[0], today=today)
    for batch in sorted(snapshot.batches):
        if _may_be_posted_again(snapshot, batch):
            again = _again(snapshot, campaign, batch, 0, today=today)
            if again is not None:
                return again
    return None


def _to_come(snapshot: Snapshot, campaign: Campaign) -> list[int]:
    """Return the batches that could be begun now."""
    if snapshot.growing is not None:
        following = max(snapshot.batches, default=0) + 1
        return [following] if snapshot.growing.is_due else []
    return [
        batch for batch in range(1, campaign.posting.batches + 1) if batch not in snapshot.batches
    ]


def _step_due(snapshot: Snapshot) -> Action | None:
    # These do not wait for workers, even while HITs are open: decided assignments,
    # assignments close to auto-approval, and HITs that a dead pass left unposted.
    due: tuple[tuple[bool, Step, str], ...] = (
        (
            snapshot.stopped and snapshot.winding_down,
            "wind down",
            "the campaign was stopped, and some of its HITs are live",
        ),
        (
            bool(snapshot.unsettled),
            "settle",
            f"{snapshot.unsettled} decisions are not carried out yet",
        ),
        (
            bool(snapshot.decidable),
            "decide",
            f"{snapshot.decidable} assignments are due for a decision",
        ),
        (may_weigh(snapshot), "weigh", f"{_are(snapshot.unweighed, 'label')} not weighed yet"),
        (
            not snapshot.stopped and snapshot.payable_now,
            "launch",
            f"{snapshot.unposted} HITs are planned and not posted",
        ),
    )
    for is_due, step, reason in due:
        if is_due:
            return Action(
                waiting_for="the next pass",
                step=step,
                reason=reason,
                stopped_by=BY_A_PERSON if snapshot.stopped else "",
            )
    return None


def _end_or_launch(snapshot: Snapshot, campaign: Campaign, *, today: date) -> Action:
    if snapshot.interrupted_payments:
        return Action(
            waiting_for="the next pass",
            step="resume",
            reason="a payment was cut short; the next pass asks the platform about it",
        )
    if snapshot.undecided:
        return Action(waiting_for="the next pass", step="decide", reason="answers are undecided")
    if snapshot.stopped:
        not_adopted = "a newer copy of the store posted HITs that this one has not adopted"
        return Action(
            waiting_for="people" if snapshot.adopting else "nobody",
            reason=not_adopted if snapshot.adopting else "a person stopped the campaign",
            stopped_by=BY_A_PERSON,
        )
    if campaign.imported is not None:
        return Action(waiting_for="nobody", reason="")
    posting = next_posting(snapshot, campaign, today=today)
    if posting is not None or not (snapshot.batches or snapshot.growing):
        batch, round_ = (posting.batch, posting.round) if posting else (1, 0)
        return Action(
            waiting_for="the next pass",
            step="plan",
            reason=f"batch {batch} is due to be posted"
            + (f" again, in round {round_}" if round_ else "")
            + _why_again(snapshot, batch, campaign),
        )
    return _wait_or_end(snapshot, campaign)


def _wait_or_end(snapshot: Snapshot, campaign: Campaign) -> Action:
    if snapshot.growing is not None:
        return _wait_for_rows(snapshot, snapshot.growing, campaign)
    lacking = snapshot.beyond_budget + sum(
        batch.lacking + batch.out_of_reach for batch in snapshot.batches.values()
    )
    to_come = _to_come(snapshot, campaign)
    unpaid = [f"{_are(lacking, 'answer')} lacking and cannot be bought"] if lacking else []
    unpaid += [f"{plural(len(to_come), 'batch')} cannot be paid for"] if to_come else []
    return Action(
        waiting_for="nobody",
        reason="; ".join(unpaid),
        stopped_by=_what_stopped(snapshot, campaign) if unpaid else "",
    )


def _wait_for_rows(snapshot: Snapshot, growing: Growing, campaign: Campaign) -> Action:
    if growing.is_due:
        return Action(
            waiting_for="nobody",
            reason=f"{plural(growing.waiting, 'row')} cannot be paid for",
            stopped_by=campaign.rewards.cap_name,
        )
    lacking = snapshot.beyond_budget + sum(state.lacking for state in snapshot.batches.values())
    size = campaign.growth.batch_size if campaign.growth else 0
    return Action(
        waiting_for="new rows",
        reason=f"{plural(growing.waiting, 'row')} of the {size} that make a batch",
        at=growing.due_at,
        stopped_by=_what_stopped(snapshot, campaign) if lacking else "",
    )


def _are(number: int, noun: str) -> str:
    return f"{plural(number, noun)} {'is' if number == 1 else 'are'}"


def _why_again(snapshot: Snapshot, batch: int, campaign: Campaign) -> str:
    """Return why items are asked again, if not only to replace lost answers."""
    state, rule = snapshot.batches.get(batch), campaign.posting.as_needed
    if state is None or rule is None or not state.unsure:
        return ""
    return (
        f": {_are(state.unsure, 'item')} not sure to {rule.until:g}, and an item may "
        f"have up to {rule.most} answers"
    )


def _what_stopped(snapshot: Snapshot, campaign: Campaign) -> str:
    """Return the campaign file's key that prevents buying more answers."""
    if _to_come(snapshot, campaign):
        return _cap_with_least(snapshot, campaign, campaign.rewards.batch_budget_cents)
    again = [batch for batch in sorted(snapshot.batches) if _may_be_posted_again(snapshot, batch)]
    if not any(state.lacking for state in snapshot.batches.values()):
        return "budget.item" if snapshot.beyond_budget else "requirements.workers"
    if not again:
        return "posting.max_rounds"
    return _cap_with_least(snapshot, campaign, snapshot.batches[again[0]].left_cents)


def _cap_with_least(snapshot: Snapshot, campaign: Campaign, left_of_batch: int | None) -> str:
    is_of_batch = left_of_batch is not None and left_of_batch < snapshot.left_cents
    return "budget.batch" if is_of_batch else campaign.rewards.cap_name


def is_settled(snapshot: Snapshot) -> bool:
    """Return whether the current batch has no work under way."""
    return not snapshot.batch or (
        snapshot.batches[snapshot.batch].is_collected
        and not snapshot.undecided
        and not snapshot.unsettled
        and not snapshot.proposals
    )


def _may_be_posted_again(snapshot: Snapshot, batch: int) -> bool:
    state = snapshot.batches[batch]
    return bool(state.lacking) and state.last_round < snapshot.most_rounds


def _again(
    snapshot: Snapshot, campaign: Campaign, batch: int, reserved_cents: int, *, today: date
) -> NextPosting | None:
    state = snapshot.batches[batch]
    room = _room_cents(snapshot, state.left_cents, reserved_cents)
    # The HITs that ask for the fewest answers come first, and cost least.
    if hit_cost_cents(campaign, state.least_lacking, on=today) > room:
        return None
    return NextPosting(batch=batch, round=state.last_round + 1, room_cents=room)


def _first_round(
    snapshot: Snapshot, campaign: Campaign, batch: int, *, today: date
) -> NextPosting | None:
    rewards = campaign.rewards
    caps = [rewards.batch_budget_cents]
    if snapshot.growing is not None:
        # A batch that one day cannot pay for would keep later rows waiting.
        caps += [rewards.day_budget_cents, rewards.month_budget_cents]
    cap = min((cents for cents in caps if cents is not None), default=None)
    room = _room_cents(snapshot, cap, 0)
    if hit_cost_cents(campaign, campaign.posting.assignments, on=today) > room:
        return None
    return NextPosting(batch=batch, round=0, room_cents=room)


def _room_cents(snapshot: Snapshot, left_of_batch: int | None, reserved_cents: int) -> int:
    free = snapshot.left_cents - reserved_cents
    return free if left_of_batch is None else min(free, left_of_batch)
