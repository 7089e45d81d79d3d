"""Wind down a stopped campaign: its live HITs expire, and its planned ones are dropped.

In a campaign that grows, the same is done to HITs with a row that was withdrawn or
replaced. The following passes collect, judge and pay submitted work as usual, including
work that a worker holds now and submits later.
"""

from collections.abc import Sequence

from piecework.campaign.opened import CampaignRun
from piecework.domain.errors import PlatformRefused, TransientPlatformError
from piecework.domain.hit import PlannedHit
from piecework.domain.ids import HitId
from piecework.domain.text import shell_word
from piecework.engine.posted_hits import (
    LONGEST_LAG,
    PUBLISH,
    close_gone,
    live_hits,
    may_be_posted,
    record_cut_off,
    status_of,
)
from piecework.engine.snapshot import Reader, Step
from piecework.store import campaign_facts, dealt_items, hits, intents
from piecework.store.database import Store
from piecework.store.intents import Act, Intent, Refusal, carry_out
from piecework.store.settlements import DONE


def due(reader: Reader) -> bool:
    """Return whether there are HITs to expire or plans to drop."""
    snapshot = reader.snapshot()
    if snapshot.stopped:
        return snapshot.winding_down
    return snapshot.growing is not None and shows_withdrawn(reader.opened.store)


def act(run: CampaignRun, _due: bool) -> int:  # noqa: FBT001 - the value of `due`
    """End these HITs; return how many were expired."""
    if campaign_facts.stopped_at(run.store) is not None:
        return end_all(run)
    return end_withdrawn(run)


wind_down = Step("wind down", due, act)


_GONE = "disposed of before"


def end_all(run: CampaignRun) -> int:
    """Expire live HITs and drop unposted plans; return how many HITs were expired.

    Raises:
        PlatformRefused: it names the HITs that could not be expired; all others were.
        TransientPlatformError: it is not known yet whether a HIT was posted.
    """
    record_cut_off(run)
    unsure = _give_up_unposted(run)
    expired, refused = _expire(run, live_hits(run.store))
    if refused:
        raise _not_expired(run, refused, of=expired + len(refused))
    if unsure:
        raise TransientPlatformError(
            f"{unsure[0].hit_key}: the call to post this HIT was cut off less than "
            f"{LONGEST_LAG.seconds // 60} minutes ago, and no list shows it yet",
            next_step=f"piecework stop {shell_word(run.campaign.path)}, in a few minutes",
        )
    return expired


def shows_withdrawn(store: Store) -> bool:
    """Return whether a live or planned HIT shows an item whose row is gone."""
    keys = dealt_items.hits_of_closed(store)
    return bool(keys) and (
        any(hit.hit_key in keys for hit in live_hits(store))
        or any(hit.hit_key in keys for hit in hits.unposted(store))
    )


def end_withdrawn(run: CampaignRun) -> int:
    """Expire these HITs and drop such plans; return how many HITs were expired.

    Other items of such a HIT are asked again in the next round.

    Raises:
        PlatformRefused: it names the HITs that could not be expired; all others were.
    """
    record_cut_off(run)
    keys = dealt_items.hits_of_closed(run.store)
    begun = intents.begun(run.store, PUBLISH)
    hits.give_up(
        run.store,
        [
            hit.hit_key
            for hit in hits.unposted(run.store)
            if hit.hit_key in keys and not may_be_posted(run, hit, begun)
        ],
    )
    live = [hit for hit in live_hits(run.store) if hit.hit_key in keys]
    expired, refused = _expire(run, live)
    if refused:
        raise _not_expired(run, refused, of=expired + len(refused))
    return expired


def _expire(run: CampaignRun, live: Sequence[PlannedHit]) -> tuple[int, list[Refusal]]:
    """Expire live HITs; return how many were expired, and what was refused."""
    refused = carry_out(
        run.store, (_expiring(run, hit) for hit in live), clock=run.clock, most_calls=run.most_calls
    )
    return len(live) - len(refused), refused


def _not_expired(run: CampaignRun, refused: Sequence[Refusal], *, of: int) -> PlatformRefused:
    named = ", ".join(str(act.intent.arguments["hit_id"]) for act, _ in refused)
    why = refused[0][1]
    return PlatformRefused(
        f"{len(refused)} of {of} HITs could not be expired ({named}): {why}",
        code=why.code,
        kind=why.kind,
        next_step=f"piecework stop {shell_word(run.campaign.path)}",
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
    begun = intents.begun(run.store, PUBLISH)
    unposted = hits.unposted(run.store)
    unsure = [hit for hit in unposted if may_be_posted(run, hit, begun)]
    never = [hit.hit_key for hit in unposted if hit not in unsure]
    hits.give_up(run.store, never)
    return unsure
