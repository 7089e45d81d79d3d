"""Replacements: only workers who have not answered the same items may do them.

A HIT that lost whole assignments gets more slots, and no worker gets the same HIT
twice. Partly lost assignments are replaced by new HITs. If the marketplace can, it
keeps these apart from all HITs that show one of their items. Otherwise workers who have
answered one of the items get a qualification, and the new HITs require its absence.
"""

from collections.abc import Callable
from datetime import timedelta

from piecework.campaign.opened import CampaignRun
from piecework.domain.errors import PlatformRefused
from piecework.domain.hit import PlannedHit
from piecework.domain.ids import HitId, QualificationTypeId
from piecework.engine.posting.hit_status import status_of
from piecework.engine.posting.publishing import GONE, extended, slots_wanted
from piecework.store import assignments, hits, intents, platform_types
from piecework.store.settlements import NOTHING_TO_KEEP_OUT_OF

_LEAST_LIFE = 0.5
"""Share of a HIT's lifetime that must be left for slots to be added to it."""


def extendable(run: CampaignRun, batch: int) -> list[PlannedHit]:
    """Return HITs of a batch that may get more slots, in the order of their plan.

    The list is empty if excluded workers are not kept out: someone deleted the
    qualification type, and such a worker could still take the HIT.
    """
    if intents.has_outcome(run.store, "exclude", NOTHING_TO_KEEP_OUT_OF):
        return []
    life = timedelta(seconds=(1 - _LEAST_LIFE) * run.campaign.posting.lifetime_seconds)
    filled = hits.filled(run.store, batch, posted_after=run.clock.now() - life)
    if run.platform.keeps_apart():
        return filled
    # Workers who answered one of its items in another HIT would not be kept out.
    return [hit for hit in filled if _showing(run, hit) == [hit.hit_id]]


def apart_from(run: CampaignRun, hit: PlannedHit) -> list[HitId]:
    """Return the HITs from which a HIT is kept apart, if the marketplace can do it."""
    if hit.round == 0 or not run.platform.keeps_apart():
        return []
    return _showing(run, hit)


def keep_out(run: CampaignRun, hit: PlannedHit) -> QualificationTypeId | None:
    """Return a qualification held by all who answered an item of a HIT, if needed.

    All its calls can be repeated safely, so they need no intent.
    """
    if hit.round == 0 or hit.extends or run.platform.keeps_apart():
        return None
    known = platform_types.get(run.store, "answered", hit.hit_key)
    if known is not None:
        return QualificationTypeId(known)
    made = run.platform.exclusion(
        f"piecework: answered {intents.store_name(run.store)}/{hit.hit_key}",
        "Held by workers who have answered what a HIT asks for.",
    )
    for worker_id in assignments.workers_of_items(run.store, hit.item_ids):
        run.platform.exclude(worker_id, made)
    platform_types.keep(run.store, "answered", made, subject=hit.hit_key)
    return made


def extending(
    run: CampaignRun, extension: PlannedHit, *, slots: int | None, token: str
) -> Callable[[], str]:
    """Return the call that adds slots to a HIT; its outcome is the HIT's id or `GONE`.

    Args:
        run: the campaign at work.
        extension: as it was planned.
        slots: how many the HIT has by this pass's listing, if it was listed.
        token: the token of the call.
    """
    hit = extended(run, extension)
    hit_id, wanted = HitId(str(hit.hit_id)), slots_wanted(run, extension)

    def do() -> str:
        # Added by hand or by a newer copy of the store: there are enough already.
        if slots is not None and slots >= wanted:
            return hit_id
        try:
            run.platform.extend(hit_id, more=extension.max_assignments, slots=wanted, token=token)
        except PlatformRefused:
            if status_of(run, hit) != "Disposed":
                raise
            return GONE
        return hit_id

    return do


def _showing(run: CampaignRun, hit: PlannedHit) -> list[HitId]:
    return hits.showing(run.store, hit.item_ids, batch=hit.batch)
