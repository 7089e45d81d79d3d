"""One transaction on a marketplace's file, also while its server runs."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from piecework.domain.errors import ConfigError, RefusedForSafety
from piecework.foundation.hosts import is_loopback
from piecework.marketplace.state.transaction import site_address

if TYPE_CHECKING:
    from piecework.marketplace.state.backend import Backend
    from piecework.marketplace.state.transaction import Transaction


USUAL_URL = "http://127.0.0.1:8080"
"""The default URL of `piecework market serve`."""


@contextmanager
def transaction_in(
    database: Path,
    *,
    must_exist: bool = True,
    must_be_live: bool = False,
    currency: str | None = None,
) -> Iterator["Transaction"]:
    """Open one transaction in a marketplace's file, live or of a rehearsal.

    Args:
        database: the file; afterwards only its owner can read it.
        must_exist: whether a missing file is an error, or becomes a live marketplace.
        must_be_live: whether to refuse a rehearsal's file.
        currency: the currency of a new file; an existing file must have the same. None
            accepts any.

    Raises:
        ConfigError: the file is missing, or is not a marketplace's.
        RefusedForSafety: the file is a rehearsal's.
    """
    if must_exist and not database.exists():
        raise ConfigError(
            [f"{database}: no such file"], next_step="name the marketplace's file with --database"
        )
    with (
        closing(_opened(database, must_be_live=must_be_live, currency=currency)) as backend,
        backend.transaction() as transaction,
    ):
        yield transaction


def site_of(transaction: "Transaction", stated: str = "") -> str:
    """Return the site's URL for browsers: as stated, or where it was served last."""
    known = stated or site_address(transaction)
    if known is None:
        click.echo(
            f"This marketplace was never served, so the link uses {USUAL_URL}. If its "
            "URL will be another, give --site-url, or serve it first.",
            err=True,
        )
    return (known or USUAL_URL).rstrip("/")


def say_if_local(link: str) -> None:
    """Say on standard error that a link leads to this machine alone, if it does."""
    if is_loopback(urlsplit(link).hostname or ""):
        click.echo(
            "This link works on this machine only. For other people, serve at an address that "
            "they reach: docs/how-to/worker-site.md.",
            err=True,
        )


def iso_moment(ms: int) -> str:
    """Return a moment of the marketplace as ISO 8601, in UTC."""
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="seconds")


def _opened(database: Path, *, must_be_live: bool, currency: str | None) -> "Backend":
    from piecework.marketplace.state.backend import Backend, Rules, rules_of
    from piecework.marketplace.state.storage import WrongDatabaseError, is_passing

    try:
        rules = rules_of(database) if database.exists() else Rules()
        if must_be_live and rules.rehearsal:
            raise RefusedForSafety(
                f"{database} is a rehearsal's file, where any key works and no money is real",
                next_step="name the file of a live marketplace, or a new file, with --database",
            )
        if currency and not database.exists():
            rules = replace(rules, prices=replace(rules.prices, currency=currency))
        if currency and rules.prices.currency != currency:
            raise ConfigError(
                [f"{database} is in {rules.prices.currency}, not in {currency}"],
                next_step="a marketplace has one currency; name another file with --database",
            )
        return Backend(database, rules)
    except WrongDatabaseError as wrong:
        raise ConfigError([str(wrong)]) from wrong
    except sqlite3.DatabaseError as fault:
        if isinstance(fault, sqlite3.OperationalError) and is_passing(fault):
            raise
        raise ConfigError([f"{database} is not a marketplace's file: {fault}"]) from fault
