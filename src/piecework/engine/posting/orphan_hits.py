"""HITs of this requester on the platform that the campaign's store does not know.

They belong to another program or campaign, or to a store that was lost. This module
only lists them: a person has to decide what they are.
"""

from dataclasses import dataclass
from typing import Literal

from piecework.campaign.opened import CampaignRun
from piecework.engine.posting.publishing import posted_as
from piecework.store import hits, intents

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
        OrphanHit(hit_id=hit.hit_id, annotation=hit.annotation, whose=_whose(run, hit.annotation))
        for hit in run.platform.find_hits()
        if hit.hit_id not in known
    ]


def _whose(run: CampaignRun, annotation: str) -> Whose:
    posted = posted_as(annotation, run.campaign.name)
    if posted is None:
        return "others"
    is_mine = posted.store == intents.store_name(run.store)
    return "this store" if is_mine else "another store of this campaign"
