"""Files that users name: columns of another tool's results, and participants."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from piecework.config.campaign_file import CampaignFile
from piecework.config.requirements_table import ALLOWED, BLOCKED, ParticipantFile
from piecework.config.schema import QualificationTestTable
from piecework.config.shared_files import ColumnsTable, read_table
from piecework.config.user_files import read_text
from piecework.domain.errors import ConfigError
from piecework.domain.hit import Recruiting, Share
from piecework.domain.imported import Reading
from piecework.domain.qualifications import TestDocuments


def read_reading(path: Path) -> Reading:
    """Read what a TOML file says about the columns of other files.

    Raises:
        ConfigError: the file cannot be read, is not TOML, or breaks the schema; it has
            every fault.
    """
    table = read_table(path, ColumnsTable)
    fields = {name: field.model_dump(exclude_unset=True) for name, field in table.fields.items()}
    # Unlike in a campaign file, what is not stated here is guessed.
    guessed = () if "numbers" in table.model_fields_set else None
    return replace(table.reading(), fields=fields, numbers=table.numbers or guessed)


def documents_of(file: CampaignFile, table: QualificationTestTable) -> TestDocuments | None:
    """Return MTurk's documents that the file of a test names; `None` if it names none.

    Raises:
        ConfigError: one is not there, or is not UTF-8.
    """
    if table.form is None or table.key is None:
        return None
    form, key = file.named(table.form), file.named(table.key)
    faults = [f"{table.file}: {path} does not exist" for path in (form, key) if not path.is_file()]
    if faults:
        raise ConfigError(faults)
    return TestDocuments(
        form=read_text(form), key=read_text(key), form_path=str(form), key_path=str(key)
    )


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
        where = file.at("prolific", BLOCKED)
        raise ConfigError([f"{where}: {min(both)} is in {ALLOWED} too"])
    if not (only or never or shares):
        return None
    return Recruiting(only=only, never=never, shares=tuple(shares))


def _ids(file: CampaignFile, name: str) -> tuple[str, ...]:
    named = (file.tables.prolific or {}).get(name)
    if not isinstance(named, ParticipantFile):
        return ()
    where = file.at("prolific", name)
    path = file.named(named.file)
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
