"""Campaigns on several markets: where each HIT goes, and markets that refuse HITs.

A planned HIT gets its market by the shares of the campaign file, or by what the store
knows of each market's work. A market that refuses HITs does not keep the others from
theirs.
"""

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import takewhile
from threading import Event

from piecework.campaign.dealing import (
    Pace,
    Split,
    all_first_rounds,
    at_markets,
    by_cost,
    cheapest_in_time,
    first_round,
    shares,
)
from piecework.campaign.opened import CampaignRun, OpenedCampaign
from piecework.domain.errors import PlatformRefused
from piecework.domain.hit import PlannedHit
from piecework.domain.ids import ItemId
from piecework.domain.text import plural
from piecework.engine.posted_hits import record_cut_off
from piecework.store import campaign_facts, hits, intents, item_totals, workers
from piecework.store.acting import carry_out
from piecework.store.intents import Act
from piecework.store.workers import MarketWork

_HOUR = timedelta(hours=1)


def with_markets(opened: OpenedCampaign, planned: Sequence[PlannedHit]) -> list[PlannedHit]:
    """Return HITs that are about to be planned with their markets and fees.

    Shares hold for the whole campaign. With `cheapest`, each posting is divided by the
    paces so far.
    """
    crowds, today = opened.campaign.crowds, opened.clock.now().date()
    if crowds is None or not planned:
        return list(planned)
    if crowds.percent:
        work = workers.work_by_market(opened.store)
        held = {market: done.planned for market, done in work.items()}
        split = Split(shares(opened.campaign, on=today), held)
    else:
        split = Split(_cheapest(opened, planned, crowds.within_seconds))
    return at_markets(opened.campaign, planned, split, on=today)


def first_hits(opened: OpenedCampaign, batch: int, item_ids: list[ItemId]) -> list[PlannedHit]:
    """Return the HITs of a batch's first round, with their markets."""
    excluded = len(item_totals.excluded(opened.store))
    today = opened.clock.now().date()
    planned = first_round(opened.campaign, batch, item_ids, on=today, excluded=excluded)
    return with_markets(opened, planned)


def _cheapest(
    opened: OpenedCampaign, planned: Sequence[PlannedHit], within_seconds: int
) -> dict[str, float]:
    campaign, now = opened.campaign, opened.clock.now()
    work = workers.work_by_market(opened.store)
    posted = [done.first_posted_at for done in work.values() if done.first_posted_at]
    elapsed = now - min(posted) if posted else timedelta()
    # Slots that are added stay where their HIT is, and are no longer to be divided.
    wanted = sum(hit.max_assignments for hit in planned if not hit.extends)
    return cheapest_in_time(
        by_cost(campaign, on=now.date()),
        {market: _pace(opened, done) for market, done in work.items()},
        wanted=max(1, wanted + _to_come(opened, planned[0].batch)),
        hours_left=(timedelta(seconds=within_seconds) - elapsed) / _HOUR,
    )


def _pace(opened: OpenedCampaign, done: MarketWork) -> Pace:
    if done.first_posted_at is None:
        return Pace(open=done.open)
    hours = (opened.clock.now() - done.first_posted_at) / _HOUR
    per_hour = done.collected / hours if hours > 0 else None
    return Pace(per_hour=per_hour, open=done.open)


def _to_come(opened: OpenedCampaign, batch: int) -> int:
    """Return the assignments of batches that are posted for the first time later."""
    if opened.campaign.growth is not None:
        return 0
    begun = {counts.batch for counts in hits.count_by_batch(opened.store)} | {batch}
    rounds = all_first_rounds(opened.campaign, on=opened.clock.now().date())
    return sum(
        hit.max_assignments
        for number, first in enumerate(rounds, start=1)
        if number not in begun
        for hit in first
    )


_LOG = logging.getLogger(__name__)


def post_until_refused(run: CampaignRun, acts: Iterable[Act]) -> None:
    """Post HITs of one market; begin no further one after a refusal.

    Refused calls are forgotten, so that the cost of their HITs is not held back from
    the caps. A call with an unknown outcome is not: the next pass looks for its HIT.

    Raises:
        PlatformRefused: the first refusal; calls under way were awaited and recorded.
        TransientPlatformError: the outcome of a call is unknown.
    """
    is_refused = Event()
    heard = (replace(act, do=_heard(act.do, is_refused)) for act in acts)
    refused = carry_out(
        run.store,
        takewhile(lambda _: not is_refused.is_set(), heard),
        clock=run.clock,
        at_once=1 if run.is_rehearsal else run.at_once,
    )
    if not refused:
        return
    # A HIT that is there nevertheless is recorded, and its intent is closed.
    record_cut_off(run)
    for act, _ in refused:
        intents.withdraw(run.store, act.intent.key)
    raise refused[0][1]


def _heard(call: Callable[[], str], is_refused: Event) -> Callable[[], str]:
    """Return a call that tells of its refusal at once, from whichever thread."""

    def do() -> str:
        try:
            return call()
        except PlatformRefused:
            is_refused.set()
            raise

    return do


def keep_refused(run: CampaignRun, refused: Mapping[str, PlatformRefused]) -> None:
    """Record which markets refused HITs in this pass, and say so.

    Args:
        run: the campaign at work.
        refused: the refusal of each market; empty if there was none.

    Raises:
        PlatformRefused: no other HIT is open, so the campaign cannot continue.
    """
    reasons = {market: str(refusal) for market, refusal in refused.items()}
    if reasons != campaign_facts.read_notes(run.store).refused_markets:
        campaign_facts.keep_note(run.store, "refused_markets", json.dumps(reasons))
    if not refused:
        return
    if not hits.uncollected(run.store):
        raise next(iter(refused.values()))
    unposted = hits.unposted(run.store)
    for market, refusal in refused.items():
        waiting = sum(hit.market == market for hit in unposted)
        _LOG.warning(
            "%s refused HITs: %s; %s planned, and the next pass tries again",
            market,
            refusal,
            f"{plural(waiting, 'HIT')} {'stays' if waiting == 1 else 'stay'}",
        )
