"""Create the tables of a store in PostgreSQL, and recognise what created a schema.

The SQL files in `postgres_schema/` are migrations like those of SQLite's store
(`piecework.foundation.sqlitefile.database`). The table `schema_migrations` records them with a
digest of their statements, so a schema of another version is recognised and refused.
"""

import logging
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
from psycopg import errors, sql

from piecework.domain.clock import SystemClock
from piecework.domain.errors import RefusedForSafety, StoreError
from piecework.domain.store_address import StoreAddress
from piecework.foundation.sqlitefile.database import digest_of
from piecework.store.postgres.database import PostgresDatabase, explain, first_line

_LOG = logging.getLogger(__name__)
_FOREIGN = """
WITH me AS (SELECT oid FROM pg_roles WHERE rolname = current_user),
there AS (SELECT oid, nspowner FROM pg_namespace WHERE nspname = %(schema)s),
owned (kind, name, owner) AS (
    SELECT 'schema', %(schema)s, nspowner FROM there
    UNION ALL SELECT 'table', relname::text, relowner
    FROM pg_class JOIN there ON relnamespace = there.oid
    UNION ALL SELECT 'function', proname::text, proowner
    FROM pg_proc JOIN there ON pronamespace = there.oid
    UNION ALL SELECT 'operator', oprname::text, oprowner
    FROM pg_operator JOIN there ON oprnamespace = there.oid
    UNION ALL SELECT 'type', typname::text, typowner
    FROM pg_type JOIN there ON typnamespace = there.oid
    UNION ALL SELECT 'trigger', tgname::text, proowner
    FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
    JOIN there ON relnamespace = there.oid JOIN pg_proc ON pg_proc.oid = tgfoid
    WHERE NOT tgisinternal
)
SELECT kind, name, pg_get_userbyid(owner)::text FROM owned
WHERE owner <> (SELECT oid FROM me) LIMIT 1
"""
_LONGEST_SCHEMA, _KEPT = 50, 41
"""PostgreSQL cuts names after 63 bytes, so a longer one ends with its digest."""


@cache
def scripts(folder: Path) -> dict[str, str]:
    """Return the SQL of each migration of a folder by its name, in order."""
    texts = {
        path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("m[0-9]*.sql"))
    }
    return {f"{name}-{digest_of(text)}": text for name, text in texts.items()}


def is_up_to_date(session: PostgresDatabase, folder: Path) -> bool:
    """Whether a schema has all tables of this version, and no others.

    Args:
        session: the session.
        folder: the SQL files of its tables.
    """
    return _applied(session) == list(scripts(folder))


def check_known(session: PostgresDatabase, folder: Path) -> bool:
    """Return whether there is a store, of this version or an older one.

    Raises:
        StoreError: the schema is another program's, or of another version.
    """
    address = session.address
    applied = _applied(session)
    unknown = [name for name in applied if name not in scripts(folder)]
    if unknown and set(applied) > set(scripts(folder)):
        raise StoreError(
            f"{address} was brought up to date by a later version of piecework (schema "
            f"{unknown[0]}), so this version cannot use it",
            next_step="use that version; or continue from the copy from before, in the "
            f"schema {copy_name(address.schema, unknown[0])}, with `piecework store "
            "copy`",
        )
    if unknown:
        raise StoreError(
            f"{address} was created by another version of piecework: this version does "
            f"not know its schema {unknown[0]}",
            next_step="continue with the version that created it",
        )
    # Another process may have made the tables between the two questions.
    if not applied and _tables(session) and not _applied(session):
        raise StoreError(
            f"{address} has another program's tables, and is not a campaign's store",
            next_step="give this campaign another name, or the URL of another database",
        )
    return bool(applied)


def create(session: PostgresDatabase, folder: Path, *, lock: int) -> None:
    """Apply missing migrations; of several processes that try, one does it.

    Raises:
        StoreError: the database user may not create tables, or the database fails.
    """
    conn, address = session.conn, session.address
    try:
        with conn.transaction():
            conn.execute("SELECT pg_advisory_xact_lock(%s)", [lock])
            # Check again with the lock: the process that held it may have applied all.
            applied = _applied(session)
            if _has_schema(session):
                refuse_foreign(conn, address)
            else:
                conn.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(address.schema)))
            conn.execute(
                "CREATE TABLE IF NOT EXISTS schema_migrations "
                "(name TEXT PRIMARY KEY, applied_at TEXT NOT NULL)"
            )
            for name, script in scripts(folder).items():
                if name not in applied:
                    if applied:
                        _copy_before(session, name)
                        applied = []  # One copy is from before all of them.
                    conn.execute(script, prepare=False)
                    conn.execute(
                        "INSERT INTO schema_migrations VALUES (%s, %s)",
                        [name, SystemClock().now().isoformat()],
                    )
    except errors.InsufficientPrivilege as fault:
        info = conn.info
        raise StoreError(
            f"{address}: the database user {info.user!r} may not create tables "
            f"({first_line(fault)})",
            next_step=f"as the database's owner: GRANT CREATE ON DATABASE "
            f'"{info.dbname}" TO "{info.user}"; then run the same command again',
        ) from fault
    except psycopg.Error as fault:
        raise explain(fault, address) or fault from fault


def refuse_foreign(conn: "psycopg.Connection[tuple[Any, ...]]", address: StoreAddress) -> None:
    """Check that nothing in a schema is another database user's; it may be missing.

    What they made would run with our rights: triggers, and functions that a statement
    finds before those of PostgreSQL.

    Raises:
        RefusedForSafety: the schema, a table, a function, an operator, a type or a
            trigger's function belongs to another user.
    """
    row = conn.execute(_FOREIGN, {"schema": address.schema}).fetchone()
    if row is None:
        return
    kind, name, owner = row
    raise RefusedForSafety(
        f"{address}: the {kind} {name!r} belongs to the database user {owner!r}, not "
        f"to {conn.info.user!r}, and would run with the rights of {conn.info.user!r}",
        next_step="ask who made it; then give the campaign another name, which has its own "
        f"schema, or let the database's owner give all of {address.schema} to "
        f"{conn.info.user!r}",
    )


def copy_name(schema: str, migration: str) -> str:
    """Return the schema that holds a store as it was before a migration.

    >>> copy_name("piecework_birds", "m002_more-0a1b2c3d")
    'piecework_birds_before_m002'
    """
    if len(schema) > _LONGEST_SCHEMA:
        schema = f"{schema[:_KEPT]}_{digest_of(schema)}"
    return f"{schema}_before_{migration.partition('_')[0]}"


def _copy_before(session: PostgresDatabase, migration: str) -> None:
    """Copy all rows to another schema, in the transaction that changes the tables."""
    copy = sql.Identifier(copy_name(session.address.schema, migration))
    session.conn.execute(sql.SQL("CREATE SCHEMA {}").format(copy))
    for table in sorted(_tables(session)):
        session.conn.execute(
            sql.SQL("CREATE TABLE {}.{} AS TABLE {}.{}").format(
                copy,
                sql.Identifier(table),
                sql.Identifier(session.address.schema),
                sql.Identifier(table),
            )
        )
    _LOG.warning(
        "this version brings a store up to date; the copy from before is in the schema %s",
        copy_name(session.address.schema, migration),
    )


def _applied(session: PostgresDatabase) -> list[str]:
    if "schema_migrations" not in _tables(session):
        return []
    rows = session.conn.execute("SELECT name FROM schema_migrations ORDER BY name")
    return [name for (name,) in rows]


def _tables(session: PostgresDatabase) -> set[str]:
    rows = session.conn.execute(
        "SELECT relname::text FROM pg_class JOIN pg_namespace "
        "ON pg_namespace.oid = relnamespace WHERE nspname = %s "
        "AND relkind IN ('r', 'p')",
        [session.address.schema],
    )
    return {name for (name,) in rows}


def _has_schema(session: PostgresDatabase) -> bool:
    row = session.conn.execute(
        "SELECT 1 FROM pg_namespace WHERE nspname = %s", [session.address.schema]
    ).fetchone()
    return row is not None
