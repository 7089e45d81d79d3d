"""Rows of a query, through SQLAlchemy, read in chunks and never changed."""

import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count, islice
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from piecework.config.items_file import renamed_row
from piecework.config.sources import CHUNK, row_faults
from piecework.domain.clock import SystemClock
from piecework.domain.errors import ConfigError
from piecework.domain.growing import Delivery, SourceRow
from piecework.exchange.cells import cells_of
from piecework.exchange.databases import engine_at, first_line

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

_QUERY = re.compile(r"\s*(?:--[^\n]*\n\s*)*(select|with|values|table)\b", re.IGNORECASE)
_READ_ONLY: Mapping[str, str] = {
    "postgresql": "SET TRANSACTION READ ONLY",
    "sqlite": "PRAGMA query_only = ON",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query; its columns are those of the rows.

    Attributes:
        database: SQLAlchemy's URL; may have `${VARIABLES}`.
        statement: the SQL of one query.
        columns: columns that the task's page needs; the first is the id.
        renamed: names of columns of the query, by their new names.
        addresses: columns with addresses of pictures.
        possible: columns with an address wherever the cell names a picture.
    """

    database: str
    statement: str
    columns: tuple[str, ...]
    renamed: Mapping[str, str] = field(default_factory=dict)
    addresses: tuple[str, ...] = ("url",)
    possible: tuple[str, ...] = ()

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
            ConfigError: the statement is no query, or the database refuses it.
        """
        if not _QUERY.match(self.statement):
            first = self.statement.split()[:1]
            raise ConfigError(
                [f"{self.database}: items.query begins with {first}; it must SELECT"]
            )
        engine = engine_at(self.database)
        connection: Connection | None = None
        try:
            connection = engine.connect()
            if set_read_only := _READ_ONLY.get(engine.dialect.name):
                connection.exec_driver_sql(set_read_only)
            result = connection.execution_options(
                stream_results=True, yield_per=CHUNK
            ).execute(sa.text(self.statement))
            names = [str(name) for name in result.keys()]  # noqa: SIM118 - a method of results
        except sa.exc.SQLAlchemyError as fault:
            if connection is not None:
                connection.close()
            engine.dispose()
            raise self._unreadable(fault) from fault

        def close() -> None:
            # Closing rolls back, so nothing that a query did stays.
            connection.close()
            engine.dispose()

        renamed = renamed_row(
            dict.fromkeys(names, ""), self.renamed, wanted=self.columns
        )
        return Delivery(
            chunks=self._chunks(result, most),
            is_whole=True,
            header=tuple(sorted(renamed)),
            close=close,
        )

    def faults(self, row: SourceRow) -> list[str]:
        """Return why a row cannot become an item, each with place and column."""
        return row_faults(
            row,
            self.columns,
            pictures=None,
            addresses=self.addresses,
            possible=self.possible,
        )

    def _chunks(
        self, result: "sa.CursorResult[Any]", most: int | None
    ) -> Iterator[list[SourceRow]]:
        try:
            with closing(result):
                rows = islice(self._rows(result), most)
                while chunk := list(islice(rows, CHUNK)):
                    yield chunk
        except sa.exc.SQLAlchemyError as fault:
            raise self._unreadable(fault) from fault

    def _rows(self, result: "sa.CursorResult[Any]") -> Iterator[SourceRow]:
        numbers = count(1)
        for value in result.mappings():
            cells: Mapping[str, str] = cells_of(dict(value))
            if self.renamed:
                cells = renamed_row(cells, self.renamed, wanted=self.columns)
            yield SourceRow(
                located=f"{self.database}: row {next(numbers)} of the query",
                row_id=cells.get(self.columns[0], ""),
                cells=cells,
            )

    def _unreadable(self, fault: Exception) -> ConfigError:
        return ConfigError(
            [f"{self.database}: the query cannot be run ({first_line(fault)})"]
        )
