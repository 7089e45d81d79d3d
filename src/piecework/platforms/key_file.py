"""The endpoint and the key that `piecework market serve CAMPAIGN` leaves beside a campaign.

The file is in `.piecework` beside the campaign's file. It counts only if its owner alone can
read it, and its key is sent to its own endpoint alone. A campaign may come from anyone, with
such a file, so only an endpoint on this machine is used without being named.
"""

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from piecework.domain.errors import RefusedForSafety
from piecework.platforms.endpoint import is_on_this_machine

VARIABLE = "PIECEWORK_KEY_FILE"
"""The environment variable with the path of the file, while a command works on a campaign."""

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_LONGEST = 4096


class MarketKey(NamedTuple):
    """A key of an account at a marketplace."""

    endpoint: str
    access_key: str
    secret_key: str


def key_path(campaign: Path) -> Path:
    """Return the path of a campaign's file.

    >>> key_path(Path("a/birds.toml")).as_posix()
    'a/.piecework/birds.key.json'
    """
    return campaign.parent / ".piecework" / f"{campaign.stem}.key.json"


def use_key_of(campaign: Path) -> None:
    """Let this process call a campaign's marketplace with the key beside the campaign."""
    if (path := key_path(campaign)).is_file():
        os.environ[VARIABLE] = str(path)
    else:
        os.environ.pop(VARIABLE, None)


def as_text(key: MarketKey) -> str:
    """Return the content of a file."""
    return json.dumps(key._asdict(), indent=2) + "\n"


def known_key(environment: Mapping[str, str]) -> MarketKey | None:
    """Return the key of the file that the environment names, if there is one.

    Raises:
        RefusedForSafety: others can read the file, or it is not such a file.
    """
    named = environment.get(VARIABLE)
    if not named:
        return None
    try:
        with open(os.open(named, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:  # noqa: PTH123
            facts = os.fstat(file.fileno())
            if facts.st_uid != os.geteuid() or facts.st_mode & _OTHERS:
                raise _unusable(named, "its owner alone must be able to read it (mode 600)")
            document = json.loads(file.read(_LONGEST))
            return MarketKey(*(str(document[name]) for name in MarketKey._fields))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise _unusable(named, "it is not a file of `piecework market serve CAMPAIGN`") from fault


def endpoint_beside(environment: Mapping[str, str]) -> str | None:
    """Return the endpoint of the file, if it is on this machine.

    Raises:
        RefusedForSafety: as `known_key`.
    """
    key = known_key(environment)
    return key.endpoint if key is not None and is_on_this_machine(key.endpoint) else None


def _unusable(named: str, why: str) -> RefusedForSafety:
    return RefusedForSafety(
        f"{named}: {why}",
        next_step=f"rm {named}, then start piecework market serve CAMPAIGN again",
    )
