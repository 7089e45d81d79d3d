"""Wind down a stopped campaign: its HITs expire, and no more are posted.

The following passes collect, judge and pay submitted work as usual, including work that
a worker holds now and submits later.
"""

from collections.abc import Sequence

from piecework.campaign.opened import CampaignRun
from piecework.domain.errors import PlatformRefused, TransientPlatformError
from piecework.domain.hit import PlannedHit
from piecework.domain.ids import HitId
from piecework.engine.posting.closing import close_gone
from piecework.engine.posting.hit_status import status_of
from piecework.engine.posting.publishing import LONGEST_LAG, OPERATION, publish_key, take_in
from piecework.store import dealt_items, hits, intents, stops
from piecework.store.acting import Refusal, carry_out
from piecework.store.database import Store
from piecework.store.intents import Act, Intent
from piecework.store.settlements import DONE

_GONE = "disposed of before"


def is_stopped(store: Store) -> bool:
    """Return whether a person has stopped the campaign."""
    return stops.stopped_at(store) is not None


def is_winding_down(store: Store) -> bool:
    """Return whether a stopped campaign still has HITs to expire or plans to drop."""
    return bool(_live(store) or hits.unposted(store))


def wind_down(run: CampaignRun) -> int:
    """Expire live HITs and drop unposted plans; return how many HITs were expired.

    Raises:
        PlatformRefused: it names the HITs that could not be expired; all others were.
        TransientPlatformError: it is not known yet whether a HIT was posted.
    """
    take_in(run)
    unsure = _give_up_unposted(run)
    expired, refused = _expire(run, _live(run.store))
    if refused:
        raise _not_expired(run, refused, of=expired + len(refused))
    if unsure:
        raise TransientPlatformError(
            f"{unsure[0].hit_key}: the call to post this HIT was cut off less than "
            f"{LONGEST_LAG.seconds // 60} minutes ago, and no list shows it yet",
            next_step=f"piecework stop {run.campaign.path}, in a few minutes",
        )
    return expired


def shows_withdrawn(store: Store) -> bool:
    """Return whether a live or planned HIT shows an item whose row is gone."""
    keys = dealt_items.hits_of_closed(store)
    return bool(keys) and (
        any(hit.hit_key in keys for hit in _live(store))
        or any(hit.hit_key in keys for hit in hits.unposted(store))
    )


def end_withdrawn(run: CampaignRun) -> int:
    """Expire these HITs and drop such plans; return how many HITs were expired.

    Other items of such a HIT are asked again in the next round.

    Raises:
        PlatformRefused: it names the HITs that could not be expired; all others were.
    """
    take_in(run)
    keys, lately = dealt_items.hits_of_closed(run.store), run.clock.now() - LONGEST_LAG
    begun = intents.begun(run.store, OPERATION)
    hits.give_up(
        run.store,
        [
            hit.hit_key
            for hit in hits.unposted(run.store)
            if hit.hit_key in keys and begun.get(publish_key(hit), lately) <= lately
        ],
    )
    live = [hit for hit in _live(run.store) if hit.hit_key in keys]
    expired, refused = _expire(run, live)
    if refused:
        raise _not_expired(run, refused, of=expired + len(refused))
    return expired


def _live(store: Store) -> list[PlannedHit]:
    expired = intents.done(store, "expire")
    return [hit for hit in hits.uncollected(store) if f"expire:{hit.hit_key}" not in expired]


def _expire(run: CampaignRun, live: Sequence[PlannedHit]) -> tuple[int, list[Refusal]]:
    """Expire live HITs; return how many were expired, and what was refused."""
    refused = carry_out(
        run.store, (_expiring(run, hit) for hit in live), clock=run.clock, at_once=run.at_once
    )
    return len(live) - len(refused), refused


def _not_expired(run: CampaignRun, refused: Sequence[Refusal], *, of: int) -> PlatformRefused:
    named = ", ".join(str(act.intent.arguments["hit_id"]) for act, _ in refused)
    why = refused[0][1]
    return PlatformRefused(
        f"{len(refused)} of {of} HITs could not be expired ({named}): {why}",
        code=why.code,
        kind=why.kind,
        next_step=f"piecework stop {run.campaign.path}",
    )


def _expiring(run: CampaignRun, hit: PlannedHit) -> Act:
    hit_id = HitId(str(hit.hit_id))

    def do() -> str:
        try:
            run.platform.expire(hit_id)
        except PlatformRefused:
            if status_of(run, hit) != "Disposed":
                raise
            return _GONE
        return DONE

    def record(outcome: str) -> None:
        if outcome == _GONE:
            close_gone(run, hit)

    return Act(
        intent=Intent(
            key=f"expire:{hit.hit_key}",
            operation="expire",
            subject=("hit", hit.hit_key),
            arguments={"hit_id": hit_id},
        ),
        do=do,
        # Expiring twice has no further effect, so no look-up is needed.
        look=lambda: None,
        record=record,
    )


def _give_up_unposted(run: CampaignRun) -> list[PlannedHit]:
    """Drop plans that are known not to be posted.

    Returns:
        HITs that may have been posted.
    """
    begun = intents.begun(run.store, OPERATION)
    unposted, lately = hits.unposted(run.store), run.clock.now() - LONGEST_LAG
    unsure = [hit for hit in unposted if begun.get(publish_key(hit), lately) > lately]
    never = [hit.hit_key for hit in unposted if hit not in unsure]
    hits.give_up(run.store, never)
    return unsure
