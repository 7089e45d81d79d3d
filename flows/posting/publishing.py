"""HITs that are on the platform and not in the store: taken in, or a reason to stop.

A pass that dies while it posts leaves intents whose HITs may be there. Who can take
them up works for money, so they are written down before anything else is posted or
stopped, whatever the caps say by then. And a store that was brought back from a copy
does not know what was posted since; that it must not post again.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from domain.errors import PlatformRefused, StoreError
from domain.hit import PlannedHit
from domain.ids import HitId, HitTypeId
from flows.campaign_run import CampaignRun
from store import hits, intents, ledger
from store.acting import carry_out
from store.intents import Act, Intent

OPERATION = "publish"
GONE = "disposed of before"
"""Outcome of an extension of a HIT that the platform has no more."""


def publish_key(hit: PlannedHit) -> str:
    """The key of the intent that posts a HIT."""
    return f"{OPERATION}:{hit.hit_key}"


def annotation(run: CampaignRun, hit: PlannedHit) -> str:
    """What a HIT is found by on the platform."""
    return f"{intents.store_name(run.store)}/{hit.hit_key}"


def extended(run: CampaignRun, extension: PlannedHit) -> PlannedHit:
    """The HIT that an extension adds slots to."""
    return hits.by_key(run.store, extension.extends or extension.hit_key)


def slots_wanted(run: CampaignRun, extension: PlannedHit) -> int:
    """How many slots that HIT has when it is extended."""
    return extended(run, extension).max_assignments + extension.max_assignments


def posted_by(annotation: str, campaign_name: str) -> str | None:
    """The name of the store that posted a HIT, if it is one of this campaign's.

    >>> posted_by("7ab1/birds.b0001.r00.000001", "birds")
    '7ab1'
    """
    hit_key = rf"{re.escape(campaign_name)}\.b\d+\.r\d+\.\d+"
    ours = re.fullmatch(rf"(.+)/{hit_key}", annotation)
    return None if ours is None else ours[1]


def recording(run: CampaignRun, hit: PlannedHit) -> Callable[[str], None]:
    """What is written, given its id, when a HIT is posted; part of a transaction."""

    def record(hit_id: str) -> None:
        key, now = publish_key(hit), run.clock.now()
        if hit.extends:
            hits.mark_extended(run.store, hit, is_open=hit_id != GONE, at=now)
        else:
            hits.mark_posted(
                run.store,
                hit.hit_key,
                # As it was posted: the title may have been reworded since.
                hit_type_id=HitTypeId(intents.argument(run.store, key, "hit_type_id")),
                hit_id=HitId(hit_id),
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


def take_in(run: CampaignRun) -> Mapping[str, HitId]:
    """Write down what was posted by a pass that died.

    Returns:
        The platform's HITs by annotation; empty where nothing had to be looked for.
    """
    begun = {
        intent.key: intent
        for intent in intents.load(run.store, OPERATION, is_done=False)
    }
    cut_off = [hit for hit in hits.unposted(run.store) if publish_key(hit) in begun]
    if not cut_off:
        return {}
    known = {}
    if any(not hit.extends for hit in cut_off):
        known = {hit.annotation: hit.hit_id for hit in run.platform.find_hits()}
    there = {
        hit.hit_key: _slots_there(run, hit)
        if hit.extends
        else known.get(annotation(run, hit))
        for hit in cut_off
    }
    acts = [
        _as_found(run, hit, begun[publish_key(hit)], hit_id)
        for hit in cut_off
        if (hit_id := there[hit.hit_key]) is not None
    ]
    carry_out(run.store, acts, clock=run.clock)
    return known


def _slots_there(run: CampaignRun, extension: PlannedHit) -> HitId | None:
    """The HIT of an extension whose call was cut off, if the slots were added."""
    hit_id = HitId(str(extended(run, extension).hit_id))
    try:
        slots = run.platform.slots(hit_id)
    except PlatformRefused as refusal:
        # Gone, or not these keys': the call itself finds out.
        if refusal.kind != "hit_unknown":
            raise
        return None
    return hit_id if slots >= slots_wanted(run, extension) else None


def refuse_posted_elsewhere(
    run: CampaignRun, due: Sequence[PlannedHit]
) -> Mapping[HitId, int]:
    """Refuse to post what is there already and this store never began.

    The newest of the platform's HITs are looked through, down to one that the store
    knows: what a newer copy of it has posted is newer still. Where HITs are to be
    extended, down to the first of those.

    Returns:
        How many slots each HIT has that was seen.

    Raises:
        StoreError: the store is older than what was posted from it.
    """
    begun = intents.begun(run.store, OPERATION)
    new = [hit for hit in due if publish_key(hit) not in begun]
    if not new:
        return {}
    named = {annotation(run, hit) for hit in new}
    extended_keys = [hit.extends for hit in new if hit.extends]
    older = (
        hits.older_than(run.store, extended_keys)
        if extended_keys
        else hits.ids(run.store)
    )
    slots = {}
    for posted in run.platform.find_hits(older=older):
        if posted.annotation in named:
            raise StoreError(
                f"{run.store.path}: HIT {posted.hit_id} is "
                f"{posted.annotation.split('/')[-1]!r} "
                "already, and this store has no note of it: it was brought back from "
                "a copy, and what was posted since would be posted and paid twice",
                next_step="bring the newest piecework.db back; without one, `piecework "
                f"status {run.campaign.path} --look` names what has to be ended",
            )
        slots[posted.hit_id] = posted.slots
    return slots


def _as_found(run: CampaignRun, hit: PlannedHit, intent: Intent, hit_id: HitId) -> Act:
    def there() -> str:
        return hit_id

    return Act(intent=intent, do=there, look=there, record=recording(run, hit))
