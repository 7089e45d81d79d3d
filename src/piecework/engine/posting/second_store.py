"""One store per campaign: a second one would post and pay everything again."""

from piecework.domain.campaign import Campaign
from piecework.domain.errors import RefusedForSafety
from piecework.engine.posting.publishing import posted_as
from piecework.platforms.ports import Platform
from piecework.store import bound, hits
from piecework.store.database import Store


def refuse_second_store(campaign: Campaign, store: Store | None, platform: Platform) -> None:
    """Refuse to begin a campaign that is run from a store on another machine.

    Only the store knows what was posted and who was paid, so the marketplace is asked
    before a new one is created.

    Args:
        campaign: the campaign.
        store: the existing store, if any.
        platform: the marketplace.

    Raises:
        RefusedForSafety: the marketplace has HITs of a campaign of this name.
    """
    if store is not None and bound.read(store).name is not None:
        return
    for hit in platform.find_hits():
        if (posted := posted_as(hit.annotation, campaign.name)) is not None:
            raise RefusedForSafety(
                f"{campaign.out}: there is no store here, but HIT {hit.hit_id} on "
                f"{platform.endpoint} belongs to a campaign {campaign.name!r} whose "
                f"store is elsewhere ({posted.store!r}); a second store would post and "
                "pay everything again",
                next_step="run the pass where the store is, or copy piecework.db here; "
                "to begin another campaign of this name, add --allow-second-store",
            )


def claim(
    campaign: Campaign, store: Store, platform: Platform, *, allow_second_store: bool
) -> None:
    """Let only one store begin a campaign, even if two begin at the same time.

    Neither sees the other's HITs in a list yet. So each claims the campaign's name on
    the marketplace before it posts. One of them gets it, and the other is refused.

    Raises:
        RefusedForSafety: another store has it.
    """
    known = bound.read(store)
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
                "to another campaign, begin with --allow-second-store",
            )
    bound.bind(store, "claimed_as", name)
