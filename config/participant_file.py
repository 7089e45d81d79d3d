"""Files with ids of Prolific's participants, one on each line; `#` begins a comment."""

import re
from collections.abc import Sequence

from piecework.config.campaign_file import CampaignFile
from piecework.config.prolific_table import ALLOWED, BLOCKED, ParticipantFile
from piecework.config.utf8 import read_text
from piecework.domain.errors import ConfigError
from piecework.domain.hit import Recruiting, Share

_ID = re.compile(r"[0-9a-f]{24}")
MOST = 5000
_NAMED = 3


def read_recruiting(file: CampaignFile, shares: Sequence[Share]) -> Recruiting | None:
    """Return whom the campaign recruits at Prolific beyond its filters.

    Raises:
        ConfigError: a file of ids cannot be read, has a line that is not an id,
            none or too many ids, or both lists have the same id.
    """
    only, never = _ids(file, ALLOWED), _ids(file, BLOCKED)
    if both := set(only) & set(never):
        where = file.at("requirements", "prolific", BLOCKED)
        raise ConfigError([f"{where}: {min(both)} is in {ALLOWED} too"])
    if not (only or never or shares):
        return None
    return Recruiting(only=only, never=never, shares=tuple(shares))


def _ids(file: CampaignFile, name: str) -> tuple[str, ...]:
    named = file.tables.requirements.prolific.get(name)
    if not isinstance(named, ParticipantFile):
        return ()
    where = file.at("requirements", "prolific", name)
    path = file.path.parent / named.file
    if not path.is_file():
        raise ConfigError([f"{where}: no such file: {named.file}"])
    lines = {
        number: text
        for number, line in enumerate(read_text(path).splitlines(), start=1)
        if (text := line.partition("#")[0].strip())
    }
    faults = [
        f"{where}: {named.file}:{number}: {text[:40]!a} is not the id of a "
        "participant, 24 digits and letters from a to f"
        for number, text in lines.items()
        if not _ID.fullmatch(text)
    ]
    ids = tuple(dict.fromkeys(lines.values()))
    if not ids:
        faults.append(f"{where}: {named.file} has no id")
    if len(ids) > MOST:
        faults.append(f"{where}: {named.file} has {len(ids)} ids; {MOST} are allowed")
    if faults:
        raise ConfigError(faults[:_NAMED])
    return ids
