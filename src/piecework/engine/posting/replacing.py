"""Who may do what is posted again: workers who have not answered the same items.

A HIT that lost whole assignments gets slots more, and no worker gets a HIT twice. What
was lost in part is posted in HITs of its own. Where the marketplace can, these are kept
apart from all HITs that show one of their items; elsewhere whoever has answered one of
the items is given a qualification that a HIT requires not to exist.
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
    """HITs of a batch to which slots may be added, in the order of their plan.

    None where an excluded worker is not kept out: somebody deleted the qualification
    type, and a HIT would still be there for him.
    """
    if intents.has_outcome(run.store, "exclude", NOTHING_TO_KEEP_OUT_OF):
        return []
    life = timedelta(seconds=(1 - _LEAST_LIFE) * run.campaign.posting.lifetime_seconds)
    filled = hits.filled(run.store, batch, posted_after=run.clock.now() - life)
    if run.platform.keeps_apart():
        return filled
    # Nothing would keep away whoever answered one of its items in another HIT.
    return [hit for hit in filled if _showing(run, hit) == [hit.hit_id]]


def apart_from(run: CampaignRun, hit: PlannedHit) -> list[HitId]:
    """The HITs from which a HIT is kept apart, if that can be done."""
    if hit.round == 0 or not run.platform.keeps_apart():
        return []
    return _showing(run, hit)


def keep_out(run: CampaignRun, hit: PlannedHit) -> QualificationTypeId | None:
    """A qualification of all who answered an item of a HIT; `None`: none is needed.

    Every call of this may be made twice, so none needs an intent.
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
    """The call that adds slots to a HIT; its outcome is the HIT's id, or `GONE`.

    Args:
        run: the campaign at work.
        extension: as it was planned.
        slots: what a listing of this pass says that the HIT has, if it was in there.
        token: of the call.
    """
    hit = extended(run, extension)
    hit_id, wanted = HitId(str(hit.hit_id)), slots_wanted(run, extension)

    def do() -> str:
        # Added by hand, or from a newer copy of the store: they are there, and enough.
        if slots is not None and slots >= wanted:
            return hit_id
        try:
            run.platform.extend(
                hit_id, more=extension.max_assignments, slots=wanted, token=token
            )
        except PlatformRefused:
            if status_of(run, hit) != "Disposed":
                raise
            return GONE
        return hit_id

    return do


def _showing(run: CampaignRun, hit: PlannedHit) -> list[HitId]:
    return hits.showing(run.store, hit.item_ids, batch=hit.batch)
