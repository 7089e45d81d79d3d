"""Stores in PostgreSQL, whose driver an extra of the package installs.

Most stores are files. So the driver is imported only where a store's address has a URL.
"""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from piecework.domain.errors import load_extra
from piecework.domain.store_address import StoreAddress
from piecework.store.files import POSTGRES_SCHEMA

if TYPE_CHECKING:
    from piecework.store.postgres_database import PostgresDatabase


def locked(address: StoreAddress, *, by: str) -> AbstractContextManager[None]:
    """Hold the lock of a pass (`postgres_sessions.locked`)."""
    _need_driver()
    from piecework.store import postgres_sessions  # noqa: PLC0415 - as above

    return postgres_sessions.locked(address, by=by)


def connected(address: StoreAddress) -> "AbstractContextManager[PostgresDatabase | None]":
    """Connect to a store as it is (`postgres_sessions.connected`)."""
    _need_driver()
    from piecework.store import postgres_sessions  # noqa: PLC0415 - as above

    return postgres_sessions.connected(address)


def has_table(address: StoreAddress, name: str = "schema_migrations") -> bool:
    """Whether a schema has a table (`postgres_sessions.has_table`)."""
    _need_driver()
    from piecework.store import postgres_sessions  # noqa: PLC0415 - as above

    return postgres_sessions.has_table(address, name)


def schemas(address: StoreAddress) -> list[str]:
    """Return the schemas of a database with a store (`postgres_sessions.schemas`)."""
    _need_driver()
    from piecework.store import postgres_sessions  # noqa: PLC0415 - as above

    return postgres_sessions.schemas(address)


def new_schema(
    address: StoreAddress, folder: Path = POSTGRES_SCHEMA
) -> "AbstractContextManager[PostgresDatabase]":
    """Open a new store for a copy (`postgres_sessions.new_schema`)."""
    _need_driver()
    from piecework.store import postgres_sessions  # noqa: PLC0415 - as above

    return postgres_sessions.new_schema(address, folder)


def records(address: StoreAddress) -> "AbstractContextManager[PostgresDatabase]":
    """Open records of earned qualifications (`postgres_sessions.records`)."""
    _need_driver()
    from piecework.store import postgres_sessions  # noqa: PLC0415 - as above

    return postgres_sessions.records(address)


def open_schema(
    address: StoreAddress,
    folder: Path = POSTGRES_SCHEMA,
    *,
    create_missing: bool,
    survives_power_cuts: bool,
) -> "PostgresDatabase":
    """Open a store (`postgres_sessions.open_schema`)."""
    _need_driver()
    from piecework.store import postgres_sessions  # noqa: PLC0415 - as above

    return postgres_sessions.open_schema(
        address, folder, create_missing=create_missing, survives_power_cuts=survives_power_cuts
    )


def _need_driver() -> None:
    """Check that psycopg is installed.

    Raises:
        ConfigError: it is not.
    """
    load_extra("psycopg", extra="sql", use="a store in PostgreSQL")
