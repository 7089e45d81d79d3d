"""Addresses of new stores of each kind, for tests that hold for all of them."""

import hashlib
from pathlib import Path

import pytest

from piecework.domain.store_address import StoreAddress, store_address
from tests.small_campaign import MACHINE

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
    """Return the text of a campaign with its store in a database (`MACHINE`).

    The server outlives a test's folder, so the campaign gets a name of its own.

    Args:
        text: the campaign file.
        folder: where it is written.
        url: of the database; "" for a file.
    """
    if not url:
        return text
    name = hashlib.sha256(str(folder).encode()).hexdigest()[:16]
    assert text.count('name = "crash"\n') == 1
    text = text.replace('name = "crash"\n', f'name = "crash-{name}"\n')
    return f'{text}{MACHINE}[store]\nurl = "{url}"\n'
