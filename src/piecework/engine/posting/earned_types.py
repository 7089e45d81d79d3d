"""Earned qualifications as types of the marketplace, and as requirements of HITs."""

from piecework.campaign.opened import CampaignRun
from piecework.domain.hit import QualificationRequirement
from piecework.domain.ids import QualificationTypeId
from piecework.store import platform_types


def earned_type(run: CampaignRun, name: str) -> QualificationTypeId:
    """Return the type with this name; the first call creates or finds it."""
    if (known := platform_types.get(run.store, "earned", name)) is not None:
        return QualificationTypeId(known)
    made = run.platform.exclusion(name, "Workers earn it by good work.", is_shown=True)
    platform_types.keep(run.store, "earned", made, subject=name)
    return made


def requirements(run: CampaignRun) -> tuple[QualificationRequirement, ...]:
    """Return which earned qualifications workers must have, or must not have.

    A rehearsal leaves them out: its workers have earned nothing before.
    """
    if run.is_rehearsal:
        return ()
    wanted = [(name, True) for name in run.campaign.wanted_earned]
    unwanted = [(name, False) for name in run.campaign.unwanted_earned]
    return tuple(
        QualificationRequirement(
            qualification_type_id=earned_type(run, name),
            comparator="Exists" if is_wanted else "DoesNotExist",
        )
        for name, is_wanted in (*wanted, *unwanted)
    )
