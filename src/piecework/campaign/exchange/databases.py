"""Open a database of the user's through SQLAlchemy, to read it or to write to it.

A campaign file may come from anyone, so its query gets a connection that can do nothing
but read one database: the database's own parser says whether it is one SELECT. Only
databases that can be held to this are opened.

The rows of a query are read in chunks and never changed.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import sqlalchemy as sa

from piecework.campaign.exchange.table_source import cells_of
from piecework.config.sources import CHUNK, TableRows, in_chunks
from piecework.config.user_files import with_secrets
from piecework.domain.clock import SystemClock
from piecework.domain.errors import ConfigError, load_extra
from piecework.domain.growing import Delivery, SourceRow
from piecework.domain.store_address import refused_option
from piecework.domain.text import without_secrets

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection, Engine

_SQLITE, _DUCKDB, _POSTGRES = "sqlite", "duckdb", "postgresql+psycopg"
_DIALECTS: Mapping[str, str] = {
    "sqlite": _SQLITE,
    "sqlite+pysqlite": _SQLITE,
    "duckdb": _DUCKDB,
    "postgresql": _POSTGRES,
    _POSTGRES: _POSTGRES,
}
"""Names of databases in URLs, each with the driver that opens it."""

_ALONE: Mapping[str, object] = {
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
    "python_enable_replacements": False,
    "temp_directory": "",
    "lock_configuration": True,
}
"""Settings of DuckDB: SQL reads and writes no file but the database, loads no code,
and cannot change these settings."""

_READS = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)

ONE_SELECT = "items.query must be a single SELECT, which only reads this database"


def engine_at(address: str, *, beside: Path) -> "Engine":
    """Return the engine of a database to write to, without connecting.

    Args:
        address: SQLAlchemy's URL, as in the campaign file; may have `${VARIABLES}`.
        beside: the folder that relative paths of files start from.

    Raises:
        ConfigError: the address is wrong, or its driver is not installed.
    """
    url = _url_of(address, beside)
    more: dict[str, Any] = {}
    if url.drivername == _DUCKDB:
        more = {"connect_args": {"config": dict(_ALONE)}}
    return _engine(address, url, more)


def file_of(address: str, *, beside: Path) -> Path | None:
    """Return the file of a database that is one file; `None` for a server.

    Raises:
        ConfigError: the address is wrong.
    """
    url = _url_of(address, beside)
    return None if url.drivername == _POSTGRES else Path(url.database or "")


def reader_at(address: str, *, beside: Path) -> "Engine":
    """Return the engine of a database that is only read; a missing file is not made.

    Raises:
        ConfigError: as for `engine_at`; or there is no such file.
    """
    url = _url_of(address, beside)
    if url.drivername == _POSTGRES:
        return _engine(address, url, {"connect_args": {"options": _READ_ONLY}})
    file = Path(url.database or "")
    if not file.is_file():
        raise ConfigError([f"{address}: there is no such file: {file}"])
    if url.drivername == _DUCKDB:
        only = {"read_only": True, "config": dict(_ALONE)}
        return _engine(address, url, {"connect_args": only})
    read_only = f"file:{quote(str(file))}?mode=ro"

    def connect() -> sqlite3.Connection:
        return sqlite3.connect(read_only, uri=True, check_same_thread=False)

    return _engine(address, sa.make_url("sqlite://"), {"creator": connect})


_READ_ONLY = "-c default_transaction_read_only=on"


def select(
    connection: "Connection", statement: str, *, rows_at_once: int
) -> "sa.CursorResult[Any]":
    """Run one SELECT on a connection of `reader_at`, as it is written.

    Raises:
        ConfigError: it is another statement, or several.
        SQLAlchemyError: the database refuses it.
    """
    _PREPARED[connection.dialect.name](connection, statement)
    return connection.execution_options(
        stream_results=True,
        yield_per=rows_at_once,
        # Without parameters, `:x` and `%` in a text are nothing but text.
        no_parameters=True,
    ).exec_driver_sql(statement)


def _prepare_sqlite(connection: "Connection", _statement: str) -> None:
    def authorize(action: int, *names: str | None) -> int:
        is_code = action == sqlite3.SQLITE_FUNCTION and names[1] == "load_extension"
        is_read = action in _READS and not is_code
        return sqlite3.SQLITE_OK if is_read else sqlite3.SQLITE_DENY

    connection.exec_driver_sql("PRAGMA query_only = ON")
    connection.exec_driver_sql("PRAGMA trusted_schema = OFF")
    driver: Any = connection.connection.driver_connection
    driver.set_authorizer(authorize)


def _prepare_duckdb(_connection: "Connection", statement: str) -> None:
    duckdb = load_extra("duckdb", extra="sql", use="a query of DuckDB")
    try:
        statements = duckdb.extract_statements(statement)
    except duckdb.Error as fault:
        raise ConfigError([f"{ONE_SELECT} ({first_line(fault)})"]) from fault
    kinds = [each.type for each in statements]
    if kinds != [duckdb.StatementType.SELECT]:
        there = ", ".join(kind.name for kind in kinds) or "nothing"
        raise ConfigError([f"{ONE_SELECT}; it has {there}"])


def _prepare_postgres(connection: "Connection", _statement: str) -> None:
    # The statement is read through `DECLARE ... CURSOR FOR`, which takes one SELECT.
    connection.exec_driver_sql("SET TRANSACTION READ ONLY")


_PREPARED: Mapping[str, Callable[["Connection", str], None]] = {
    "sqlite": _prepare_sqlite,
    "duckdb": _prepare_duckdb,
    "postgresql": _prepare_postgres,
}


def _url_of(address: str, beside: Path) -> sa.URL:
    """Return the URL of a database, with its driver and the whole path of a file.

    Raises:
        ConfigError: it is no URL, or of another database; or it has an option that is
            not in the list.
    """
    whole = with_secrets(address)
    try:
        url = sa.make_url(whole)
    except (sa.exc.ArgumentError, ValueError) as fault:
        wrong = (
            f"{address}: is no URL of a database; write it like "
            "postgresql+psycopg://user@host/database or sqlite:///file.db"
        )
        raise ConfigError([wrong]) from fault
    if url.drivername not in _DIALECTS:
        known = ", ".join(f"{name}://" for name in _DIALECTS)
        unknown = f"{address}: piecework does not open {url.drivername}://"
        raise ConfigError([f"{unknown}; it opens {known}"])
    url = url.set(drivername=_DIALECTS[url.drivername])
    is_postgres = url.drivername == _POSTGRES
    for name, value in url.query.items():
        if not is_postgres or refused_option(name, str(value)):
            raise ConfigError([f"{address}: the option {name!r} is not allowed in this URL"])
    # `md:...` and `https://...` would make DuckDB load code to reach them.
    if is_postgres:
        return url
    if not url.database or ":" in url.database:
        raise ConfigError([f"{address}: name the path of a file, without ':'"])
    return url.set(database=str((beside / url.database).resolve()))


def _engine(address: str, url: sa.URL, more: Mapping[str, Any]) -> "Engine":
    try:
        return sa.create_engine(url, poolclass=sa.NullPool, **more)
    except ModuleNotFoundError as fault:
        raise ConfigError(
            [f"{address}: needs {fault.name}, which is not installed"],
            next_step="pip install 'piecework[sql]'",
        ) from fault
    # SQLAlchemy does not know the database if its package is not installed.
    except sa.exc.ArgumentError as fault:
        raise ConfigError(
            [f"{address}: its driver is not installed"], next_step="pip install 'piecework[sql]'"
        ) from fault


def first_line(fault: Exception) -> str:
    """Return what a database says, without the statement and its values."""
    cause = getattr(fault, "orig", None) or fault
    return str(cause).strip().partition("\n")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query(TableRows):
    """A query; its columns are those of the rows.

    Attributes:
        database: SQLAlchemy's URL; may have `${VARIABLES}`.
        statement: the SQL of one query.
        beside: the folder that relative paths of files start from.
    """

    database: str
    statement: str
    beside: Path

    @property
    def name(self) -> str:
        """The database as the campaign file has it."""
        return without_secrets(self.database)

    def fingerprint(self) -> str:
        """Return the time: nothing tells whether the result of a query has changed."""
        return SystemClock().now().isoformat()

    def read(self, watermark: str = "", *, most: int | None = None) -> Delivery:  # noqa: ARG002 - a query has no order of arrival
        """Run the query.

        Raises:
            ConfigError: the statement is not one SELECT, or the database refuses it.
        """
        engine = reader_at(self.database, beside=self.beside)
        connection: Connection | None = None
        try:
            connection = engine.connect()
            result = select(connection, self.statement, rows_at_once=CHUNK)
            names = [str(name) for name in result.keys()]  # noqa: SIM118 - a method of results
        except (sa.exc.SQLAlchemyError, ConfigError) as fault:
            if connection is not None:
                connection.close()
            engine.dispose()
            raise self._unreadable(fault) from fault

        def close() -> None:
            # Closing rolls back, so nothing that a query did stays.
            connection.close()
            engine.dispose()

        return Delivery(
            chunks=self._chunks(result, most), is_whole=True, header=self.header(names), close=close
        )

    def _chunks(
        self, result: "sa.CursorResult[Any]", most: int | None
    ) -> Iterator[list[SourceRow]]:
        try:
            with closing(result):
                yield from in_chunks(self._rows(result), most)
        except sa.exc.SQLAlchemyError as fault:
            raise self._unreadable(fault) from fault

    def _rows(self, result: "sa.CursorResult[Any]") -> Iterator[SourceRow]:
        numbers = count(1)
        for value in result.mappings():
            located = f"{self.name}: row {next(numbers)} of the query"
            yield self.row(located, cells_of(dict(value)))

    def _unreadable(self, fault: Exception) -> ConfigError:
        return ConfigError(
            [f"{self.database}: the query cannot be run ({first_line(fault)})"],
            next_step=ONE_SELECT,
        )
