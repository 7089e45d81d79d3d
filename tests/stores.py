"""Addresses of new stores of each kind, for tests that hold for all of them."""

import hashlib
from pathlib import Path

import pytest

from piecework.domain.store_address import StoreAddress, store_address

KINDS = ("file", "postgresql")
"""Parameters of a fixture that makes stores."""


def address_of(request: pytest.FixtureRequest, folder: Path) -> StoreAddress:
    """Return where a test's store of the kind in `request.param` may be.

    The folder of a test is used once, so its name makes a new schema.
    """
    url = url_of(request)
    return store_address(folder, campaign="test", url=url)


def url_of(request: pytest.FixtureRequest) -> str:
    """Return the URL for the kind in `request.param`; "" for a file, the usual kind."""
    if getattr(request, "param", "file") == "file":
        return ""
    url: str = request.getfixturevalue("postgres_url")
    return url


def stored_in(text: str, folder: Path, url: str) -> str:
    """Return a campaign file that ends with `[output]`, with its store in a database.

    The server outlives a test's folder, so the schema gets a name of its own.

    Args:
        text: the campaign file.
        folder: where it is written.
        url: of the database; "" for a file.
    """
    if not url:
        return text
    name = hashlib.sha256(str(folder).encode()).hexdigest()[:16]
    return f'{text}folder = "out/{name}"\n[store]\nurl = "{url}"\n'
