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
    Wanted,
    columns_in,
    find_columns,
    in_words,
    read_by_names,
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

    def texts(self) -> pd.DataFrame:
        """Return `text` (None where a cell is missing), and `task` if the items are known."""
        texts = [_text(row, self.columns.text) for row in self.rows]
        frame = pd.DataFrame({"text": pd.Series(texts, dtype="object")})
        if self.columns.item:
            frame["task"] = [_text(row, self.columns.item) or "" for row in self.rows]
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
    guesses = tuple(f"{guess[:1].upper()}{guess[1:]}." for guess, _ in head.guesses)
    table = WholeTable(
        path=path,
        names=tuple(names or arrow.column_names),  # type: ignore[union-attr] # either
        rows=rows,
        columns=columns,
        remarks=(f"{COLUMNS_READ}{in_words(columns)}.", *guesses, *_warning(arrow)),
        arrow=arrow,
    )
    refuse_other_cells(path, columns.text, (_text(row, columns.text) for row in rows))
    return table


def refuse_other_cells(path: Path, name: str, texts: Iterable[str | None]) -> None:
    """Refuse a column without texts, or with numbers only.

    Raises:
        ConfigError: it has none.
    """
    filled = [text for text in texts if text and text.strip()]
    if not filled:
        raise ConfigError([f"{path}: the column {name!r} is empty in every row"])
    if all(number_in(text) is not None for text in filled):
        raise ConfigError(
            [f"{path}: the column {name!r} has only numbers, such as {filled[0]!r}"],
            next_step="name the column with the texts: --text COLUMN",
        )


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


def write_answers_of(paths: Sequence[Path], stated: NamedColumns, wanted: Wanted, to: Path) -> str:
    """Write the texts of tables of any size as a file for `piecework.results.large`.

    Memory does not grow with the rows. An answer's id is its file and line.

    Args:
        paths: the tables.
        stated: the columns that a person named.
        wanted: the roles of the columns.
        to: the Parquet file.

    Returns:
        What a person has to know about the columns.

    Raises:
        ConfigError: a file cannot be read, a row neither; it has every fault.
    """
    by_names = read_by_names(paths, Reading(), stated, wanted)
    columns, faults = by_names.columns, []
    schema = pa.schema(
        [
            *((name, pa.string()) for name in ("answer_id", "item_id", "text")),
            ("is_canned", pa.bool_()),
        ]
    )
    is_unique = len({path.name for path in paths}) == len(paths)
    with pq.ParquetWriter(to, schema) as writer:
        for path in paths:
            rows: list[dict[str, object]] = []
            for row in mapped.read(path, replace(head_of(path), reading=by_names.reading)):
                if isinstance(row, Unreadable):
                    faults.append(f"{path}: line {row.line}: {row.fault}")
                elif isinstance(row, ImportedRow):
                    answer_id = f"{path.name if is_unique else path}:{row.line}"
                    item_id = with_whole_letters(row.shown.get(columns.item, ""))
                    text = row.sent.get(columns.text, "")
                    rows.append(
                        {
                            "answer_id": answer_id,
                            "item_id": item_id or answer_id,
                            "text": with_whole_letters(text),
                            "is_canned": False,
                        }
                    )
                if len(rows) == _AT_ONCE:
                    writer.write_table(pa.Table.from_pylist(rows, schema))
                    rows = []
            writer.write_table(pa.Table.from_pylist(rows, schema))
    _raise(faults)
    return " ".join(by_names.remarks)
