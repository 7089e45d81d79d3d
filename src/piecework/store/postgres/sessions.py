"""Connect to stores in PostgreSQL: a session each, and the lock of a pass.

A pass holds an advisory lock with its session, and the database releases the lock when
the session ends for any reason. The stores that the pass opens use the same session:
so a pass that has lost its lock cannot write any more.
"""

import hashlib
import os
import platform
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import psycopg
from psycopg import sql

from piecework.domain.errors import CampaignBusy, ConfigError, RefusedForSafety, StoreError
from piecework.domain.store_address import StoreAddress
from piecework.store.files import POSTGRES_EARNED_SCHEMA, POSTGRES_SCHEMA, what_helps
from piecework.store.postgres.database import PostgresDatabase, explain, first_line
from piecework.store.postgres.migrations import (
    check_known,
    create,
    is_up_to_date,
    refuse_foreign,
)

_SCHEMES = ("postgresql://", "postgres://", "postgresql+psycopg://")
_CONNECT_SECONDS = 15
_SILENCE_MS = 60_000
"""How long sent data may stay unacknowledged. Keepalives are sent only while there is
none; without this limit, Linux would repeat the data for a quarter of an hour."""
_GONE_SECONDS = 1.0
_TRY_SECONDS = 0.05
_SETTINGS = """
SET lock_timeout = '30s'; SET client_min_messages = warning; SET jit = off;
SET enable_hashjoin = off; SET enable_mergejoin = off;
SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10;
SET tcp_keepalives_count = 3; SET tcp_user_timeout = '60s'
"""
"""Settings of a session.

All queries look rows up by an index, as in SQLite. Without these settings, PostgreSQL
would read whole tables for a few rows, because it knows nothing of tables that have
just grown. The server notices after a minute that a client's machine is gone.
"""

_HOLDER = """
SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid)
WHERE locktype = 'advisory' AND granted AND objsubid = 1
AND pg_locks.database = (
    SELECT oid FROM pg_database WHERE datname = current_database())
AND classid = %s AND objid = %s
"""

_OWN_STORES = """
WITH me AS (SELECT oid FROM pg_roles WHERE rolname = current_user)
SELECT nspname::text FROM pg_namespace JOIN pg_class ON relnamespace = pg_namespace.oid
WHERE relname IN ('bound', 'used_inputs', 'pass_notes') AND relkind = 'r' AND nspname <> ?
AND relowner = (SELECT oid FROM me) AND nspowner = (SELECT oid FROM me)
GROUP BY 1 HAVING count(*) = 3 ORDER BY 1
"""

_passes: ContextVar[Mapping[tuple[str, str], PostgresDatabase]] = ContextVar(
    "passes", default=MappingProxyType({})
)
"""Sessions that hold the lock of a pass, by URL and schema; other threads have none."""


@contextmanager
def locked(address: StoreAddress, *, by: str) -> Iterator[None]:
    """Hold the lock of a pass on a store, on all machines.

    Raises:
        CampaignBusy: another process holds it; the message has its id, its machine and
            what it does (`by`).
        StoreError: the database cannot be used.
    """
    session = _connect(address)
    try:
        _take_lock(session)
        session.execute("SELECT set_config('application_name', ?, false)", [_this_process(by)])
        session.is_shared = True
        before = _passes.get()
        _passes.set({**before, (address.url, address.schema): session})
        try:
            yield
        finally:
            _passes.set(before)
            session.is_shared = False
    finally:
        session.close()


@contextmanager
def connected(address: StoreAddress) -> Iterator[PostgresDatabase | None]:
    """Connect to a store as it is; `None` if it is missing or of another version."""
    with _session(address) as session:
        yield session if is_up_to_date(session, POSTGRES_SCHEMA) else None


def has_table(address: StoreAddress, name: str = "schema_migrations") -> bool:
    """Whether a schema has a table; each has `schema_migrations`, of any version."""
    with _session(address) as session:
        row = session.execute(
            "SELECT 1 FROM pg_class JOIN pg_namespace "
            "ON pg_namespace.oid = relnamespace WHERE nspname = ? AND relname = ?",
            [address.schema, name],
        ).fetchone()
    return row is not None


def schemas(address: StoreAddress) -> list[str]:
    """Return the names of all schemas of a database that have a store."""
    with _session(address) as session:
        rows = session.execute(
            "SELECT nspname::text FROM pg_class JOIN pg_namespace "
            "ON pg_namespace.oid = relnamespace WHERE relname = 'raw_answers' "
            "ORDER BY 1"
        ).fetchall()
    return [name for (name,) in rows]


def rows_beside(address: StoreAddress, query: str) -> Iterator[tuple[str, tuple[Any, ...] | None]]:
    """Yield the first row of a query on each other store of a database, with its schema.

    Only schemas and tables of the session's own user are read: another user's view would run
    with our rights.

    Args:
        address: of a store, which may be missing.
        query: SQL, with {0} before the name of each table.

    Raises:
        StoreError: the database cannot be used; then a store may be among those not read.
    """
    with _session(address) as session:
        for (schema,) in session.execute(_OWN_STORES, [address.schema]).fetchall():
            before = f"{sql.Identifier(schema).as_string(session.conn)}."
            try:
                row = session.execute(query.format(before)).fetchone()
            except psycopg.ProgrammingError:
                continue  # of another version
            yield schema, row


def open_schema(
    address: StoreAddress,
    folder: Path = POSTGRES_SCHEMA,
    *,
    create_missing: bool,
    survives_power_cuts: bool,
) -> PostgresDatabase:
    """Open a store, and bring its schema up to date.

    Args:
        address: where it is.
        folder: the SQL files of its tables.
        create_missing: create it if it does not exist.
        survives_power_cuts: wait for the server's disk at every commit.

    Raises:
        StoreError: it does not exist (and `create_missing` is false), the database
            cannot be used, or it is not a store of this version.
    """
    session = _of_pass(address) or _connect(address)
    try:
        waits = "on" if survives_power_cuts else "off"
        session.execute(f"SET synchronous_commit = {waits}")
        is_known = check_known(session, folder)
        if (is_known or create_missing) and not is_up_to_date(session, folder):
            create(session, folder, lock=_number("create", address))
    except BaseException:
        session.close()
        raise
    if not is_known and not create_missing:
        session.close()
        raise StoreError(
            f"{address}: there is no store yet",
            next_step="piecework rehearse CAMPAIGN (or run CAMPAIGN) creates it",
        )
    return session


@contextmanager
def new_schema(address: StoreAddress, folder: Path) -> Iterator[PostgresDatabase]:
    """Open a new store for a copy: one transaction, in which triggers rest.

    Raises:
        StoreError: the database user may not create tables, or the database fails.
    """
    with _session(address) as session, session.atomic():
        create(session, folder, lock=_number("create", address))
        tables = session.tables()
        for table in tables:
            session.run(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        yield session
        for table in tables:
            session.run(f"ALTER TABLE {table} ENABLE TRIGGER USER")
        session.go_on_numbering()


@contextmanager
def records(address: StoreAddress) -> Iterator[PostgresDatabase]:
    """Open records of earned qualifications, and create them if they do not exist.

    Raises:
        StoreError: the database cannot be used, or the schema is of another version.
    """
    with _session(address) as session:
        check_known(session, POSTGRES_EARNED_SCHEMA)
        if not is_up_to_date(session, POSTGRES_EARNED_SCHEMA):
            create(session, POSTGRES_EARNED_SCHEMA, lock=_number("create", address))
        yield session


@contextmanager
def _session(address: StoreAddress) -> Iterator[PostgresDatabase]:
    """Use the session of a pass of this process, or a new one."""
    session = _of_pass(address) or _connect(address)
    try:
        yield session
    finally:
        session.close()


def _of_pass(address: StoreAddress) -> PostgresDatabase | None:
    """Return the session of a pass that is open in this thread, if any."""
    return _passes.get().get((address.url, address.schema))


def _connect(address: StoreAddress) -> PostgresDatabase:
    """Return a new session with a store's database.

    Raises:
        ConfigError: the URL is not one of PostgreSQL's.
        StoreError: no server answers, or it refuses.
    """
    writers = _number("write", address)
    return PostgresDatabase(partial(_connection, address), address, writers=writers)


def _connection(address: StoreAddress) -> "psycopg.Connection[tuple[Any, ...]]":
    """Connect to a store's database.

    Raises:
        ConfigError: the URL is not one of PostgreSQL's.
        StoreError: no server answers, or it refuses.
        RefusedForSafety: the schema has what another database user made.
    """
    if not address.url.startswith(_SCHEMES):
        wrong = (
            "store.url: no URL of a PostgreSQL database; write it like "
            "postgresql://user@host/database"
        )
        raise ConfigError([wrong])
    try:
        connection = psycopg.connect(
            "postgresql://" + address.url.partition("://")[2],
            autocommit=True,
            connect_timeout=_CONNECT_SECONDS,
            application_name=_this_process(),
            keepalives_idle=30,
            keepalives_interval=10,
            keepalives_count=3,
            tcp_user_timeout=_SILENCE_MS,
        )
    except psycopg.Error as fault:
        raise StoreError(
            f"{address}: the database cannot be reached ({first_line(fault)})",
            next_step="check the URL ([store] url, or PIECEWORK_STORE_URL) and that "
            "the server runs, then run the same command again",
        ) from fault
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        connection.close()
        raise StoreError(
            f"{address}: the database has the encoding {encoding}, and a store needs UTF8",
            next_step="create a database with ENCODING 'UTF8' TEMPLATE template0, and "
            "name it in the URL",
        )
    try:
        path = sql.SQL("SET search_path TO {}").format(sql.Identifier(address.schema))
        connection.execute(path)
        connection.execute(_SETTINGS)
        refuse_foreign(connection, address)
    except psycopg.Error as fault:
        connection.close()
        raise explain(fault, address) or fault from fault
    except RefusedForSafety:
        connection.close()
        raise
    return connection


def _take_lock(session: PostgresDatabase) -> None:
    number = _number("pass", session.address)
    # The server needs a moment to notice that a killed process has gone.
    deadline = time.monotonic() + _GONE_SECONDS
    while True:
        (has_lock,) = session.execute("SELECT pg_try_advisory_lock(?)", [number]).fetchone() or (0,)
        if has_lock:
            return
        if time.monotonic() > deadline:
            break
        time.sleep(_TRY_SECONDS)
    unsigned = number % 2**64
    row = session.conn.execute(_HOLDER, [unsigned >> 32, unsigned % 2**32]).fetchone()
    holder = row[0] if row else "another process"
    raise CampaignBusy(
        f"{session.address}: {holder} is working on this campaign", next_step=what_helps(holder)
    )


def _this_process(by: str = "") -> str:
    """Return the name of this process among the sessions; 63 bytes at most."""
    machine = platform.node()[:24]
    return f"process {os.getpid()} on {machine}{by and f' ({by})'}"[:63]


def _number(use: str, address: StoreAddress) -> int:
    """Return the number of an advisory lock; PostgreSQL has 64 bits for it."""
    digest = hashlib.sha256(f"piecework {use} {address.schema}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
