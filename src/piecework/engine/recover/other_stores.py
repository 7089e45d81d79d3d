"""Recognise another store of the campaign, an older copy, and HITs that are in no store.

One store per campaign: a second one would post and pay everything again. A copy, of the
store or of the marketplace, lacks what was posted and paid after it was made, so
piecework does not continue before a person lets `piecework store reconcile` compare the two.
HITs that the store does not know belong to another program or campaign, or to a store
that was lost; they are only listed, because a person has to decide what they are.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from piecework.campaign.binding import refuse_renamed
from piecework.campaign.opened import CampaignRun
from piecework.domain.campaign import Campaign
from piecework.domain.errors import RefusedForSafety
from piecework.domain.text import shell_word
from piecework.engine.posted_hits import posted_as
from piecework.store import bound, generations, hits, intents
from piecework.store.database import Store

if TYPE_CHECKING:
    from piecework.platforms.mturk import MTurk


def refuse_second_store(campaign: Campaign, store: Store | None, platform: "MTurk") -> None:
    """Refuse to begin a campaign that is run from a store on another machine.

    Only the store knows what was posted and who was paid, so the marketplace is asked
    before a new one is created.

    Args:
        campaign: the campaign.
        store: the existing store, if any.
        platform: the marketplace.

    Raises:
        RefusedForSafety: the marketplace has HITs of a campaign of this name, or only
            the name in the file has changed.
    """
    if store is not None and bound.read_bound(store).name is not None:
        return
    if campaign.number is None:
        refuse_renamed(campaign)
    refuse_posted_before(campaign, store, platform)


def refuse_posted_before(campaign: Campaign, store: Store | None, platform: "MTurk") -> None:
    """Refuse a campaign without a store whose HITs the marketplace has.

    Raises:
        RefusedForSafety: it has HITs of a campaign of this name.
    """
    if store is not None and bound.read_bound(store).name is not None:
        return
    for hit in platform.find_hits():
        if (posted := posted_as(hit.annotation, campaign.name)) is not None:
            raise RefusedForSafety(
                f"{campaign.out}: there is no store here, but HIT {hit.hit_id} on "
                f"{platform.endpoint} belongs to a campaign {campaign.name!r} whose "
                f"store is elsewhere ({posted.store!r}); a second store would post and "
                "pay everything again",
                next_step="run the pass where the store is, or copy piecework.db here; "
                "to begin another campaign of this name, add --although second-store",
            )


def claim(campaign: Campaign, store: Store, platform: "MTurk", *, allow_second_store: bool) -> None:
    """Let only one store begin a campaign, even if two begin at the same time.

    Neither sees the other's HITs in a list yet. So each claims the campaign's name on
    the marketplace before it posts. One of them gets it, and the other is refused.

    Raises:
        RefusedForSafety: another store has it.
    """
    known = bound.read_bound(store)
    if known.claimed_as is not None:
        return
    name = str(known.name)
    if not allow_second_store and not hits.ids(store):
        owner = platform.claim(f"piecework: store of {campaign.name}", name)
        if owner != name:
            raise RefusedForSafety(
                f"{campaign.out}: a campaign {campaign.name!r} was begun on "
                f"{platform.endpoint} from another store ({owner!r}); a second store "
                "would post and pay everything again",
                next_step="run the pass where that store is; if it is lost or belongs "
                "to another campaign, begin with --although second-store",
            )
    bound.bind(store, "claimed_as", name)


def refuse_restored(campaign: Campaign, store: Store, platform: "MTurk") -> None:
    """Refuse to work with a copy that lacks what was done after it was made.

    Raises:
        RefusedForSafety: the marketplace lacks what the store has seen there, or the
            store lacks what the marketplace has done for it.
    """
    name, seen = intents.store_name(store), generations.seen(store)
    meeting = platform.meet(name, seen=seen)
    if meeting is None:
        return
    if bound.read_bound(store).account is None:
        bound.bind(store, "account", meeting.account)
    next_step = (
        f"piecework store reconcile {shell_word(campaign.path)} compares the two and lets "
        "the campaign "
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


Whose = Literal["this store", "another store of this campaign", "others"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanHit:
    """A HIT that the store does not know.

    Attributes:
        annotation: what its poster wrote on it; ours are `<store name>/<hit key>`.
        whose: to whom it belongs, according to its annotation.
    """

    hit_id: str
    annotation: str
    whose: Whose


def orphan_hits(run: CampaignRun) -> list[OrphanHit]:
    """Ask the platform for every HIT and leave out those that the store knows.

    Raises:
        TransientPlatformError: the platform could not be asked.
    """
    known = hits.ids(run.store)
    return [
        OrphanHit(
            hit_id=hit.hit_id, annotation=hit.annotation, whose=_whose_hit(run, hit.annotation)
        )
        for hit in run.platform.find_hits()
        if hit.hit_id not in known
    ]


def _whose_hit(run: CampaignRun, annotation: str) -> Whose:
    posted = posted_as(annotation, run.campaign.name)
    if posted is None:
        return "others"
    is_mine = posted.store == intents.store_name(run.store)
    return "this store" if is_mine else "another store of this campaign"
