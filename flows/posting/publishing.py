"""HITs that are on the platform and not in the store: taken in, or a reason to stop.

A pass that dies while it posts leaves intents whose HITs may be there. Who can take
them up works for money, so they are written down before anything else is posted or
stopped, whatever the caps say by then. And a store that was brought back from a copy
does not know what was posted since; that it must not post again.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from domain.errors import StoreError
from domain.hit import PlannedHit
from domain.ids import HitId, HitTypeId
from flows.campaign_run import CampaignRun
from store import hits, intents, ledger
from store.acting import carry_out
from store.intents import Act, Intent

OPERATION = "publish"


def publish_key(hit: PlannedHit) -> str:
    """The key of the intent that posts a HIT."""
    return f"{OPERATION}:{hit.hit_key}"


def annotation(run: CampaignRun, hit: PlannedHit) -> str:
    """What a HIT is found by on the platform."""
    return f"{intents.store_name(run.store)}/{hit.hit_key}"


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
        hits.mark_posted(
            run.store,
            hit.hit_key,
            # As it was posted: the title may have been reworded since.
            hit_type_id=HitTypeId(intents.argument(run.store, key, "hit_type_id")),
            hit_id=HitId(hit_id),
            at=now,
        )
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
    known = dict(run.platform.find_hits())
    acts = [
        _as_found(run, hit, begun[publish_key(hit)], known[annotation(run, hit)])
        for hit in cut_off
        if annotation(run, hit) in known
    ]
    carry_out(run.store, acts, clock=run.clock)
    return known


def refuse_posted_elsewhere(run: CampaignRun, due: Sequence[PlannedHit]) -> None:
    """Refuse to post what is there already and this store never began.

    The newest of the platform's HITs are looked through, down to one that the store
    knows: what a newer copy of it has posted is newer still.

    Raises:
        StoreError: the store is older than what was posted from it.
    """
    begun = intents.begun(run.store, OPERATION)
    new = {annotation(run, hit) for hit in due if publish_key(hit) not in begun}
    if not new:
        return
    mine = hits.ids(run.store)
    for named, hit_id in run.platform.find_hits(older=mine):
        if named in new:
            raise StoreError(
                f"{run.store.path}: HIT {hit_id} is {named.split('/')[-1]!r} "
                "already, and this store has no note of it: it was brought back from "
                "a copy, and what was posted since would be posted and paid twice",
                next_step="bring the newest piecework.db back; without one, `piecework "
                f"status {run.campaign.path} --look` names what has to be ended",
            )


def _as_found(run: CampaignRun, hit: PlannedHit, intent: Intent, hit_id: HitId) -> Act:
    def there() -> str:
        return hit_id

    return Act(intent=intent, do=there, look=there, record=recording(run, hit))
