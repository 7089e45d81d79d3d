"""Workers as people name them: by pseudonym, or by its start."""

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.errors import ConfigError
from piecework.domain.ids import WorkerId
from piecework.store import workers
from piecework.store.settlements import PAID_ALREADY

# Fewer characters could match a worker by a typing error.
_SHORTEST_PSEUDONYM = 4


def known_worker(opened: OpenedCampaign, worker: str) -> WorkerId:
    """Return the worker of the campaign with this pseudonym.

    Args:
        opened: the campaign.
        worker: the pseudonym, or at least its first four characters.

    Raises:
        ConfigError: no worker or several have this pseudonym.
    """
    known = workers.totals(opened.store, paid_already=PAID_ALREADY)
    pseudonyms = {opened.pseudonym(worker_id): worker_id for worker_id in known}
    start = worker.strip().lower().removesuffix("…").removesuffix("...")
    if start in pseudonyms:
        return pseudonyms[start]
    matches = sorted(name for name in pseudonyms if name.startswith(start))
    if len(start) < _SHORTEST_PSEUDONYM:
        fault = (
            f"{worker!r} is too short for a pseudonym: type "
            f"{_SHORTEST_PSEUDONYM} characters or more"
        )
    elif len(matches) > 1:
        fault = f"{worker!r} matches {len(matches)} workers: {', '.join(matches[:5])}"
    elif matches:
        return pseudonyms[matches[0]]
    else:
        fault = f"no worker of this campaign has the pseudonym {worker!r}"
    raise ConfigError([fault], next_step=f"piecework workers list {opened.campaign.path}")
