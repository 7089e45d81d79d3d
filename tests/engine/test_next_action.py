"""The planner on made snapshots: who is waited for, which step is due, what ended it.

The campaign has two batches of one HIT each, of two items that are wanted five times: a
dollar an assignment with a fee of 20 cents, so a HIT for all five costs 600 cents and
one that asks for a single answer 120.
"""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from piecework.domain.campaign import AsNeeded, Campaign
from piecework.domain.progress import Waiting
from piecework.engine.next_action import (
    BatchState,
    Growing,
    NextPosting,
    Snapshot,
    next_action,
    next_posting,
)
from tests.campaign.campaigns import TODAY, campaign
from tests.for_each import for_each

MIDNIGHT = datetime(2026, 1, 6, tzinfo=UTC)
EVENING = datetime(2026, 1, 5, 20, tzinfo=UTC)
DAY_CAP = "budget.day"
BATCH_CAP = "budget.batch"
CAP = "budget"
STOP = "piecework stop"


def two_batches() -> Campaign:
    """The campaign; ten dollars are its cap."""
    return campaign(4, batches=2, items_per_hit=2)


def batch(
    *,
    lacking: int = 0,
    least: int = 1,
    last_round: int = 0,
    is_collected: bool = True,
    left_cents: int | None = None,
) -> BatchState:
    """A batch that is whole, unless it is said otherwise."""
    return BatchState(
        last_round=last_round,
        is_collected=is_collected,
        lacking=lacking,
        least_lacking=least if lacking else 0,
        left_cents=left_cents,
    )


DONE = Snapshot(
    batch=2,
    batches={1: batch(), 2: batch()},
    open_hits=0,
    unposted=0,
    payable_now=False,
    decidable=0,
    undecided=False,
    proposals=0,
    unsettled=0,
    interrupted_payments=False,
    stopped=False,
    winding_down=False,
    left_cents=10_000,
    most_rounds=3,
    due_at=None,
    next_day=MIDNIGHT,
)
"""Both batches are whole and nothing is open."""

FRESH = replace(DONE, batch=0, batches={})
OPEN = replace(DONE, batches={1: batch(), 2: batch(is_collected=False)}, open_hits=1)
LACKING = replace(DONE, batches={1: batch(), 2: batch(lacking=1)})
STOPPED = replace(LACKING, stopped=True)
FIRST = replace(DONE, batch=1, batches={1: batch()})
"""Batch 1 is whole, and batch 2 was never begun."""


@for_each(
    ("snapshot", "waiting_for", "step", "stopped_by"),
    [
        (DONE, "nobody", "", ""),
        (FRESH, "the next pass", "plan", ""),
        (OPEN, "workers", "", ""),
        # What is due of open HITs does not wait for workers; money comes first.
        (replace(OPEN, unsettled=1), "the next pass", "settle", ""),
        (replace(OPEN, decidable=1, undecided=True), "the next pass", "decide", ""),
        (replace(OPEN, unsettled=1, decidable=1), "the next pass", "settle", ""),
        (replace(OPEN, unposted=1, payable_now=True), "the next pass", "launch", ""),
        (
            replace(OPEN, decidable=1, unposted=1, payable_now=True),
            *("the next pass", "decide", ""),
        ),
        # Answers came that are not due yet: they wait with the workers for their batch.
        (replace(OPEN, undecided=True), "workers", "", ""),
        (replace(OPEN, proposals=2, undecided=True), "workers", "", ""),
        # A bonus that was cut short is looked for when nothing else is open.
        (replace(OPEN, interrupted_payments=True), "workers", "", ""),
        (replace(DONE, interrupted_payments=True), "the next pass", "resume", ""),
        # The cap of a day puts off and does not end.
        (replace(OPEN, unposted=1), "workers", "", DAY_CAP),
        (replace(DONE, unposted=1), "the next day", "", DAY_CAP),
        (replace(DONE, unposted=1, proposals=1), "the next day", "", DAY_CAP),
        # What a market refused waits for the market; only the rest is put off by a cap.
        (replace(OPEN, unposted=1, refused={"connect": 1}), "workers", "", ""),
        (replace(OPEN, unposted=2, refused={"connect": 1}), "workers", "", DAY_CAP),
        # People.
        (replace(DONE, proposals=2, undecided=True), "people", "", ""),
        (replace(DONE, undecided=True), "the next pass", "decide", ""),
        # What is lacking is bought again, as long as rounds and caps allow.
        (LACKING, "the next pass", "plan", ""),
        (replace(LACKING, left_cents=120), "the next pass", "plan", ""),
        (replace(LACKING, left_cents=119), "nobody", "", CAP),
        (replace(LACKING, most_rounds=0), "nobody", "", "posting.max_rounds"),
        (
            replace(LACKING, batches={1: batch(), 2: batch(lacking=1, left_cents=119)}),
            *("nobody", "", BATCH_CAP),
        ),
        (
            replace(
                LACKING, left_cents=118, batches={1: batch(), 2: batch(lacking=1, left_cents=119)}
            ),
            *("nobody", "", CAP),
        ),
        # Two items that lack three answers each: a HIT for three costs 360.
        (
            replace(LACKING, left_cents=359, batches={1: batch(), 2: batch(lacking=6, least=3)}),
            *("nobody", "", CAP),
        ),
        # A batch was never begun: it names the cap that does not pay for its first HIT.
        (replace(FIRST, left_cents=600), "the next pass", "plan", ""),
        (replace(FIRST, left_cents=599), "nobody", "", CAP),
        (
            replace(FIRST, batches={1: batch(lacking=1)}, most_rounds=0, left_cents=599),
            *("nobody", "", CAP),
        ),
        # A person has stopped it: nothing is bought, all that came is settled.
        (replace(STOPPED, winding_down=True), "the next pass", "wind down", STOP),
        (replace(STOPPED, winding_down=True, unsettled=1), *("the next pass", "wind down", STOP)),
        (replace(STOPPED, unsettled=1), "the next pass", "settle", STOP),
        (replace(STOPPED, open_hits=1), "workers", "", STOP),
        (replace(STOPPED, proposals=1), "people", "", STOP),
        (STOPPED, "nobody", "", STOP),
        (replace(STOPPED, adopting=True), "people", "", STOP),
        (replace(FRESH, stopped=True), "nobody", "", STOP),
    ],
)
def test_who_is_waited_for_follows_from_what_is_open(
    snapshot: Snapshot, waiting_for: Waiting, step: str, stopped_by: str
) -> None:
    """One snapshot, one action: the same for a pass and for `status`."""
    action = next_action(snapshot, two_batches(), today=TODAY)
    assert (action.waiting_for, action.step) == (waiting_for, step)
    assert action.stopped_by == stopped_by


def test_the_reason_of_an_end_names_all_that_cannot_be_paid_for() -> None:
    """Answers of batches that were begun, and batches that were not."""
    short = replace(FIRST, batches={1: batch(lacking=2)}, left_cents=99)
    reasons = [
        next_action(replace(snapshot, left_cents=99), two_batches(), today=TODAY).reason
        for snapshot in (DONE, FIRST, LACKING, short)
    ]
    unpaid, lacking = "1 batch cannot be paid for", "answers are lacking and cannot be bought"
    single = "1 answer is lacking and cannot be bought"
    assert reasons == ["", unpaid, single, f"2 {lacking}; {unpaid}"]


@pytest.mark.parametrize(
    ("snapshot", "at"),
    [
        (replace(OPEN, due_at=EVENING), EVENING),
        (replace(OPEN, unposted=1, due_at=EVENING), EVENING),
        (replace(DONE, unposted=1, due_at=EVENING), MIDNIGHT),
        (replace(DONE, due_at=EVENING), None),
    ],
)
def test_a_moment_is_named_where_time_alone_makes_something_due(
    snapshot: Snapshot, at: datetime | None
) -> None:
    """Open HITs are polled, a day ends; what is finished waits for no moment."""
    assert next_action(snapshot, two_batches(), today=TODAY).at == at


def test_an_amount_agreed_to_is_named_where_it_is_what_ends_the_campaign() -> None:
    """It lies below the campaign file's cap, so raising that would not help."""
    of_file = two_batches()
    agreed = replace(of_file, rewards=replace(of_file.rewards, agreed_cents=5_000))
    short = replace(LACKING, left_cents=0)
    assert next_action(short, agreed, today=TODAY).stopped_by == (agreed.rewards.cap_name)
    assert agreed.rewards.cap_name != CAP


AT_WORK = replace(DONE, batch=1, batches={1: batch(lacking=1)})
"""The first of two batches lacks an answer, and nothing of it is open."""


@for_each(
    ("snapshot", "posting"),
    [
        (FRESH, NextPosting(batch=1, round=0, room_cents=10_000)),
        (replace(FRESH, left_cents=599), None),
        # What the batch at work lacks comes first; 600 are kept for batch 2.
        (AT_WORK, NextPosting(batch=1, round=1, room_cents=9_400)),
        (replace(AT_WORK, left_cents=720), NextPosting(batch=1, round=1, room_cents=120)),
        (replace(AT_WORK, left_cents=719), NextPosting(batch=2, round=0, room_cents=719)),
        (replace(AT_WORK, left_cents=599), None),
        (
            replace(AT_WORK, batches={1: batch(lacking=1, left_cents=300)}),
            NextPosting(batch=1, round=1, room_cents=300),
        ),
        (
            replace(AT_WORK, batches={1: batch(lacking=1, left_cents=119)}),
            NextPosting(batch=2, round=0, room_cents=10_000),
        ),
        (
            replace(AT_WORK, batches={1: batch(lacking=1, last_round=3)}),
            NextPosting(batch=2, round=0, room_cents=10_000),
        ),
        # When all are posted, the earliest batch that lacks something and may.
        (
            replace(DONE, batches={1: batch(lacking=2, last_round=1), 2: batch()}),
            NextPosting(batch=1, round=2, room_cents=10_000),
        ),
        (
            replace(DONE, batches={1: batch(lacking=2, last_round=3), 2: batch(lacking=1)}),
            NextPosting(batch=2, round=1, room_cents=10_000),
        ),
        (
            replace(
                DONE, batches={1: batch(lacking=2, left_cents=0), 2: batch(lacking=1, left_cents=0)}
            ),
            None,
        ),
        # Nothing new while anything of the batch at work is under way.
        (replace(AT_WORK, batches={1: batch(lacking=1, is_collected=False)}), None),
        (replace(AT_WORK, undecided=True), None),
        (replace(AT_WORK, unsettled=1), None),
        (replace(AT_WORK, proposals=1), None),
        (replace(AT_WORK, stopped=True), None),
        (DONE, None),
    ],
)
def test_what_comes_next_is_what_lacks_and_can_be_paid(
    snapshot: Snapshot, posting: NextPosting | None
) -> None:
    """The batch at work, then the next, then any: never past a cap."""
    assert next_posting(snapshot, two_batches(), today=TODAY) == posting


UNWEIGHED = replace(DONE, unweighed=2)


@pytest.mark.parametrize(
    ("snapshot", "waiting_for", "step"),
    [
        (UNWEIGHED, "the next pass", "weigh"),
        (replace(UNWEIGHED, stopped=True), "the next pass", "weigh"),
        # While anything of the batch at work is under way, its labels may change.
        (replace(UNWEIGHED, undecided=True), "the next pass", "decide"),
        (replace(UNWEIGHED, unsettled=1), "the next pass", "settle"),
        (replace(UNWEIGHED, proposals=1, undecided=True), "people", ""),
        (
            replace(UNWEIGHED, open_hits=1, batches={1: batch(), 2: batch(is_collected=False)}),
            *("workers", ""),
        ),
    ],
)
def test_labels_are_weighed_when_their_batch_is_settled(
    snapshot: Snapshot, waiting_for: Waiting, step: str
) -> None:
    """And nothing is planned before it is known what they want."""
    action = next_action(snapshot, two_batches(), today=TODAY)
    assert (action.waiting_for, action.step) == (waiting_for, step)
    assert next_posting(snapshot, two_batches(), today=TODAY) is None


def test_why_items_are_asked_again_is_said() -> None:
    """Two labels are not sure; a third item has lost an answer."""
    plain = two_batches()
    posting = replace(plain.posting, as_needed=AsNeeded(most=7, until=0.95))
    asked = replace(plain, posting=posting)
    unsure = replace(batch(lacking=3), unsure=2)
    snapshot = replace(DONE, batches={1: batch(), 2: unsure}, most_rounds=5)
    reason = next_action(snapshot, asked, today=TODAY).reason
    for fact in ("again, in round 1", "2 items are not sure to 0.95", "7 answers"):
        assert fact in reason
    lost = replace(snapshot, batches={1: batch(), 2: batch(lacking=3)})
    reason = next_action(lost, asked, today=TODAY).reason
    assert reason == "batch 2 is due to be posted again, in round 1"
    assert "sure" not in reason


def test_a_batch_of_its_own_cap_is_begun_within_it() -> None:
    """Six dollars a batch let one HIT of five be posted; 5.99 do not."""
    of_file = two_batches()
    for cap, room in ((600, 600), (599, None)):
        rewards = replace(of_file.rewards, batch_budget_cents=cap)
        capped = replace(of_file, rewards=rewards)
        posting = next_posting(FRESH, capped, today=TODAY)
        assert (None if posting is None else posting.room_cents) == room


@pytest.mark.parametrize("name", ["batch_budget_cents", "day_budget_cents", "month_budget_cents"])
def test_rows_are_dealt_only_if_each_cap_pays_for_a_hit(name: str) -> None:
    """A batch that no day or month can pay for would keep later rows waiting."""
    of_file, growing = two_batches(), Growing(waiting=4, is_due=True, due_at=None)
    for cap, room in ((600, 600), (599, None)):
        rewards = replace(of_file.rewards, **{name: cap})  # type: ignore[arg-type]
        capped = replace(of_file, rewards=rewards)
        posting = next_posting(replace(FRESH, growing=growing), capped, today=TODAY)
        assert (None if posting is None else posting.room_cents) == room
