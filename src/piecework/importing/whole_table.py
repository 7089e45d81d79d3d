"""A whole table of any origin in memory: CSV, JSON Lines or Parquet, with all columns.

It is written again with one more column. Rows, columns, types and nested values stay as they
are, as far as the new format can hold them.
"""

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from piecework.domain.errors import ConfigError
from piecework.domain.imported import COLUMNS_READ, NamedColumns, Reading
from piecework.foundation.csv_text import write_csv_rows
from piecework.hit_templates.answers import number_in
from piecework.importing.named_columns import (
    FOR_CLEANING,
    NamedReading,
    Wanted,
    columns_in,
    find_columns,
    guessed_of,
    in_words,
    named_files,
    read_columns,
)
from piecework.importing.readers import mapped, parquet
from piecework.importing.readers.crowd_form import as_text
from piecework.importing.readers.head import (
    Head,
    cells_of,
    csv_fault,
    head_of,
    named,
    refuse_damaged,
)
from piecework.importing.readers.rows import ImportedRow, Unreadable
from piecework.importing.readers.tables import objects_of
from piecework.store.files import write_whole

FORMATS = (".csv", ".tsv", ".jsonl", ".parquet")
"""The endings of files that can be written."""

_MOST_FAULTS = 20
_AT_ONCE = 100_000

Row = Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class WholeTable:
    """A table in memory.

    Attributes:
        path: the file.
        names: the columns, in order; of JSON, all that any row has.
        rows: the cells of each row by column; an absent cell has no key.
        columns: what was named or found.
        remarks: what a person has to know, in sentences.
        arrow: the table of a Parquet file, with its types.
    """

    path: Path
    names: tuple[str, ...]
    rows: Sequence[Row]
    columns: NamedColumns
    remarks: tuple[str, ...]
    arrow: pa.Table | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def cells(self, name: str) -> list[str | None]:
        """Return the cells of a column as texts; None where a cell is missing."""
        return [_text(row, name) for row in self.rows]

    def texts(self) -> pd.DataFrame:
        """Return `text` (None where a cell is missing), and `task` if the items are known.

        A row that names no item is about one of its own: its text is cleaned as well.
        """
        texts = self.cells(self.columns.text)
        frame = pd.DataFrame({"text": pd.Series(texts, dtype="object")})
        if self.columns.item:
            frame["task"] = [
                _item_or_own(item, f"row {number}")
                for number, item in enumerate(self.cells(self.columns.item), start=1)
            ]
        return frame


def read_whole(path: Path, stated: NamedColumns, wanted: Wanted) -> WholeTable:
    """Read a table.

    Args:
        path: CSV, tab-separated, JSON Lines, a list of JSON objects, or Parquet.
        stated: the columns that a person named.
        wanted: the roles of the columns.

    Raises:
        ConfigError: the file cannot be read, a row does not fit the header, a column is
            missing or not plain, or has no texts; it has every fault.
    """
    head = head_of(path)
    if head.is_folder:
        raise ConfigError([f"{path}: is a folder; give a file"])
    columns = find_columns(path, columns_in(path, head), stated, wanted)
    arrow = _arrow(path) if parquet.fits(head) else None
    rows = _rows(path, head) if arrow is None else arrow.to_pylist()
    if not rows:
        raise ConfigError([f"{path}: has no rows"])
    names = dict.fromkeys(name for row in rows for name in row) if arrow is None else {}
    table = WholeTable(
        path=path,
        names=tuple(names or arrow.column_names),  # type: ignore[union-attr] # either
        rows=rows,
        columns=columns,
        remarks=(f"{COLUMNS_READ}{in_words(columns)}.", *guessed_of([head]), *_warning(arrow)),
        arrow=arrow,
    )
    refuse_other_cells(path, columns.text, table.cells(columns.text))
    return table


def _item_or_own(item: str | None, own: str) -> str:
    """Return the item of a row; a row that names none is about an item of its own."""
    return item if item and item.strip() else own


@dataclass(slots=True)
class _SeenTexts:
    """Whether the cells of a column are texts, in one pass over the rows.

    Attributes:
        rows: how many were seen.
        first: the first cell that is not empty.
        is_number: whether all of these are numbers.
    """

    rows: int = 0
    first: str = ""
    is_number: bool = True

    def see(self, text: str | None) -> None:
        """Add a cell."""
        self.rows += 1
        if text and text.strip():
            self.first = self.first or text
            self.is_number = self.is_number and number_in(text) is not None

    def refuse_others(self, path: Path | str, name: str) -> None:
        """Refuse a column without texts, or with numbers only.

        Raises:
            ConfigError: it has none.
        """
        if not self.rows:
            raise ConfigError([f"{path}: has no rows"])
        if not self.first:
            raise ConfigError([f"{path}: the column {name!r} is empty in every row"])
        if self.is_number:
            raise ConfigError(
                [f"{path}: the column {name!r} has only numbers, such as {self.first!r}"],
                next_step="name the column with the texts: --text COLUMN",
            )


def refuse_other_cells(path: Path, name: str, texts: Iterable[str | None]) -> None:
    """Raise `ConfigError` if a column is empty, or has numbers alone: no texts to clean."""
    seen = _SeenTexts()
    for text in texts:
        seen.see(text)
    seen.refuse_others(path, name)


def _text(row: Row, name: str) -> str | None:
    """Return a cell, or a member of a cell, as text; None if it is absent."""
    value = row.get(name)
    if name not in row:
        outer, dot, inner = name.partition(".")
        while dot and outer not in row:
            more, dot, inner = inner.partition(".")
            outer = f"{outer}.{more}"
        member = row.get(outer)
        return _text(member, inner) if isinstance(member, dict) else None
    if value is None or value != value:  # noqa: PLR0124 - only NaN differs from itself
        return None
    return with_whole_letters(as_text(parquet.as_json_value(value)))


def _arrow(path: Path) -> pa.Table:
    try:
        with pq.ParquetFile(path) as file:
            parquet.check_size(path, file.metadata)
            return file.read()
    except (pa.ArrowException, OSError) as fault:
        raise ConfigError([f"{path}: not valid Parquet ({fault})"]) from fault


def _warning(arrow: pa.Table | None) -> list[str]:
    """Return the warning that piecework writes into its Parquet files, if there is one."""
    metadata = {} if arrow is None else arrow.schema.metadata or {}
    warning = metadata.get(b"warning", b"").decode(errors="replace")
    return [warning] if warning else []


def _rows(path: Path, head: Head) -> list[Row]:
    rows: list[Row] = []
    faults: list[str] = []
    if head.first_object is None:
        cells = cells_of(path, head)
        _, first = next(cells, (1, []))
        header = () if isinstance(first, csv.Error) else named(first)
        for line, row in cells:
            if isinstance(row, csv.Error):
                faults.append(f"{path}: line {line}: {csv_fault(row)}")
            elif len(row) != len(header):
                faults.append(
                    f"{path}: line {line}: has {len(row)} cells, but the header has {len(header)}"
                )
            else:
                rows.append(dict(zip(header, row, strict=True)))
        if twice := sorted({name for name in header if header.count(name) > 1}):
            faults.insert(0, f"{path}: line 1: column {twice[0]!r} appears twice")
    else:
        for line, document in objects_of(path, head):
            if isinstance(document, str):
                faults.append(f"{path}: line {line}: {document}")
            else:
                rows.append(document)
    _raise(faults)
    return rows


def _raise(faults: Sequence[str]) -> None:
    if faults:
        more = len(faults) - _MOST_FAULTS
        raise ConfigError(
            [*faults[:_MOST_FAULTS], *([f"... and {more:,} more"] if more > 0 else [])]
        )


def refuse_losses(paths: Iterable[Path]) -> None:
    """Refuse tables whose cells would not stay as they are in a copy.

    Raises:
        ConfigError: as `refuse_damaged`.
    """
    for path in paths:
        refuse_damaged(path, head_of(path))


def refuse_copy(table: WholeTable, name: str, to: Path) -> None:
    """Refuse a copy with one more column, before work is done for it.

    Args:
        table: the table.
        name: the new column.
        to: a file that ends as one of `FORMATS`.

    Raises:
        ConfigError: the table has this column already, or bytes, which only Parquet holds.
    """
    if name in table.names:
        raise ConfigError(
            [f"{table.path}: has a column {name!r} already"],
            next_step="rename that column, or clean the original file",
        )
    cells = ((name, cell) for row in table.rows for name, cell in row.items())
    if to.suffix != ".parquet" and (
        held := next((each for each in cells if _has_bytes(each[1])), None)
    ):
        raise ConfigError(
            [f"{table.path}: the column {held[0]!r} has bytes, which {to.suffix} cannot hold"],
            next_step=f"write {to.with_suffix('.parquet')}",
        )


def write_with(table: WholeTable, name: str, cells: Sequence[str | None], to: Path) -> None:
    """Write a table with one more column, as the ending of the file says.

    Args:
        table: the table, which `refuse_copy` accepts.
        name: the new column.
        cells: its cells; None where the row has none.
        to: a file that ends as one of `FORMATS`.
    """
    if to.suffix == ".parquet" and table.arrow is not None:
        arrow = table.arrow.append_column(name, pa.array(cells, pa.string()))
        write_whole(to, lambda file: pq.write_table(arrow, file, compression="zstd"))
        return
    rows = [
        row if cell is None else {**row, name: cell}
        for row, cell in zip(table.rows, cells, strict=True)
    ]
    write_rows(rows, (*table.names, name), to)


def write_rows(rows: Sequence[Row], names: Sequence[str], to: Path) -> None:
    """Write rows as CSV, tab-separated text, JSON Lines or Parquet.

    Args:
        rows: the cells by column, bytes only for Parquet.
        names: the columns, in order.
        to: a file that ends as one of `FORMATS`.
    """
    writers: Mapping[str, Callable[[BinaryIO], None]] = {
        ".csv": lambda file: _write_csv(rows, names, file, ","),
        ".tsv": lambda file: _write_csv(rows, names, file, "\t"),
        ".jsonl": lambda file: _write_lines(rows, file),
        ".parquet": lambda file: _write_parquet(rows, names, file),
    }
    write_whole(to, writers[to.suffix])


def _has_bytes(cell: object) -> bool:
    if isinstance(cell, dict):
        return any(map(_has_bytes, cell.values()))
    if isinstance(cell, list):
        return any(map(_has_bytes, cell))
    return isinstance(cell, bytes)


def _write_csv(rows: Iterable[Row], names: Sequence[str], file: BinaryIO, separator: str) -> None:
    out = io.TextIOWrapper(file, encoding="utf-8", newline="", errors="replace")
    cells = ([_cell(row.get(name)) for name in names] for row in rows)
    write_csv_rows(out, chain([names], cells), separator=separator)
    out.flush()
    out.detach()


def _cell(value: object) -> str:
    """Return a cell of CSV; lists and objects are JSON."""
    plain = parquet.as_json_value(value)
    if isinstance(plain, str):
        return plain
    if isinstance(plain, list | dict):
        return _json(plain)
    return "" if plain is None else json.dumps(plain)


def _json(value: object) -> str:
    """Return JSON; an infinite number, which it cannot hold, is null."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        finite = json.loads(json.dumps(value), parse_constant=lambda _: None)
        return json.dumps(finite, ensure_ascii=False)


def _write_lines(rows: Iterable[Row], file: BinaryIO) -> None:
    for row in rows:
        line = _json(parquet.as_json_value(dict(row)))
        file.write(f"{line}\n".encode(errors="backslashreplace"))


def _write_parquet(rows: Sequence[Row], names: Sequence[str], file: BinaryIO) -> None:
    columns = {with_whole_letters(name): _column([row.get(name) for row in rows]) for name in names}
    pq.write_table(pa.table(columns), file, compression="zstd")


def _column(cells: Sequence[object]) -> pa.Array:
    """Return a column of Parquet; as texts if the format cannot hold the cells."""
    try:
        column = pa.array(cells)
        empty = io.BytesIO()
        pq.write_table(pa.table({"": column[:0]}), empty)
        pq.read_schema(empty)
    # Several types, a number of more than 64 bits, objects without members, lists in
    # hundreds of lists.
    except (pa.ArrowException, UnicodeError, OverflowError, OSError):
        texts = (None if cell is None else with_whole_letters(_cell(cell)) for cell in cells)
        return pa.array(texts, pa.string())
    return column


def with_whole_letters(text: str) -> str:
    """Return a text without halves of letters, which JSON can hold and UTF-8 cannot."""
    return text.encode(errors="replace").decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class TextTables:
    """Tables of any size whose texts are cleaned together.

    Attributes:
        heads: the beginnings of the files, by path.
        by_names: how they are read.
    """

    heads: Mapping[Path, Head]
    by_names: NamedReading

    @classmethod
    def of(cls, paths: Sequence[Path], stated: NamedColumns) -> "TextTables":
        """Find the columns of tables, also of those that a known tool wrote.

        Raises:
            ConfigError: a file cannot be read, or a column is missing or not plain.
        """
        heads = {path: head_of(path) for path in paths}
        return cls(heads=heads, by_names=read_columns(heads, Reading(), stated, FOR_CLEANING))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a person has to know about the columns, in sentences."""
        return (*self.by_names.remarks, *guessed_of(self.heads.values()))

    def write(self, folder: Path) -> None:
        """Write the texts as a file for `piecework.results.large` into a folder.

        Memory does not grow with the rows. An answer's id is its file and line.

        Raises:
            ConfigError: a row cannot be read, or the column has no texts; it has every
                fault.
        """
        columns, faults, seen = self.by_names.columns, list[str](), _SeenTexts()
        is_unique = len({path.name for path in self.heads}) == len(self.heads)
        with pq.ParquetWriter(folder / "texts.parquet", _ANSWERS) as writer:
            for path, head in self.heads.items():
                rows: list[dict[str, object]] = []
                of_columns = replace(head, reading=self.by_names.reading)
                for row in mapped.read(path, of_columns, most_bytes=None):
                    if isinstance(row, Unreadable):
                        faults.append(f"{path}: line {row.line}: {row.fault}")
                    elif isinstance(row, ImportedRow):
                        answer_id = f"{path.name if is_unique else path}:{row.line}"
                        item_id = _item_or_own(row.shown.get(columns.item), answer_id)
                        text = with_whole_letters(row.sent.get(columns.text, ""))
                        seen.see(text)
                        cells = (answer_id, with_whole_letters(item_id), text, False)
                        rows.append(dict(zip(_ANSWERS.names, cells, strict=True)))
                    if len(rows) == _AT_ONCE:
                        writer.write_table(pa.Table.from_pylist(rows, _ANSWERS))
                        rows = []
                writer.write_table(pa.Table.from_pylist(rows, _ANSWERS))
        _raise(faults)
        seen.refuse_others(named_files([*self.heads]), columns.text)


_ANSWERS = pa.schema(
    [
        *((name, pa.string()) for name in ("answer_id", "item_id", "text")),
        ("is_canned", pa.bool_()),
    ]
)
"""The columns that cleaning reads."""
