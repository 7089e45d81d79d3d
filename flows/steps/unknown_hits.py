"""HITs that the platform has for this requester and the campaign's store does not know.

They are somebody else's work, another campaign's, or what is left of a store that was
lost. Nothing here touches them: only a person can tell.
"""

import re
from dataclasses import dataclass
from typing import Literal

from flows.workplace import Workplace
from store import hits, intents

Whose = Literal["this store", "another store of this campaign", "others"]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownHit:
    """One such HIT.

    Attributes:
        annotation: what its poster wrote on it; ours are `<store name>/<hit key>`.
        whose: by its annotation, as far as that can tell.
    """

    hit_id: str
    annotation: str
    whose: Whose


def unknown_hits(place: Workplace) -> list[UnknownHit]:
    """Ask the platform for every HIT and leave out what the store knows.

    Raises:
        TransientPlatformError: the platform could not be asked.
    """
    known = {hit.hit_id for hit in hits.every(place.store)}
    return [
        UnknownHit(
            hit_id=hit_id, annotation=annotation, whose=_whose(place, annotation)
        )
        for annotation, hit_id in place.platform.find_hits()
        if hit_id not in known
    ]


def _whose(place: Workplace, annotation: str) -> Whose:
    # Annotations are `<store>/<campaign>.b0001.r00.000001` (flows.steps.launch).
    name = re.escape(place.campaign.name)
    found = re.fullmatch(rf"(.+)/{name}\.b\d+\.r\d+\.\d+", annotation)
    if found is None:
        return "others"
    is_mine = found[1] == intents.store_name(place.store)
    return "this store" if is_mine else "another store of this campaign"
