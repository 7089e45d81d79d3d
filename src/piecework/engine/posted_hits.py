"""HITs that were posted: how they are named, found, and spread over several markets.

A planned HIT gets its market by the shares of the campaign file, or by what the store
knows of each market's work. A market that refuses HITs does not keep the others from
theirs.

A pass that dies while it posts leaves intents, and their HITs may be on the platform.
Workers can take them and earn money. So they are recorded before any other HIT is
posted or stopped, even if a cap has changed. A store that was restored from a copy does
not know what was posted since, and must not post it again.
"""

import json
import logging
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import takewhile

from piecework.campaign.dealing import all_first_rounds, first_round
from piecework.campaign.market_shares import (
    MarketSplit,
    Pace,
    at_markets,
    by_cost,
    cheapest_in_time,
    shares,
)
from piecework.campaign.opened import CampaignRun, OpenedCampaign
from piecework.domain.clock import wall_time
from piecework.domain.errors import PlatformRefused, StoreError
from piecework.domain.hit import HitStatus, PlannedHit
from piecework.domain.ids import HitId, HitKey, HitTypeId, ItemId
from piecework.domain.text import plural, shell_word
from piecework.store import assignments, campaign_facts, hits, intents, item_totals, ledger, workers
from piecework.store.database import Store
from piecework.store.intents import Act, Intent, carry_out
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
        split = MarketSplit(shares(opened.campaign, on=today), held)
    else:
        split = MarketSplit(_cheapest(opened, planned, crowds.within_seconds))
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
    """Post HITs; begin no further one after a refusal.

    Refused calls are forgotten, so that the cost of their HITs is not held back from
    the caps. A call with an unknown outcome is not: the next pass looks for its HIT.

    Raises:
        PlatformRefused: the first refusal; calls under way were awaited and recorded.
        TransientPlatformError: the outcome of a call is unknown.
    """
    refusals: list[PlatformRefused] = []
    heard = (replace(act, do=_heard(act.do, refusals)) for act in acts)
    refused = carry_out(
        run.store,
        takewhile(lambda _: not refusals, heard),
        clock=run.clock,
        most_calls=1 if run.is_rehearsal else run.most_calls,
    )
    if not refused:
        return
    # A HIT that is there nevertheless is recorded, and its intent is closed.
    record_cut_off(run)
    for act, _ in refused:
        intents.withdraw(run.store, act.intent.key)
    raise refused[0][1]


def _heard(call: Callable[[], str], refusals: list[PlatformRefused]) -> Callable[[], str]:
    """Return a call that is not made after a refusal, and tells of its own at once."""

    def do() -> str:
        if refusals:
            raise refusals[0]
        try:
            return call()
        except PlatformRefused as refusal:
            refusals.append(refusal)
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


PUBLISH = "publish"
_LONGEST_ANNOTATION = 255
"""Length limit of a `RequesterAnnotation`, in characters (MTurk's API reference)."""
LONGEST_LAG = timedelta(minutes=2)
"""A HIT that is still in no list this long after its call began was never posted;
MTurk's lists lag by seconds."""
GONE = "disposed of before"
"""Outcome of extending a HIT that the platform no longer has."""


def publish_key(hit: PlannedHit) -> str:
    """Return the key of the intent that posts a HIT."""
    return f"{PUBLISH}:{hit.hit_key}"


def may_be_posted(run: CampaignRun, hit: PlannedHit, begun: Mapping[str, datetime]) -> bool:
    """Return whether a call to post a HIT began so lately that no list need show it.

    Args:
        run: the campaign at work.
        hit: a HIT that `record_cut_off` has looked for in vain.
        begun: when calls without an outcome were begun, by intent.
    """
    made_at = begun.get(publish_key(hit))
    return made_at is not None and made_at > wall_time(run.clock) - LONGEST_LAG


def annotation(run: CampaignRun, hit: PlannedHit, store_name: str) -> str:
    """Return what identifies a HIT there: `<store name>/<hit key>`, and its items.

    The items of a first round follow from the campaign, unless they grow. Later rounds
    depend on the answers. So they name their items (`piecework.domain.ids`) if
    there is room: a store that was restored from an older copy reads them from there.
    """
    name = f"{store_name}/{hit.hit_key}"
    if hit.round == 0 and run.campaign.growth is None:
        return name
    whole = f"{name}/{run.item_numbers().to_text(hit.item_ids)}"
    return whole if len(whole) <= _LONGEST_ANNOTATION else name


def live_hits(store: Store) -> list[PlannedHit]:
    """Return posted HITs whose answers are not all here, without those that were expired."""
    expired = intents.done(store, "expire")
    return [hit for hit in hits.uncollected(store) if f"expire:{hit.hit_key}" not in expired]


def extended(run: CampaignRun, extension: PlannedHit) -> PlannedHit:
    """Return the HIT that an extension adds slots to."""
    return hits.by_key(run.store, extension.extends or extension.hit_key)


def slots_wanted(hit: PlannedHit, extension: PlannedHit) -> int:
    """Return how many slots a HIT has once it is extended."""
    return hit.max_assignments + extension.max_assignments


@dataclass(frozen=True, slots=True, kw_only=True)
class PostedAs:
    """The contents of the annotation of a HIT that piecework posted.

    Attributes:
        store: name of the store that posted it.
        item_numbers: as in `annotation`; "": it does not name its items.
    """

    store: str
    hit_key: HitKey
    batch: int
    round: int
    item_numbers: str


def posted_as(annotation: str, campaign_name: str) -> PostedAs | None:
    """Read the annotation of a HIT; `None` if it is not of a campaign of this name.

    >>> posted_as("7ab1/birds.b0001.r00.000001", "birds").store
    '7ab1'
    """
    ours = re.fullmatch(
        rf"(.+?)/({re.escape(campaign_name)}\.b(\d+)\.r(\d+)\.\d+)(?:/([0-9a-z.]+))?", annotation
    )
    if ours is None:
        return None
    return PostedAs(
        store=ours[1],
        hit_key=HitKey(ours[2]),
        batch=int(ours[3]),
        round=int(ours[4]),
        item_numbers=ours[5] or "",
    )


def recording(run: CampaignRun, hit: PlannedHit) -> Callable[[str], None]:
    """Return what records a posted HIT, given its id; part of a transaction."""

    def record(hit_id: str) -> None:
        key, now = publish_key(hit), run.clock.now()
        if hit.extends:
            hits.mark_extended(run.store, hit, is_open=hit_id != GONE, at=now)
        else:
            # As it was posted: the campaign file may have changed since.
            posted = intents.arguments(run.store, key)
            hits.mark_posted(
                run.store,
                hit.hit_key,
                hit_type_id=HitTypeId(str(posted["hit_type_id"])),
                hit_id=HitId(hit_id),
                lifetime_seconds=int(posted["lifetime_seconds"]),
                duration_seconds=int(posted["duration_seconds"]),
                auto_approval_seconds=int(posted["auto_approval_seconds"]),
                at=now,
            )
        if hit_id == GONE:
            return
        ledger.move(
            run.store,
            hit.cost_cents,
            credit="requester",
            debit="held",
            intent_key=key,
            batch=hit.batch,
            at=now,
        )

    return record


def record_cut_off(run: CampaignRun) -> None:
    """Record what was posted by a pass that died, and forget calls that were in vain.

    So what they would cost is not held back from the caps. Calls that a clock dated
    after now count from now on (`may_be_posted`).
    """
    begun = {
        intent.key: intent for intent in intents.load_intents(run.store, PUBLISH, is_done=False)
    }
    if not begun:
        return
    intents.redate_later(run.store, PUBLISH, wall_time(run.clock))
    cut_off = [hit for hit in hits.unposted(run.store) if publish_key(hit) in begun]
    known, name = {}, intents.store_name(run.store)
    if any(not hit.extends for hit in cut_off):
        known = {hit.annotation: hit.hit_id for hit in run.platform.find_hits()}
    there = {
        hit.hit_key: slots_there(run, hit) if hit.extends else known.get(annotation(run, hit, name))
        for hit in cut_off
    }
    acts = [
        _act_of_posted_hit(run, hit, begun[publish_key(hit)], hit_id)
        for hit in cut_off
        if (hit_id := there[hit.hit_key]) is not None
    ]
    carry_out(run.store, acts, clock=run.clock)
    calls = intents.begun(run.store, PUBLISH)
    for hit in cut_off:
        if publish_key(hit) in calls and not may_be_posted(run, hit, calls):
            intents.withdraw(run.store, publish_key(hit))


def slots_there(run: CampaignRun, extension: PlannedHit) -> HitId | None:
    """Return the HIT of an extension, if it has the slots on the platform already."""
    hit = extended(run, extension)
    hit_id = HitId(str(hit.hit_id))
    try:
        slots = run.platform.slots(hit_id)
    except PlatformRefused as refusal:
        # It is gone, or the keys are wrong: the call itself finds out.
        if refusal.kind != "hit_unknown":
            raise
        return None
    return hit_id if slots >= slots_wanted(hit, extension) else None


def refuse_posted_elsewhere(
    run: CampaignRun, due: Sequence[PlannedHit], begun: Collection[str], name: str
) -> Mapping[HitId, int]:
    """Refuse to post what is on the platform already and this store never began.

    It checks the platform's newest HITs, down to one that the store knows: what a newer
    copy of the store has posted is newer than that. If HITs are to be extended, it
    checks down to the oldest of those.

    Args:
        run: the campaign at work.
        due: the HITs to post.
        begun: keys of the intents to post that this store has without an outcome.
        name: the store's name.

    Returns:
        The number of slots of each HIT that was seen.

    Raises:
        StoreError: the store is older than what was posted from it.
    """
    new = [hit for hit in due if publish_key(hit) not in begun]
    if not new:
        return {}
    keys = {hit.hit_key for hit in new}
    extended_keys = [hit.extends for hit in new if hit.extends]
    older = hits.older_than(run.store, extended_keys) if extended_keys else hits.ids(run.store)
    slots = {}
    for posted in run.platform.find_hits(older=older):
        known = posted_as(posted.annotation, run.campaign.name)
        if known is not None and known.store == name and known.hit_key in keys:
            raise StoreError(
                f"{run.store.address}: HIT {posted.hit_id} is {known.hit_key!r} "
                "already, and this store has no record of it: the store was restored "
                "from a copy, and would post and pay again what was posted since",
                next_step="restore the newest piecework.db; without one, `piecework "
                f"store reconcile {shell_word(run.campaign.path)}` adopts what was posted since",
            )
        slots[posted.hit_id] = posted.slots
    return slots


def _act_of_posted_hit(run: CampaignRun, hit: PlannedHit, intent: Intent, hit_id: HitId) -> Act:
    def there() -> str:
        return hit_id

    return Act(intent=intent, do=there, look=there, record=recording(run, hit))


_LISTING_LAG = timedelta(hours=1)
"""How long a listing may take to show that a HIT is over."""

_KEPT_THERE = timedelta(days=120)
"""How long a platform keeps a HIT that is over."""


def must_be_over(run: CampaignRun, hit: PlannedHit, *, since: timedelta = _LISTING_LAG) -> bool:
    """Return whether a HIT's times, as posted, mean that no worker can be at work."""
    times = timedelta(seconds=hit.lifetime_seconds + hit.duration_seconds)
    latest = run.clock.now() - times - since
    return hit.posted_at is not None and hit.posted_at < latest


def status_of(run: CampaignRun, hit: PlannedHit) -> HitStatus:
    """Return the platform's status of a HIT; `Disposed` if it was deleted long ago.

    Raises:
        PlatformRefused: it does not know the HIT, and cannot have deleted it yet.
    """
    hit_id = HitId(str(hit.hit_id))
    try:
        return run.platform.hit_status(hit_id)
    except PlatformRefused as refusal:
        if refusal.kind != "hit_unknown":
            raise
        if must_be_over(run, hit, since=_KEPT_THERE):
            return "Disposed"
        # With another requester's keys every HIT of ours is unknown, and still live.
        raise PlatformRefused(
            f"the marketplace does not know HIT {hit_id}, which this campaign posted: "
            "the keys are another requester's, or the marketplace has lost its data",
            code=refusal.code,
            kind=refusal.kind,
            next_step="check AWS_ACCESS_KEY_ID; then run the same command again",
        ) from refusal


def close_gone(run: CampaignRun, hit: PlannedHit) -> None:
    """Close a HIT that the platform no longer has, with the assignments stored."""
    hit_id = HitId(str(hit.hit_id))
    have = assignments.count_by_hit(run.store, [hit_id]).get(hit_id, 0)
    with run.store.db.atomic():
        close_hits(run, {hit: have})


def close_hits(run: CampaignRun, arrived: Mapping[PlannedHit, int]) -> None:
    """Close HITs, each with its number of assignments; part of the caller's transaction.

    Slots that no worker filled before they expired are free.
    """
    closed = [HitId(str(hit.hit_id)) for hit in arrived]
    hits.mark_collected(run.store, *closed, at=run.clock.now())
    for hit, number in arrived.items():
        # More may have arrived: money for slots added by hand is held when they are filled.
        unused = max(hit.max_assignments - number, 0)
        _book_slots(run, hit, unused, credit="held", debit="requester")


def hold_added_slots(run: CampaignRun, hit: PlannedHit, arrived: int, *, known: int) -> None:
    """Hold money for slots that were added by hand; part of the caller's transaction.

    They cost the same as others. They were added without a check of the caps; from now
    on they count against every cap.

    Args:
        run: the campaign at work.
        hit: as it was posted.
        arrived: how many assignments it now has on the platform.
        known: how many the store had before.
    """
    added = max(arrived - max(known, hit.max_assignments), 0)
    _book_slots(run, hit, added, credit="requester", debit="held")


def _book_slots(
    run: CampaignRun, hit: PlannedHit, slots: int, *, credit: ledger.Account, debit: ledger.Account
) -> None:
    ledger.move(
        run.store,
        slots * (hit.reward_cents + hit.fee_cents),
        credit=credit,
        debit=debit,
        intent_key=publish_key(hit),
        batch=hit.batch,
        at=run.clock.now(),
    )
