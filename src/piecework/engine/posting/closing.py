"""Close a HIT when its answers are complete or it is gone, and book its money."""

from piecework.campaign.opened import CampaignRun
from piecework.domain.hit import PlannedHit
from piecework.domain.ids import HitId
from piecework.engine.posting.publishing import publish_key
from piecework.store import assignments, hits, ledger


def close_gone(run: CampaignRun, hit: PlannedHit) -> None:
    """Close a HIT that the platform no longer has, with the assignments stored."""
    hit_id = HitId(str(hit.hit_id))
    have = assignments.count_by_hit(run.store, [hit_id]).get(hit_id, 0)
    with run.store.db.atomic():
        close(run, hit, have)


def close(run: CampaignRun, hit: PlannedHit, arrived: int) -> None:
    """Close a HIT with `arrived` assignments; part of the caller's transaction.

    Slots that no worker filled before it expired are free.
    """
    hits.mark_collected(run.store, HitId(str(hit.hit_id)), at=run.clock.now())
    # More may have arrived: money for slots added by hand is held when they are filled.
    unused = max(hit.max_assignments - arrived, 0)
    _book_slots(run, hit, unused, credit="held", debit="requester")


def hold_added_slots(run: CampaignRun, hit: PlannedHit, arrived: int) -> None:
    """Hold money for slots that were added by hand; part of the caller's transaction.

    They cost the same as others. They were added without a check of the caps; from now
    on they count against every cap.

    Args:
        run: the campaign at work.
        hit: as it was posted.
        arrived: how many assignments it now has on the platform.
    """
    if arrived <= hit.max_assignments:
        return
    hit_id = HitId(str(hit.hit_id))
    known = assignments.count_by_hit(run.store, [hit_id]).get(hit_id, 0)
    added = arrived - max(known, hit.max_assignments)
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
