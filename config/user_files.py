"""Reads and writes the user's files, which are in UTF-8, and names campaigns after theirs.

A byte order mark may begin them. Environment variables in addresses keep passwords out of
them.
"""

import hashlib
import os
import re
import tomllib
import unicodedata
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

from piecework.domain.errors import ConfigError
from piecework.domain.text import not_utf8

CONFIG = "PIECEWORK_CONFIG"
"""The environment variable with the path of the machine's file."""

COMMANDS = {
    "serve": "market serve",
    "backup": "store backup",
    "run": "run",
    "review": "review",
}
"""The commands that supervisors and schedules start, by the names of their tables."""

OF_CAMPAIGNS = ("output", "store", "fees")
"""The keys that hold for campaigns, and not for one command."""

_LONGEST_NAME, _DIGITS = 40, 8
LARGEST_BYTES = 500_000_000
"""A larger file would not fit into memory with what is made of it."""


def whole_path(campaign: Path) -> Path:
    """Return the absolute path of a campaign file, which holds in any folder.

    Results and other files are beside the path that a person names. So a link to the
    file itself is not followed.
    """
    return campaign.parent.resolve() / campaign.name


def read_text(
    path: Path, *, name: str = "file", next_step: str = "", most: int = LARGEST_BYTES
) -> str:
    """Read the text of a file.

    Args:
        path: the path of the file.
        name: what the file is, for the error.
        next_step: what to do if it cannot be read.
        most: bytes that it may have.

    Raises:
        ConfigError: the file cannot be read, is too large, or is not UTF-8.
    """
    # Reading a pipe or a device could block forever.
    if path.exists() and not path.is_file():
        raise ConfigError([f"{path}: the {name} is not a regular file"], next_step=next_step)
    try:
        if (size := path.stat().st_size) > most:
            raise ConfigError(
                [f"{path}: the {name} has {size:,} bytes; at most {most:,} are read"],
                next_step=next_step,
            )
        return path.read_bytes().decode("utf-8-sig")
    except OSError as fault:
        raise ConfigError(
            [f"{path}: the {name} cannot be read ({fault.strerror})"], next_step=next_step
        ) from fault
    except UnicodeDecodeError as fault:
        raise ConfigError([f"{path}: {not_utf8(fault)}"]) from fault


def write_new(path: Path, text: str) -> None:
    """Write a new file, whole or not at all.

    After a full disk, half a file would stop the same command from running again.

    Raises:
        FileExistsError: the file exists.
        OSError: the disk is full.
    """
    with path.open("x", encoding="utf-8") as file:
        try:
            file.write(text)
            file.flush()
        except OSError:
            path.unlink()
            raise


_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def with_secrets(address: str) -> str:
    """Return an address with the values of its `${VARIABLES}`.

    User name and password are quoted for the URL, so they may have any character.
    Messages show the address as it was written.

    Raises:
        ConfigError: a variable is not set.
    """

    def value(variable: re.Match[str]) -> str:
        name = variable[1]
        if not (setting := os.environ.get(name)):
            raise ConfigError([f"{address}: the environment variable {name} is not set"])
        return quote(setting, safe="") if _is_credential(variable) else setting

    return _VARIABLE.sub(value, address)


def variables_in(text: str) -> list[str]:
    """Return the names of the variables in a text.

    >>> variables_in("postgresql://${USER}:${PASSWORD}@host/shop")
    ['USER', 'PASSWORD']
    """
    return _VARIABLE.findall(text)


def without_variables(text: str) -> str:
    """Return a text without its variables.

    >>> without_variables("${PASSWORD}"), without_variables("a${PASSWORD}")
    ('', 'a')
    """
    return _VARIABLE.sub("", text)


def _is_credential(variable: re.Match[str]) -> bool:
    """Return whether a variable is user name or password: `://` before, `@` after."""
    _, marks, host = variable.string[: variable.start()].partition("://")
    rest = variable.string[variable.end() :].partition("/")[0]
    return bool(marks) and "/" not in host and "@" in rest


def legal_name(stem: str, otherwise: str = "campaign") -> str:
    """Return a campaign's name made from the name of a file.

    A name that is changed for that ends with a digest, so that two never become equal.

    >>> legal_name("birds-2"), legal_name("Birds (2)"), legal_name("鳥")
    ('birds-2', 'birds-2-b9abc1b4', 'campaign-8754cc62')
    """
    # Systems write the same letters with accents in two ways.
    stem = unicodedata.normalize("NFC", stem)
    # Stores are named so: a better spelling would be another campaign's.
    plain = _dashed(stem) or otherwise
    if plain == stem:
        return plain
    digest = hashlib.sha256(stem.encode(errors="surrogateescape")).hexdigest()[:_DIGITS]
    return f"{plain[: _LONGEST_NAME - _DIGITS - 1].rstrip('-_')}-{digest}"


_WITHOUT_MARKS = str.maketrans(
    {
        "ß": "ss",
        "æ": "ae",
        "œ": "oe",
        "ø": "o",
        "ł": "l",
        "þ": "th",
        "\N{LATIN SMALL LETTER DOTLESS I}": "i",
    }
    | dict.fromkeys("đð", "d")
)
"""Latin letters that Unicode does not decompose into a plain letter and its marks."""


def plain_name(stem: str, otherwise: str) -> str:
    """Return the same without the digest, such as for a new file.

    >>> plain_name("Batch 12 (new)", "campaign"), plain_name("Große Sätze", "campaign")
    ('batch-12-new', 'grosse-satze')
    """
    decomposed = unicodedata.normalize("NFKD", stem).lower().translate(_WITHOUT_MARKS)
    letters = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return _dashed(letters).rstrip("-_") or otherwise


def _dashed(letters: str) -> str:
    return re.sub(r"[^a-z0-9_-]+", "-", letters.lower()).strip("-_")[:_LONGEST_NAME]


def name_in(path: Path) -> str:
    """Return the campaign's name in a file, stated or made from the file's.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no TOML, or its name is no text.
    """
    name = tomllib.loads(path.read_text("utf-8-sig")).get("name", legal_name(path.stem))
    if not isinstance(name, str):
        raise ValueError(f"{path}: its name is no text")  # noqa: TRY004 - as documented
    return name


def names_beside(path: Path) -> dict[Path, str]:
    """Return the names of campaigns in the other files of a campaign file's folder."""
    names = {}
    for file in path.parent.glob("*.toml"):
        with suppress(OSError, ValueError):
            if not (path.exists() and file.samefile(path)):
                names[file] = name_in(file)
    return names
