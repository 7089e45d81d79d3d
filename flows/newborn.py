"""Before a campaign begins: is it at work already, from a store on another machine?

A store is the only place that knows what was posted and who was paid. A second one for
the same campaign (a fresh folder, another machine) would post and pay everything again,
so a store that is to be born asks the marketplace first.
"""

import re

from domain.campaign import Campaign
from domain.errors import RefusedForSafety
from platforms.ports import Platform


def refuse_second_store(platform: Platform, campaign: Campaign) -> None:
    """Look for HITs of a campaign of this name among all that the requester has.

    Raises:
        RefusedForSafety: there are some.
    """
    # Annotations are `<store>/<campaign>.b0001.r00.000001` (flows.steps.launch).
    ours = re.compile(rf"(.+)/{re.escape(campaign.name)}\.b\d+\.r\d+\.\d+")
    for annotation, hit_id in platform.find_hits():
        if (found := ours.fullmatch(annotation)) is not None:
            raise RefusedForSafety(
                f"{campaign.out}: there is no store here, but HIT {hit_id} on "
                f"{platform.endpoint} belongs to a campaign {campaign.name!r} whose "
                f"store is elsewhere ({found[1]!r}); a second store would post and pay "
                "everything again",
                next_step="run the pass where the store is, or bring piecework.db "
                "here; another campaign of this name begins with --anew",
            )
