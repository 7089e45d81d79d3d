"""Write releases into tables of a database, through SQLAlchemy.

A release and its line in `<table>_releases` are one transaction, so each is written
once, even if a process dies. Without history, the tables are what the latest release
is; with history, they have a row for each change, which is never changed again.
"""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import sqlalchemy as sa

from piecework.campaign.exchange.databases import engine_at, file_of, first_line, reader_at
from piecework.campaign.exchange.sinks import SinkFailed
from piecework.domain.column_names import IS_WITHDRAWN, RELEASE
from piecework.domain.errors import PieceworkError

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

_MANIFEST = "manifest.json"
_WITHDRAWN = "_withdrawn.parquet"
_ROWS_AT_ONCE = 1_000
_FORMER_NAMES = {RELEASE: "release", IS_WITHDRAWN: "is_withdrawn"}
"""What columns of the sink were called before fields could have these names."""
_MAIN = ("captions", "answers")

_TYPES: tuple[tuple[Any, Any], ...] = (
    (pa.types.is_boolean, sa.Boolean),
    (pa.types.is_integer, sa.BigInteger),
    (pa.types.is_floating, sa.Double),
    (pa.types.is_timestamp, lambda: sa.DateTime(timezone=True)),
    (pa.types.is_list, sa.JSON),
)


def write_releases(
    releases: Path, address: str, table: str, *, has_history: bool, beside: Path
) -> int:
    """Write the releases that a database lacks; return how many.

    The answers that count go to `table`, the other tables of a release to
    `<table>_items` and `<table>_set_aside`.

    Args:
        releases: the folder of all releases.
        address: SQLAlchemy's URL of the database, as in the campaign file.
        table: the name of the main table, with or without a schema.
        has_history: whether to keep each change as a row, and not the latest state.
        beside: the folder that relative paths of files start from.

    Raises:
        ConfigError: the address is wrong, or its driver is not installed.
        SinkFailed: the database refused, or has the releases of another campaign.
    """
    engine = engine_at(address, beside=beside)
    written = 0
    try:
        for folder in sorted(releases.glob("[0-9]*")):
            with engine.begin() as connection:
                sink = _Sink(connection, address, table, has_history=has_history)
                written += sink.write(folder)
    except PieceworkError:
        raise
    except sa.exc.SQLAlchemyError as fault:
        raise SinkFailed(f"{address}: {first_line(fault)}") from fault
    finally:
        engine.dispose()
    return written


def reach_database(address: str, table: str, *, beside: Path) -> None:
    """Connect to a database, and look for a table's schema, without writing.

    Raises:
        ConfigError: the address is wrong, or its driver is not installed.
        SinkFailed: there is no answer, it is a refusal, or the schema does not exist.
    """
    file = file_of(address, beside=beside)
    if file is not None and not file.exists():
        # Connecting would create it.
        if not os.access(file.parent, os.W_OK):
            raise SinkFailed(f"{address}: {file.parent} is no folder to write to")
        return
    engine = reader_at(address, beside=beside)
    schema = table.rpartition(".")[0]
    try:
        with engine.connect() as connection:
            if schema and not sa.inspect(connection).has_schema(schema):
                raise SinkFailed(f"{address}: there is no schema {schema}")
    except sa.exc.SQLAlchemyError as fault:
        raise SinkFailed(f"{address}: {first_line(fault)}") from fault
    finally:
        engine.dispose()


class _Sink:
    """The tables of one campaign in a database, inside a transaction."""

    def __init__(
        self, connection: "Connection", address: str, table: str, *, has_history: bool
    ) -> None:
        self._connection = connection
        self._address = address
        schema, _, self._table = table.rpartition(".")
        self._metadata = sa.MetaData(schema=schema or None)
        self._has_history = has_history
        self._releases = sa.Table(
            f"{self._table}_releases",
            self._metadata,
            sa.Column("release", sa.Integer, primary_key=True, autoincrement=False),
            sa.Column("campaign", sa.Text, nullable=False),
            sa.Column("released_at", sa.Text, nullable=False),
            sa.Column("has_history", sa.Boolean, nullable=False),
            sa.Column("manifest", sa.JSON, nullable=False),
        )

    def write(self, folder: Path) -> bool:
        """Write a release; return whether it was missing."""
        facts = json.loads((folder / _MANIFEST).read_bytes())
        self._releases.create(self._connection, checkfirst=True)
        row = self._connection.execute(
            sa.select(self._releases).where(self._releases.c.release == facts["release"])
        ).first()
        if row is not None:
            self._must_match(row, facts)
            return False
        for name in facts["tables"]:
            self._write_table(folder, name, facts["release"])
        self._connection.execute(
            self._releases.insert(),
            {
                "release": facts["release"],
                "campaign": facts["campaign"],
                "released_at": facts["released_at"],
                "has_history": self._has_history,
                "manifest": facts,
            },
        )
        return True

    def _must_match(self, row: "sa.Row[Any]", facts: Mapping[str, Any]) -> None:
        if row.manifest != facts:
            raise SinkFailed(
                f"{self._address}: {self._table} has another release {row.release}, of "
                f"campaign {row.campaign!r}; name a table that no other campaign has"
            )
        if row.has_history != self._has_history:
            before = "with" if row.has_history else "without"
            raise SinkFailed(
                f"{self._address}: {self._table} was begun {before} history; name "
                "another table, or set history as it was"
            )

    def _write_table(self, folder: Path, name: str, release: int) -> None:
        rows_file = folder / f"{name}.parquet"
        ids_file = folder / f"{name}{_WITHDRAWN}"
        rows = pq.read_table(rows_file) if rows_file.exists() else None
        ids = pq.read_table(ids_file) if ids_file.exists() else None
        changed = ids if rows is None else rows
        if changed is None:
            return
        schema = changed.schema
        key = schema.names[0]
        target = self._target(name, key, schema)
        if rows is not None:
            if not self._has_history:
                self._delete(target, key, rows[key])
            self._insert(target, rows, release, is_withdrawn=False)
        if ids is not None:
            if self._has_history:
                self._insert(target, ids, release, is_withdrawn=True)
            else:
                self._delete(target, key, ids[key])

    def _target(self, name: str, key: str, schema: pa.Schema) -> sa.Table:
        """Return the table for these columns, after making what it lacks."""
        whole = self._table if name in _MAIN else f"{self._table}_{name}"
        columns = [
            sa.Column(field.name, _type_of(field), primary_key=field.name == key)
            for field in schema
        ]
        columns.append(
            sa.Column(RELEASE, sa.Integer, primary_key=self._has_history, autoincrement=False)
        )
        if self._has_history:
            columns.append(sa.Column(IS_WITHDRAWN, sa.Boolean))
        schema = self._metadata.schema
        table = sa.Table(whole, sa.MetaData(schema=schema), *columns)
        inspector = sa.inspect(self._connection)
        if not inspector.has_table(whole, schema=schema):
            table.create(self._connection)
            return table
        there = {column["name"] for column in inspector.get_columns(whole, schema)}
        for own, former in _FORMER_NAMES.items():
            if own in table.c and own not in there and former in there and self._has_begun():
                self._rename(table, former, own)
                there ^= {former, own}
        for column in table.columns:
            if column.name not in there:
                self._add(table, column)
        return table

    def _has_begun(self) -> bool:
        """Return whether the sink has a release: then it made the tables' columns."""
        return self._connection.execute(sa.select(self._releases.c.release)).first() is not None

    def _rename(self, table: sa.Table, former: str, name: str) -> None:
        quote = self._connection.dialect.identifier_preparer
        self._connection.exec_driver_sql(
            f"ALTER TABLE {quote.format_table(table)} "
            f"RENAME COLUMN {quote.quote(former)} TO {quote.quote(name)}"
        )

    def _add(self, table: sa.Table, column: "sa.Column[Any]") -> None:
        """Add a column that a later release has for the first time."""
        dialect = self._connection.dialect
        quote = dialect.identifier_preparer
        kind = column.type.compile(dialect=dialect)
        self._connection.exec_driver_sql(
            f"ALTER TABLE {quote.format_table(table)} "
            f"ADD COLUMN {quote.format_column(column)} {kind}"
        )

    def _delete(self, table: sa.Table, key: str, ids: "pa.ChunkedArray") -> None:
        for part in _parts(ids.to_pylist()):
            self._connection.execute(table.delete().where(table.c[key].in_(part)))

    def _insert(self, table: sa.Table, rows: pa.Table, release: int, *, is_withdrawn: bool) -> None:
        more: dict[str, object] = {RELEASE: release}
        if self._has_history:
            more[IS_WITHDRAWN] = is_withdrawn
        for batch in rows.to_batches(max_chunksize=_ROWS_AT_ONCE):
            cells = [{**row, **more} for row in batch.to_pylist()]
            self._connection.execute(table.insert(), cells)


def _type_of(field: pa.Field) -> Any:  # noqa: ANN401 - a type of SQLAlchemy
    for fits, type_ in _TYPES:
        if fits(field.type):
            return type_()
    return sa.Text()


def _parts(ids: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(ids), _ROWS_AT_ONCE):
        yield ids[start : start + _ROWS_AT_ONCE]
