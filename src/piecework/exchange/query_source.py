"""Rows of a query, through SQLAlchemy, read in chunks and never changed."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from piecework.config.sources import CHUNK, TableRows, in_chunks
from piecework.domain.clock import SystemClock
from piecework.domain.errors import ConfigError
from piecework.domain.growing import Delivery, SourceRow
from piecework.exchange.cells import cells_of
from piecework.exchange.databases import ONE_SELECT, first_line, reader_at, select

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection


@dataclass(frozen=True, slots=True, kw_only=True)
class Query(TableRows):
    """A query; its columns are those of the rows.

    Attributes:
        database: SQLAlchemy's URL; may have `${VARIABLES}`.
        statement: the SQL of one query.
    """

    database: str
    statement: str

    @property
    def name(self) -> str:
        """The database as the campaign file has it."""
        return self.database

    def fingerprint(self) -> str:
        """Return the time: nothing tells whether the result of a query has changed."""
        return SystemClock().now().isoformat()

    def read(self, watermark: str = "", *, most: int | None = None) -> Delivery:  # noqa: ARG002 - a query has no order of arrival
        """Run the query.

        Raises:
            ConfigError: the statement is not one SELECT, or the database refuses it.
        """
        engine = reader_at(self.database)
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
            located = f"{self.database}: row {next(numbers)} of the query"
            yield self.row(located, cells_of(dict(value)))

    def _unreadable(self, fault: Exception) -> ConfigError:
        return ConfigError(
            [f"{self.database}: the query cannot be run ({first_line(fault)})"],
            next_step=ONE_SELECT,
        )
