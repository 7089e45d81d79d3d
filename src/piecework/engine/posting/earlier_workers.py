"""Workers of earlier campaigns, as a qualification that HITs require or refuse.

The qualification type belongs to the earlier campaign, so campaigns share it. Before
HITs are posted, those of its workers who lack the qualification get it. All calls can
be repeated safely, so they need no intent.
"""

from contextlib import closing

from piecework.campaign.opened import CampaignRun
from piecework.domain.campaign import EarlierCampaign
from piecework.domain.errors import ConfigError
from piecework.domain.hit import QualificationRequirement
from piecework.domain.ids import QualificationTypeId, WorkerId
from piecework.store import assignments, bound
from piecework.store.database import exists, open_store


def requirements(run: CampaignRun) -> tuple[QualificationRequirement, ...]:
    """Return what HITs require because of earlier campaigns.

    A rehearsal leaves them out: its marketplace does not know real workers.

    Raises:
        ConfigError: an earlier campaign has no store, no workers that are wanted, or
            ran at another marketplace.
    """
    if run.is_rehearsal:
        return ()
    return tuple(
        QualificationRequirement(
            qualification_type_id=_held_type(run, earlier),
            comparator="Exists" if earlier.is_wanted else "DoesNotExist",
        )
        for earlier in run.campaign.earlier
    )


def _held_type(run: CampaignRun, earlier: EarlierCampaign) -> QualificationTypeId:
    """Return the type that the earlier campaign's workers hold, all of them by now."""
    store_name, workers = _read(run, earlier)
    type_id = run.platform.exclusion(
        f"piecework: workers of {store_name}", f"Held by workers of the campaign {earlier.name}."
    )
    holders = set(run.platform.excluded(type_id))
    for worker_id in workers:
        if worker_id not in holders:
            run.platform.exclude(worker_id, type_id)
    return type_id


def _read(run: CampaignRun, earlier: EarlierCampaign) -> tuple[str, list[WorkerId]]:
    where = f"requirements.{earlier.key}: the campaign {earlier.name}"
    if not exists(earlier.store):
        raise ConfigError([f"{where} was not started yet"])
    with closing(open_store(earlier.store)) as store:
        theirs, workers = bound.read(store), assignments.all_workers(store)
    mine = bound.read(run.store)
    # An account is the same in all copies of a marketplace, also at another address.
    is_same = theirs.account == mine.account and (
        theirs.account is not None or theirs.environment == mine.environment
    )
    if not is_same:
        raise ConfigError([f"{where} ran elsewhere, so this marketplace does not know its workers"])
    if earlier.is_wanted and not workers:
        raise ConfigError([f"{where} has no workers yet, so no worker could work here"])
    return str(theirs.name), workers
