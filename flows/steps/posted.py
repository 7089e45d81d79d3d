"""HITs that are on the platform and not in the store: taken in, or a reason to stop.

A pass that dies while it posts leaves intents whose HITs may be there. Who can take
them up works for money, so they are written down before anything else is posted or
stopped, whatever the caps say by then. And a store that was brought back from a copy
does not know what was posted since; that it must not post again.
"""

from collections.abc import Callable, Mapping, Sequence

from domain.errors import StoreError
from domain.hit import PlannedHit
from domain.ids import HitId, HitTypeId
from flows.workplace import Workplace
from store import hits, intents, ledger
from store.acting import carry_out
from store.intents import Act, Intent

OPERATION = "publish"


def publish_key(hit: PlannedHit) -> str:
    """The key of the intent that posts a HIT."""
    return f"{OPERATION}:{hit.hit_key}"


def annotation(place: Workplace, hit: PlannedHit) -> str:
    """What a HIT is found by on the platform."""
    return f"{intents.store_name(place.store)}/{hit.hit_key}"


def recording(place: Workplace, hit: PlannedHit) -> Callable[[str], None]:
    """What is written, given its id, when a HIT is posted; part of a transaction."""

    def record(hit_id: str) -> None:
        key, now = publish_key(hit), place.clock.now()
        hits.mark_posted(
            place.store,
            hit.hit_key,
            # As it was posted: the title may have been reworded since.
            hit_type_id=HitTypeId(intents.argument(place.store, key, "hit_type_id")),
            hit_id=HitId(hit_id),
            at=now,
        )
        ledger.move(
            place.store,
            hit.cost_cents,
            credit="requester",
            debit="held",
            intent_key=key,
            at=now,
        )

    return record


def take_in(place: Workplace) -> Mapping[str, HitId]:
    """Write down what was posted by a pass that died.

    Returns:
        The platform's HITs by annotation; empty where nothing had to be looked for.
    """
    begun = {
        intent.key: intent
        for intent in intents.every(place.store, OPERATION, is_done=False)
    }
    cut_off = [hit for hit in hits.unposted(place.store) if publish_key(hit) in begun]
    if not cut_off:
        return {}
    known = dict(place.platform.find_hits())
    found = [
        _as_found(place, hit, begun[publish_key(hit)], known[annotation(place, hit)])
        for hit in cut_off
        if annotation(place, hit) in known
    ]
    carry_out(place.store, found, clock=place.clock)
    return known


def refuse_posted_elsewhere(place: Workplace, due: Sequence[PlannedHit]) -> None:
    """Refuse to post what is there already and this store never began.

    The newest of the platform's HITs are looked through, down to one that the store
    knows: what a newer copy of it has posted is newer still.

    Raises:
        StoreError: the store is older than what was posted from it.
    """
    begun = intents.begun(place.store, OPERATION)
    new = {annotation(place, hit) for hit in due if publish_key(hit) not in begun}
    if not new:
        return
    mine = frozenset(hit.hit_id for hit in hits.every(place.store) if hit.hit_id)
    for named, hit_id in place.platform.find_hits(older=mine):
        if named in new:
            raise StoreError(
                f"{place.store.path}: HIT {hit_id} is {named.split('/')[-1]!r} "
                "already, and this store has no note of it: it was brought back from "
                "a copy, and what was posted since would be posted and paid twice",
                next_step="bring the newest piecework.db back; without one, `piecework "
                f"status {place.campaign.path} --look` names what has to be ended",
            )


def _as_found(place: Workplace, hit: PlannedHit, intent: Intent, hit_id: HitId) -> Act:
    def there() -> str:
        return hit_id

    return Act(intent=intent, do=there, look=there, record=recording(place, hit))
