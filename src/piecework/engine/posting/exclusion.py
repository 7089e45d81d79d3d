"""The qualification type that keeps excluded workers out of a campaign's HITs."""

from piecework.campaign.opened import CampaignRun
from piecework.domain.ids import QualificationTypeId
from piecework.store.database import get_setting, set_once

EXCLUSION = "exclusion"
"""The setting with the id of the qualification type that keeps workers out."""


def exclusion_type(run: CampaignRun) -> QualificationTypeId:
    """Its id; it is made on the platform when it is asked for first."""
    if (known := get_setting(run.store, EXCLUSION)) is not None:
        return QualificationTypeId(known)
    made = run.platform.exclusion(
        run.campaign.exclusion_name,
        "Held by workers whom the requester does not ask again for this kind of HIT.",
    )
    set_once(run.store, EXCLUSION, made)
    return made
