"""HITs that the platform has for this requester and the campaign's store does not know.

They are another program's, another campaign's, or what is left of a store that was
lost. Nothing here touches them: only a person can tell.
"""

from dataclasses import dataclass
from typing import Literal

from piecework.campaign.opened import CampaignRun
from piecework.engine.posting.publishing import posted_as
from piecework.store import hits, intents

Whose = Literal["this store", "another store of this campaign", "others"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrphanHit:
    """One such HIT.

    Attributes:
        annotation: what its poster wrote on it; ours are `<store name>/<hit key>`.
        whose: by its annotation, as far as that can tell.
    """

    hit_id: str
    annotation: str
    whose: Whose


def orphan_hits(run: CampaignRun) -> list[OrphanHit]:
    """Ask the platform for every HIT and leave out what the store knows.

    Raises:
        TransientPlatformError: the platform could not be asked.
    """
    known = hits.ids(run.store)
    return [
        OrphanHit(
            hit_id=hit.hit_id,
            annotation=hit.annotation,
            whose=_whose(run, hit.annotation),
        )
        for hit in run.platform.find_hits()
        if hit.hit_id not in known
    ]


def _whose(run: CampaignRun, annotation: str) -> Whose:
    posted = posted_as(annotation, run.campaign.name)
    if posted is None:
        return "others"
    is_mine = posted.store == intents.store_name(run.store)
    return "this store" if is_mine else "another store of this campaign"
