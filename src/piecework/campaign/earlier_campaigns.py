"""Earlier campaigns whose workers a campaign wants, or does not want."""

from collections.abc import Iterator

from piecework.config.campaign_file import CampaignFile, parse
from piecework.domain.campaign import Campaign, EarlierCampaign
from piecework.domain.errors import ConfigError
from piecework.store.database import exists

_KEYS = (("only_workers_of", True), ("no_workers_of", False))


def read_earlier(file: CampaignFile) -> tuple[EarlierCampaign, ...]:
    """Return the earlier campaigns that `[requirements]` names.

    Raises:
        ConfigError: a campaign file is not there, is wrong, is this one, or is named
            twice.
    """
    faults: list[str] = []
    earlier: list[EarlierCampaign] = []
    for key, is_wanted in _KEYS:
        for named in getattr(file.tables.requirements, key):
            where, path = file.at("requirements", key), file.path.parent / named
            try:
                other = parse(path)
            except ConfigError as error:
                faults += [f"{where}: {fault}" for fault in error.faults]
                continue
            store = other.store
            if store == file.store:
                faults.append(f"{where}: {named} is this campaign itself")
            elif any(each.store == store for each in earlier):
                faults.append(f"{where}: {named} is named before")
            earlier.append(
                EarlierCampaign(name=other.tables.name, store=store, key=key, is_wanted=is_wanted)
            )
    if faults:
        raise ConfigError(faults)
    return tuple(earlier)


def warnings_of_earlier(campaign: Campaign) -> Iterator[str]:
    """Yield a warning for each earlier campaign that was not started yet."""
    for each in campaign.earlier:
        if not exists(each.store):
            yield (
                f"requirements.{each.key}: the campaign {each.name} was not started "
                "yet; without its workers, no HIT of this campaign can be posted"
            )
