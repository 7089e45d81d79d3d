"""Wind a stopped campaign down: nobody takes its HITs any more, and nothing is posted.

What was sent, and what a worker holds and still sends, is collected, judged and paid
by the passes that follow, as if nothing had happened.
"""

from collections.abc import Callable
from datetime import timedelta

from domain.errors import PlatformRefused, TransientPlatformError
from domain.hit import PlannedHit
from domain.ids import HitId
from flows.workplace import Workplace
from store import hits, intents, stops
from store.acting import carry_out
from store.intents import Act, Intent

Find = Callable[[str], HitId | None]
Publishing = Callable[[PlannedHit, Find], Act]

BY_A_PERSON = "piecework stop"
LONGEST_LAG = timedelta(minutes=2)
"""A HIT that is in no list so long after its call was begun was never posted; MTurk's
lists are seconds behind."""


def is_stopped(place: Workplace) -> bool:
    """Whether a person has stopped the campaign."""
    return stops.stopped_at(place.store) is not None


def is_winding_down(place: Workplace) -> bool:
    """Whether a stopped campaign still has HITs to expire, or plans to give up."""
    return bool(_live(place) or hits.unposted(place.store))


def wind_down(place: Workplace, publishing: Publishing) -> int:
    """Expire what is live and give up what was never posted; how many were expired.

    Args:
        place: the campaign's.
        publishing: the act that posts a planned HIT, given what finds a posted one; it
            is asked for only if the HIT was found.

    Raises:
        PlatformRefused: naming the HITs that could not be expired; all others were.
        TransientPlatformError: nobody can tell yet whether a HIT was posted.
    """
    expired = _expire(place)
    unsure = _give_up_unposted(place, publishing)
    expired += _expire(place)
    if unsure:
        raise TransientPlatformError(
            f"{unsure[0].hit_key}: the call that posts it was cut off less than "
            f"{LONGEST_LAG.seconds // 60} minutes ago, and it is in no list yet",
            next_step=f"piecework stop {place.campaign.path}, in a few minutes",
        )
    return expired


def _live(place: Workplace) -> list[PlannedHit]:
    expired = intents.done(place.store, "expire")
    return [
        hit
        for hit in hits.uncollected(place.store)
        if f"expire:{hit.hit_key}" not in expired
    ]


def _expire(place: Workplace) -> int:
    live = _live(place)
    refused = carry_out(
        place.store,
        (_expiring(place, hit) for hit in live),
        clock=place.clock,
        at_once=place.at_once,
    )
    if refused:
        _, why = refused[0]
        named = ", ".join(str(act.intent.arguments["hit_id"]) for act, _ in refused)
        raise PlatformRefused(
            f"{len(refused)} of {len(live)} HITs could not be expired ({named}): {why}",
            code=why.code,
            next_step=f"piecework stop {place.campaign.path}",
        )
    return len(live)


def _expiring(place: Workplace, hit: PlannedHit) -> Act:
    hit_id = HitId(str(hit.hit_id))

    def do() -> str:
        place.platform.expire(hit_id)
        return "done"

    return Act(
        intent=Intent(
            key=f"expire:{hit.hit_key}",
            operation="expire",
            arguments={"hit_id": hit_id},
        ),
        do=do,
        # To expire twice is to expire once, so nothing needs to be looked up.
        look=lambda: None,
        record=lambda _outcome: None,
    )


def _give_up_unposted(place: Workplace, publishing: Publishing) -> list[PlannedHit]:
    """Forget plans; those whose posting was cut off are looked for first.

    Returns:
        HITs of which nobody can tell yet whether they were posted.
    """
    begun = intents.begun(place.store, "publish")
    unposted = hits.unposted(place.store)
    cut_off = [hit for hit in unposted if f"publish:{hit.hit_key}" in begun]
    never = [hit for hit in unposted if hit not in cut_off]
    unsure = []
    if cut_off:
        known = dict(place.platform.find_hits())
        name, now = intents.store_name(place.store), place.clock.now()
        for hit in cut_off:
            if f"{name}/{hit.hit_key}" in known:
                act = publishing(hit, known.get)
                carry_out(place.store, [act], clock=place.clock)
            elif now - begun[f"publish:{hit.hit_key}"] > LONGEST_LAG:
                never.append(hit)
            else:
                unsure.append(hit)
    hits.give_up(place.store, [hit.hit_key for hit in never])
    return unsure
