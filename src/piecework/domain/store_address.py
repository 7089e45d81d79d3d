"""Where the store of a campaign is: a file, or a schema of a PostgreSQL database."""

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

FILE_NAME = "piecework.db"
"""The name of a store that is a file."""

_PREFIX = "piecework_"
_LONGEST = 63
"""Most bytes that PostgreSQL keeps of a name."""

_DIGITS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreAddress:
    """The address of a store.

    Attributes:
        path: the file. A store in PostgreSQL has no file; its folder, which holds
            results and pictures, is the file's folder.
        url: URL of the database; "" for a file.
        schema: the schema in that database; "" for a file.
    """

    path: Path
    url: str = field(default="", repr=False)
    schema: str = ""

    @property
    def folder(self) -> Path:
        """The campaign's folder."""
        return self.path.parent

    def __str__(self) -> str:
        """Name the store in a message, without the password of its URL."""
        if not self.url:
            return str(self.path)
        parts = urlsplit(self.url)
        host = parts.netloc.rpartition("@")[2] or "localhost"
        schema = f", schema {self.schema}" if self.schema else ""
        return f"postgresql://{host}{parts.path}{schema}"


def in_folder(folder: Path) -> StoreAddress:
    """Return the address of the store that is a file of a folder."""
    return StoreAddress(path=folder / FILE_NAME)


def store_address(folder: Path, *, campaign: str, url: str) -> StoreAddress:
    """Return the address of a campaign's store.

    In a database, the schema has the names of the campaign and of its folder.

    Args:
        folder: the campaign's folder.
        campaign: the campaign's name.
        url: URL of a PostgreSQL database; "" for a file in the folder.
    """
    if not url:
        return in_folder(folder)
    named = campaign if folder.name == campaign else f"{campaign}/{folder.name}"
    return StoreAddress(path=folder / FILE_NAME, url=url, schema=schema_name(named))


def schema_name(named: str) -> str:
    """Return a name of a schema that any client can write.

    A name that is changed for that ends with a digest, so that two never become equal.

    >>> schema_name("birds")
    'piecework_birds'
    >>> schema_name("birds-2")
    'piecework_birds_2_552593f9aa'
    """
    plain = re.sub(r"[^a-z0-9_]", "_", named.lower())
    if plain == named and len(_PREFIX + plain) <= _LONGEST:
        return _PREFIX + plain
    digest = hashlib.sha256(named.encode()).hexdigest()[:_DIGITS]
    most = _LONGEST - len(_PREFIX) - _DIGITS - 1
    return f"{_PREFIX}{plain[:most]}_{digest}"


_OPTIONS = frozenset(
    {
        *("sslmode", "connect_timeout", "application_name", "target_session_attrs"),
        *("channel_binding", "require_auth", "sslrootcert"),
    }
)


def refused_option(name: str, value: str) -> bool:
    """Return whether an option of PostgreSQL in a URL is not in the list.

    Others name files, commands of the server, or another server than the URL shows.

    >>> refused_option("sslmode", "require"), refused_option("service", "other")
    (False, True)
    >>> refused_option("host", "/run/postgresql"), refused_option("host", "a.org")
    (False, True)
    """
    if name == "host":  # the folder of a socket on this machine
        return not value.startswith("/") or "," in value
    return name not in _OPTIONS


def first_refused(url: str) -> str:
    """Return the first option of a PostgreSQL URL that is not in the list; or "".

    The client library finds options after the first `?` of the database's name; here,
    what follows any `?` counts.

    >>> first_refused("postgresql://a@host/b?sslmode=require&options=-c%20x")
    'options'
    """
    pairs = url.partition("?")[2].split("&") if "?" in url else []
    for name, _, value in (pair.partition("=") for pair in pairs):
        if refused_option(name, unquote(value)):
            return name
    return ""
