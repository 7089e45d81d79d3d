"""HITs that are on the platform: named, recorded, looked for, and closed.

A pass that dies while it posts leaves intents, and their HITs may be on the platform.
Workers can take them and earn money. So they are recorded before any other HIT is
posted or stopped, even if a cap has changed. A store that was restored from a copy does
not know what was posted since, and must not post it again.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from piecework.campaign.opened import CampaignRun
from piecework.domain.errors import PlatformRefused, StoreError
from piecework.domain.hit import HitStatus, PlannedHit
from piecework.domain.ids import HitId, HitKey, HitTypeId
from piecework.store import assignments, hits, intents, ledger
from piecework.store.acting import carry_out
from piecework.store.database import Store
from piecework.store.intents import Act, Intent

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


def record_cut_off(run: CampaignRun) -> Mapping[str, HitId]:
    """Record what was posted by a pass that died.

    Returns:
        The platform's HITs by annotation; empty if no call was cut off.
    """
    begun = {intent.key: intent for intent in intents.load(run.store, PUBLISH, is_done=False)}
    if not begun:
        return {}
    cut_off = [hit for hit in hits.unposted(run.store) if publish_key(hit) in begun]
    known, name = {}, intents.store_name(run.store)
    if any(not hit.extends for hit in cut_off):
        known = {hit.annotation: hit.hit_id for hit in run.platform.find_hits()}
    there = {
        hit.hit_key: _slots_there(run, hit)
        if hit.extends
        else known.get(annotation(run, hit, name))
        for hit in cut_off
    }
    acts = [
        _act_of_posted_hit(run, hit, begun[publish_key(hit)], hit_id)
        for hit in cut_off
        if (hit_id := there[hit.hit_key]) is not None
    ]
    carry_out(run.store, acts, clock=run.clock)
    return known


def _slots_there(run: CampaignRun, extension: PlannedHit) -> HitId | None:
    """Return the HIT of an extension with a cut-off call, if the slots were added."""
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
                f"store reconcile {run.campaign.path}` adopts what was posted since",
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
    posting = run.campaign.posting
    seconds = posting.lifetime_seconds + posting.assignment_duration_seconds
    latest = run.clock.now() - timedelta(seconds=seconds) - since
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
