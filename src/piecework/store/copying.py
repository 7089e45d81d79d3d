"""Copy a store from one database to another, and verify that both are equal.

A copy is whole or not there: in PostgreSQL it is one transaction, and a file gets its
name last. The triggers of the new store rest meanwhile, because the totals are copied,
too. While a store is copied, no pass works on it and no other connection writes to it.
"""

import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from piecework.domain.errors import StoreError
from piecework.domain.store_address import FILE_NAME, StoreAddress, in_folder, store_address
from piecework.foundation.sqlitefile.database import Migrations, origin, statements
from piecework.store import archive, bound, earned_records
from piecework.store.archive import Kind
from piecework.store.database import Store, exists, open_store
from piecework.store.files import (
    POSTGRES_EARNED_SCHEMA,
    POSTGRES_SCHEMA,
    SCHEMA,
    check_kind,
    sync,
)
from piecework.store.lock import only_copy
from piecework.store.sqlite_database import migrations, open_file

_AT_ONCE = 2_000
_UNFINISHED = ".unfinished"
_KINDS: tuple[Kind, ...] = ("answers", "documents")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """A table of both schemas.

    Attributes:
        columns: names of all columns, with SQLite's own row number where rows have an
            order that no other column tells.
        key: names of the columns of its primary key.
    """

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]

    @property
    def in_order(self) -> str:
        """A query of all rows, in an order that depends on nothing but them."""
        return f"SELECT {_quoted(self.columns)} FROM {self.name} ORDER BY {_quoted(self.key)}"

    @property
    def insertion(self) -> str:
        """The statement that inserts a row."""
        marks = ", ".join("?" for _ in self.columns)
        return f"INSERT INTO {self.name} ({_quoted(self.columns)}) VALUES ({marks})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """What was copied and verified.

    Attributes:
        rows: number of rows by table.
        digest: digest of all rows, equal in both stores.
    """

    rows: Mapping[str, int]
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """What is copied: a campaign's store, or records of earned qualifications.

    Attributes:
        in_file: the folder with SQLite's schema.
        migrations: that schema.
        in_postgres: the folder with PostgreSQL's schema.
    """

    in_file: Path
    migrations: Migrations
    in_postgres: Path


_STORE = _Kind(in_file=SCHEMA, migrations=migrations, in_postgres=POSTGRES_SCHEMA)
_RECORDS = _Kind(
    in_file=earned_records.SCHEMA,
    migrations=earned_records.MIGRATIONS,
    in_postgres=POSTGRES_EARNED_SCHEMA,
)


@cache
def tables_of(folder: Path) -> tuple[_Table, ...]:
    """Return the tables in the order of a schema: each refers to earlier ones."""
    with closing(sqlite3.connect(":memory:")) as empty:
        for path in sorted(folder.glob("m[0-9]*.sql")):
            for statement in statements(path.read_text(encoding="utf-8")):
                empty.execute(statement)
        names = empty.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid"
        ).fetchall()
        return tuple(_described(empty, name) for (name,) in names)


def _described(empty: sqlite3.Connection, name: str) -> _Table:
    columns = empty.execute(f"PRAGMA table_info({name})").fetchall()
    keys = sorted((number, column) for _, column, *_, number in columns if number)
    names = tuple(column for _, column, *_ in columns)
    has_order = name in {"dealt_items", "hits", "imported_items", "intents"}
    return _Table(
        name=name,
        columns=("rowid", *names) if has_order else names,
        key=tuple(column for _, column in keys),
    )


def copy(source: StoreAddress, target: StoreAddress) -> Copied:
    """Copy a store, and compare the copy with it.

    Args:
        source: where the store is.
        target: where the copy is to be; there must be no store yet.

    Raises:
        CampaignBusy: a pass works on one of them.
        StoreError: there is no store to copy, or there is one at the target already, or
            the copy differs.
    """
    with ExitStack() as stack:
        for address in (source, target):
            stack.enter_context(only_copy(address))
        if exists(target):
            raise StoreError(
                f"{target}: there is a store already, and a copy replaces none",
                next_step="name another folder or database, or move that store away",
            )
        kind = _kind_of(source)
        old = stack.enter_context(closing(_opened(source, kind)))
        stack.enter_context(old.db.exclusive())
        with _new_store(target, kind) as new:
            digest = hashlib.sha256()
            rows = {}
            for table in tables_of(kind.in_file):
                rows[table.name] = _copy_table(table, old, new, digest.update)
            if kind is _STORE:
                _copy_archive(old, new)
            new.db.set_changes(old.changes())
            again = hashlib.sha256()
            for table in tables_of(kind.in_file):
                _check_number(table, new, rows[table.name])
                for _ in _rows(table, new, again.update):
                    pass
            if again.digest() != digest.digest():
                raise StoreError(
                    f"{target}: the copy differs from {source}, so it was not kept",
                    next_step="check the disks of both, then copy again",
                )
        return Copied(rows=rows, digest=digest.hexdigest())


def resolved(source: str, target: str) -> tuple[StoreAddress, StoreAddress]:
    """Return the addresses of a store and its copy, as a person wrote them.

    Args:
        source: folder or file of a store, or the URL of a database, perhaps with the
            name of a schema after `#`.
        target: the same. A URL without a schema gets that of the source, or one that is
            named after its campaign.

    Raises:
        StoreError: there is no such store, or the database has several.
    """
    old = _written(source)
    if old.url and not old.schema:
        old = replace(old, schema=_only_schema(old))
    new = _written(target)
    if new.url and not new.schema:
        new = replace(new, schema=old.schema or _schema_of_file(old, new))
    return old, new


def _kind_of(address: StoreAddress) -> _Kind:
    """Return what there is at an address; a store if there is nothing."""
    if address.url:
        from piecework.store.postgres import sessions  # noqa: PLC0415 - an extra installs the driver

        return _RECORDS if sessions.has_table(address, "evidence") else _STORE
    if not address.path.is_file():
        return _STORE
    check_kind(address.path)
    with closing(sqlite3.connect(address.path)) as file:
        known = origin(file, _RECORDS.migrations)
    return _RECORDS if known.is_ours else _STORE


def _opened(address: StoreAddress, kind: _Kind) -> Store:
    if address.url:
        from piecework.store.postgres import sessions  # noqa: PLC0415 - an extra installs the driver

        session = sessions.open_schema(
            address, kind.in_postgres, create_missing=False, survives_power_cuts=True
        )
        return Store(address, session, 0)
    file = open_file(address.path, kind.migrations, create=False, survives_power_cuts=True)
    return Store(address, file, 0)


def _written(name: str) -> StoreAddress:
    if "://" in name:
        url, _, schema = name.partition("#")
        return StoreAddress(path=Path.cwd() / FILE_NAME, url=url, schema=schema)
    path = Path(name).resolve()
    return StoreAddress(path=path) if path.suffix == ".db" else in_folder(path)


def _only_schema(address: StoreAddress) -> str:
    from piecework.store.postgres import sessions  # noqa: PLC0415 - an extra installs the driver

    # The catalogue alone is read: what is in "public" may be other users'.
    schemas = sessions.schemas(replace(address, schema="pg_temp"))
    if len(schemas) == 1:
        return schemas[0]
    named = f"{len(schemas)} stores" if schemas else "no store"
    raise StoreError(
        f"{address}: the database has {named}",
        next_step="write one after the URL: " + " or ".join(f"#{it}" for it in schemas)
        if schemas
        else "check the URL",
    )


def _schema_of_file(address: StoreAddress, new: StoreAddress) -> str:
    """Return the schema that a campaign with this store looks for in a database."""
    if _kind_of(address) is _RECORDS:
        return earned_records.shared_records(address.path, new).schema
    with closing(open_store(address)) as store:
        campaign = bound.read_bound(store).campaign
    if campaign is None:
        raise StoreError(
            f"{address}: no pass has begun with this store, so it has nothing to copy",
            next_step="set `[store] url` in the machine's file, and begin there",
        )
    return store_address(address.folder, campaign=campaign, url="-").schema


def _copy_table(table: _Table, old: Store, new: Store, note: Callable[[bytes], object]) -> int:
    # The first rows of some tables are in the schema.
    new.db.execute(f"DELETE FROM {table.name}")
    number = 0
    for rows in _rows(table, old, note):
        new.db.executemany(table.insertion, rows)
        number += len(rows)
    return number


def _rows(
    table: _Table, store: Store, note: Callable[[bytes], object]
) -> Iterator[list[tuple[object, ...]]]:
    """Yield all rows of a table in chunks, and note the bytes of each for a digest."""
    for rows in store.db.chunks(table.in_order, size=_AT_ONCE):
        for row in rows:
            note(repr((table.name, *row)).encode("utf-8", "surrogatepass"))
        yield rows


def _copy_archive(old: Store, new: Store) -> None:
    """Copy the files of the archive, after their digests were checked."""
    for part in archive.parts(old):
        for kind in _KINDS:
            content = {kind: archive.content_of(old, part, kind)}
            archive.write_beside(new, part.batch, part.part, content)
            archive.insert_into(new, part.part, content)
            archive.content_of(new, part, kind)


def _check_number(table: _Table, new: Store, number: int) -> None:
    (copied,) = new.db.execute(f"SELECT count(*) FROM {table.name}").fetchone()
    if copied != number:
        raise StoreError(
            f"{new.address}: the copy has {copied} rows in the table {table.name}, but "
            f"{number} were copied; it was not kept",
            next_step="copy again",
        )


@contextmanager
def _new_store(address: StoreAddress, kind: _Kind) -> Iterator[Store]:
    """Open a new store without triggers; it stays only if the block succeeds."""
    made = _new_schema if address.url else _new_file
    with made(address, kind) as store:
        yield store


@contextmanager
def _new_schema(address: StoreAddress, kind: _Kind) -> Iterator[Store]:
    from piecework.store.postgres import sessions  # noqa: PLC0415 - an extra installs the driver

    with sessions.new_schema(address, kind.in_postgres) as database:
        yield Store(address, database, 0)


@contextmanager
def _new_file(address: StoreAddress, kind: _Kind) -> Iterator[Store]:
    unfinished = address.path.with_name(address.path.name + _UNFINISHED)
    _remove(unfinished)
    try:
        database = open_file(unfinished, kind.migrations, create=True, survives_power_cuts=True)
        with closing(Store(StoreAddress(path=unfinished), database, 0)) as store:
            with store.db.exclusive():
                triggers = store.db.execute(
                    "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
                ).fetchall()
                for name, _ in triggers:
                    store.db.execute(f"DROP TRIGGER {name}")
                yield store
                for _, sql in triggers:
                    store.db.execute(sql)
            store.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        sync(unfinished)
        unfinished.rename(address.path)
        sync(address.folder)
    finally:
        _remove(unfinished)


def _remove(file: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)


def _quoted(names: tuple[str, ...]) -> str:
    return ", ".join(f'"{name}"' for name in names)
