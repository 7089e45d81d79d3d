"""Recognise at once a store or a marketplace that was restored from an older copy.

The copy lacks what was posted and paid after it was made. So piecework does not
continue before a person lets `piecework reconcile` compare store and marketplace.
"""

from piecework.domain.campaign import Campaign
from piecework.domain.errors import RefusedForSafety
from piecework.platforms.ports import Platform
from piecework.store import bound, generations, intents
from piecework.store.database import Store


def refuse_restored(campaign: Campaign, store: Store, platform: Platform) -> None:
    """Refuse to work with a copy that lacks what was done after it was made.

    Raises:
        RefusedForSafety: the marketplace lacks what the store has seen there, or the
            store lacks what the marketplace has done for it.
    """
    name, seen = intents.store_name(store), generations.seen(store)
    meeting = platform.meet(name, seen=seen)
    if meeting is None:
        return
    if bound.read(store).account is None:
        bound.bind(store, "account", meeting.account)
    next_step = (
        f"piecework reconcile {campaign.path} compares the two and lets the campaign "
        "continue (--dry-run only shows what differs)"
    )
    if not meeting.has_seen:
        raise RefusedForSafety(
            f"{platform.endpoint}: the marketplace lacks what it told this campaign "
            f"before (mark {seen}): it was restored from an older copy, or it is "
            "another marketplace at the same address",
            next_step=next_step,
        )
    if meeting.store_mark and not generations.has(store, meeting.store_mark):
        raise RefusedForSafety(
            f"{store.address}: the store lacks what {platform.endpoint} has done for "
            f"it (mark {meeting.store_mark}): it was restored from an older copy, or "
            "another copy of it is in use",
            next_step=next_step,
        )
