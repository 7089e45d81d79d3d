"""What has been done, what it cost, and who has to act; for people and programs."""

from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import TypedDict

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.progress import Progress, SourceState
from piecework.domain.text import plural
from piecework.engine.next_action import Snapshot
from piecework.engine.snapshot import Reader
from piecework.store import (
    assignments,
    campaign_facts,
    dealt_items,
    decisions,
    findings,
    intents,
    item_totals,
    ledger,
    reviews,
    source,
)
from piecework.store.settlements import PAID_ALREADY

_FAULTS = 5
"""Rows that cannot be used and are named; the others are counted."""

_RECENT = timedelta(days=7)


def read_progress(opened: OpenedCampaign, reader: Reader | None = None) -> Progress:
    """Return where the campaign stands; it reads only the store and does not plan.

    Args:
        opened: the campaign.
        reader: the reader of the pass that just ended; a new one by default.
    """
    reader = reader or Reader(opened)
    store, campaign = opened.store, opened.campaign
    snapshot = reader.snapshot()
    action = reader.action(snapshot)
    counts = item_totals.count_accepted(store, campaign.posting)
    verdicts = assignments.count_verdicts(store, paid_already=PAID_ALREADY)
    money = ledger.balances(store)
    reasons = intents.compensation_reasons(store)
    to_come = campaign.posting.assignments * (len(campaign.items) - counts.items)
    # An imported campaign gets no more answers.
    missing = 0 if opened.is_imported else to_come + counts.wanted - counts.accepted
    is_finished = action.waiting_for == "nobody"
    is_put_off = action.stopped_by in {"budget.day", "budget.month"}
    is_due = action.waiting_for in {"workers", "new rows"} and action.at is not None
    growing = snapshot.growing
    batches_begun = max(snapshot.batches, default=0)
    is_unpaid = growing is not None and growing.is_due
    progress = Progress(
        campaign=campaign.name,
        is_rehearsal=opened.is_rehearsal,
        items=len(campaign.items),
        batch=batches_begun,
        batches=campaign.posting.batches if growing is None else batches_begun,
        hits_posted=snapshot.hits_posted,
        hits_open=snapshot.open_hits,
        replaced=snapshot.replaced,
        submitted=verdicts.assignments,
        answers=verdicts.answers,
        with_more=verdicts.with_more,
        flagged=findings.count_flagged(store),
        accepted=counts.accepted,
        dropped=verdicts.dropped,
        surplus=counts.surplus,
        missing=missing,
        unsure=counts.unsure,
        rejected=verdicts.rejected,
        excluded=verdicts.excluded,
        to_decide=snapshot.proposals,
        rewards_cents=money["rewards"],
        bonuses_cents=money["bonuses"],
        compensations_cents=money["compensations"],
        compensations=len(reasons),
        compensation_reasons=len(set(reasons)),
        fees_cents=money["fees"],
        held_cents=money["held"],
        budget_cents=campaign.rewards.cap_cents,
        currency=campaign.rewards.currency,
        waiting_for=action.waiting_for,
        step=action.step,
        reason=action.reason,
        cap_reached=is_finished and (missing > 0 or is_unpaid) and not snapshot.stopped,
        stopped_by=action.stopped_by,
        goes_on_at=snapshot.next_day.isoformat() if is_put_off else "",
        due_at=action.at.isoformat() if is_due and action.at else "",
        refused=sum(snapshot.refused.values()),
        source=None if growing is None else _source(opened, growing.waiting),
        **_for_people(opened, snapshot),
    )
    if progress.undecided:  # they count as missing, but may still be kept
        return progress
    too_few = _too_few_workers(opened, snapshot)
    return replace(progress, too_few_workers=too_few)


def _source(opened: OpenedCampaign, waiting: int) -> SourceState:
    """Return how the source of a campaign grows, and whether the campaign keeps up."""
    store = opened.store
    known = source.reading(store)
    quarantined, faults = source.quarantined(store, most=_FAULTS)
    rows_in, rows_out = _rates(opened, known)
    falls_behind = waiting > 0 and rows_in > rows_out > 0
    return SourceState(
        waiting=waiting,
        fault=known.fault,
        unfinished=known.unfinished,
        quarantined=quarantined,
        faults=tuple(faults),
        changed=known.changed,
        withdrawn=known.withdrawn,
        rows_in=rows_in,
        rows_out=rows_out,
        behind_days=waiting / rows_out if falls_behind else 0.0,
    )


def _rates(opened: OpenedCampaign, known: source.Reading) -> tuple[float, float]:
    """Return rows that arrive and rows that are dealt on an average recent day."""
    now = opened.clock.now()
    if known.began_at is None or known.read_at is None:
        return 0.0, 0.0
    if opened.is_rehearsal:  # its days are not those of the clock on the wall
        now = known.read_at
    since = max(known.began_at, now - _RECENT)
    days = dealt_items.days(opened.store, since=since)
    length = max(1.0, (now - since) / timedelta(days=1))
    return (
        sum(arrived for _, arrived, _ in days) / length,
        sum(dealt for _, _, dealt in days) / length,
    )


class _ForPeople(TypedDict):
    review_seconds: int
    pays_itself_at: str


def _for_people(opened: OpenedCampaign, snapshot: Snapshot) -> _ForPeople:
    """Return the facts about waiting decisions, if there are any."""
    at = pays_itself_at(opened) if snapshot.proposals else None
    return {
        "review_seconds": seconds_left(opened) if snapshot.proposals else 0,
        "pays_itself_at": at.isoformat() if at else "",
    }


def _too_few_workers(opened: OpenedCampaign, snapshot: Snapshot) -> str:
    """Return a sentence if the known workers cannot give the missing answers; else "".

    The campaign file may state the number of workers. Otherwise those who have worked
    count, and only while items are asked again or when no HIT is open. A market sends
    others.
    """
    if snapshot.proposals or opened.is_imported:
        return ""  # a person may keep what now counts as missing
    store, campaign = opened.store, opened.campaign
    crowd, who, then = campaign.crowd_size, "", ("stays missing", "stay missing")
    if crowd is None:
        prices = campaign_facts.kept_prices(store)
        if campaign.crowds is not None or (prices is not None and prices.crowds):
            return ""
        at_work = snapshot.batches.get(snapshot.batch)
        if at_work is None or (snapshot.open_hits and not at_work.last_round):
            return ""
        crowd = assignments.count_workers(store)
        if not crowd:
            return ""  # no worker has come yet, so the number to expect is unknown
        who, then = " who worked so far", ("needs others", "need others")
    posting = campaign.posting
    lacks = item_totals.batches_lacking(store, posting, crowd=crowd)
    missing = sum(lack.out_of_reach for lack in lacks.values())
    if not missing:
        return ""
    return (
        f"{plural(crowd, 'worker')}{who} cannot give {posting.asked} answers each with "
        f"{len(item_totals.excluded(store))} excluded: {plural(missing, 'answer')} "
        f"{then[missing != 1]}"
    )


_BREAK = timedelta(minutes=10)
"""A longer time between two acts counts as a break."""
_LEAST = 3
"""The fewest gaps between acts from which a pace is estimated."""


def seconds_left(opened: OpenedCampaign) -> int:
    """Return what one person needs for all that waits, at the pace so far; 0: unknown.

    The time of an act is the time since the same reviewer's previous act. The pace is
    the median of these times.
    """
    gaps = [
        (later - earlier).total_seconds()
        for moments in reviews.review_times(opened.store).values()
        for earlier, later in pairwise(moments)
        if timedelta(0) < later - earlier <= _BREAK
    ]
    if len(gaps) < _LEAST:
        return 0
    return round(median(gaps) * decisions.count_cards(opened.store))


def pays_itself_at(opened: OpenedCampaign) -> datetime | None:
    """Return when the marketplace auto-approves the first assignment that waits.

    `None` if no assignment waits, or no marketplace is involved.
    """
    if opened.is_rehearsal or not opened.endpoint.startswith("http"):
        return None
    proposed = decisions.proposed_assignments(opened.store)
    return assignments.first_auto_approval(opened.store, proposed)
