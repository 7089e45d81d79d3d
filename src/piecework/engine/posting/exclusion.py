"""The qualification type that keeps excluded workers out of a campaign's HITs."""

from piecework.campaign.opened import CampaignRun
from piecework.domain.ids import QualificationTypeId
from piecework.store import platform_types


def exclusion_type(run: CampaignRun) -> QualificationTypeId:
    """Return its id; the first call creates it on the platform."""
    if (known := platform_types.get(run.store, "exclusion")) is not None:
        return QualificationTypeId(known)
    made = run.platform.exclusion(
        run.campaign.exclusion_name,
        "Held by workers whom the requester does not ask again for this kind of HIT.",
    )
    platform_types.keep(run.store, "exclusion", made)
    return made
