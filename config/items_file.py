"""Items from CSV or JSON Lines, checked row by row before anything is posted.

An error names the file, the line that an editor shows, what was found and what is
allowed.
"""

import csv
import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType

from piecework.config.item_pictures import Places, not_in, url_faults
from piecework.config.user_files import read_text
from piecework.domain.errors import ConfigError
from piecework.domain.hit import Item, fill_in
from piecework.domain.ids import ItemId
from piecework.domain.pictures import PictureLocation
from piecework.domain.received_files import (
    about_link,
    about_no_picture,
    outward_link,
    pictures_in,
    table_rows,
)
from piecework.domain.text import did_you_mean, one_line, plural, with_newlines
from piecework.domain.toml_text import toml_value

_FAULTS_SHOWN = 20
_NAMES_SHOWN = 10
_MISSING_SHOWN = 3
"""More missing pictures than these are one sentence with a count."""
# XML 1.0 does not allow these characters, and no id or URL needs them.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff\ud800-\udfff]")

_IS_ABSOLUTE = re.compile("/(?!pictures/)")

LONGEST_LINE = 500_000
"""Characters of a row; far more than fits into a HIT."""

_LONGEST_ID = 1_000
"""Bytes of an item's id in UTF-8; PostgreSQL's indexes hold about 2,700."""

_DECIMAL = re.compile(r"[+-]?(\d+\.0*|\d+(\.\d+)?[eE][+-]\d+|\d+\.\d+[eE]\d+)|nan|NaN")
"""What a spreadsheet or a join makes of a whole number; `1.5` and `12e4` may be ids."""

Row = Mapping[str, str]


def read_items(  # noqa: PLR0913 - what a row is checked against
    path: Path,
    columns: tuple[str, ...],
    *,
    pictures: PictureLocation | None,
    drawn: int = 0,
    renamed: Mapping[str, str] = MappingProxyType({}),
    numbered: bool = False,
    addresses: tuple[str, ...] = ("url",),
    possible: tuple[str, ...] = (),
    stated: str = "",
) -> tuple[Item, ...]:
    """Read and check the items of a file; the first of `columns` is the id.

    Args:
        path: a `.csv` file with a header line, or a `.jsonl` file of flat objects.
        columns: the columns that the task's page needs.
        pictures: the folder or bucket for relative URLs; `None` allows none.
        drawn: the number of pictures that the rehearsal can draw, under the names
            `scene_0001.svg` and so on.
        renamed: names of columns in the file, by their new names.
        numbered: whether rows without the id's column get `row_1` and so on.
        addresses: columns with addresses of pictures.
        possible: columns with an address wherever the cell names a picture, if there
            is a folder.
        stated: how `items` names the file, if its columns can be renamed there.

    Raises:
        ConfigError: it has every fault (of many, the first twenty and a count).
    """
    by_line = read_rows(path)
    if renamed:
        by_line = list(_renamed(path, by_line, renamed, wanted=columns))
    if numbered and not any(columns[0] in row for _, row in by_line):
        by_line = [
            (line, {columns[0]: f"row_{number}", **row})
            for number, (line, row) in enumerate(by_line, start=1)
        ]
    by_line = [(line, trimmed(row, (*addresses, *possible), pictures)) for line, row in by_line]
    faults = [f"{path}: has no items"] if not by_line else []
    places = Places(pictures, drawn, addresses, possible)
    header = list(dict.fromkeys(name for _, row in by_line[:1] for name in row))
    absent = _absent(path, header, columns, renamed, stated) if by_line else []
    faults += absent or _row_faults(path, by_line, columns, places)
    _raise(faults)
    return items_from_rows((row for _, row in by_line), columns)


def trimmed(row: Row, addresses: Iterable[str], pictures: PictureLocation | None) -> Row:
    """Return the row without spaces around its addresses; browsers ignore them.

    A path that leads to the folder of the pictures from elsewhere becomes its path inside, so
    that no worker and no dataset gets a path of this machine.
    """
    cells = {name: row[name].strip() for name in addresses if name in row}
    if pictures is not None:
        cells |= {
            name: inside
            for name, cell in cells.items()
            if (_IS_ABSOLUTE.match(cell) or ".." in cell.split("/"))
            and (inside := pictures.name_of(cell))
        }
    return {**row, **cells}


def read_rows(path: Path) -> list[tuple[int, Row]]:
    """Read the rows of an items file with their line numbers, unchecked.

    Raises:
        ConfigError: the file cannot be read, or is neither CSV nor JSON Lines.
    """
    return list(_rows(path))


def first_row(path: Path) -> Row:
    """Return the first row of an items file without checking it; empty if the file has no rows.

    Raises:
        ConfigError: as `read_rows`, but of later rows nothing is known.
    """
    return next((row for _, row in _rows(path)), {})


def _rows(path: Path) -> Iterator[tuple[int, Row]]:
    text = _read_text(path)
    return (_csv_rows if path.suffix.lower() == ".csv" else _jsonl_rows)(path, text)


def items_of_folder(
    folder: Path, columns: tuple[str, ...], *, addresses: tuple[str, ...] = ("url",)
) -> tuple[Item, ...]:
    """Return an item for each picture in a folder and below; the path is its id.

    Args:
        folder: the folder of the pictures.
        columns: the columns that the task's page needs; the first is the id.
        addresses: columns with addresses of pictures.

    Raises:
        ConfigError: the task needs more than a picture, or there are no pictures.
    """
    if more := [name for name in columns[1:] if name not in addresses[:1]]:
        raise ConfigError(
            [f"the task needs the column {more[0]!r}, which a picture does not have"],
            next_step='list the items in a file: items = "items.csv"',
        )
    if not folder.is_dir():
        raise not_a_folder(folder)
    names = pictures_in(folder)
    links = (outward_link(name, beside=folder) for name in names)
    _raise([about_link(link, beside=folder) for link in links if link is not None])
    if not names:
        raise ConfigError(
            about_no_picture(folder),
            next_step='name the folder that has them: pictures = "photos"; sounds and videos need '
            'a table with their addresses: items = "recordings.csv"',
        )
    rows = [dict.fromkeys((columns[0], *addresses[:1]), name) for name in names]
    return items_from_rows(rows, columns)


def not_a_folder(folder: Path) -> ConfigError:
    """Return the fault of a folder of pictures that is not there."""
    beside = folder.parent.iterdir() if folder.parent.is_dir() else ()
    others = [path.name for path in beside if path.is_dir()]
    return ConfigError(
        [f"{folder} is not a folder{did_you_mean(folder.name, others)}"],
        next_step='name the folder that has the pictures: items = "photos/"',
    )


def items_from_rows(rows: Iterable[Row], columns: tuple[str, ...]) -> tuple[Item, ...]:
    """Return rows as items, without checks (drawn rows, or checked before)."""
    return tuple(Item(item_id=ItemId(row[columns[0]]), columns=dict(row)) for row in rows)


def _renamed(
    path: Path,
    numbered: list[tuple[int, Row]],
    renamed: Mapping[str, str],
    *,
    wanted: tuple[str, ...],
) -> Iterator[tuple[int, Row]]:
    """Yield the rows with renamed columns; columns that the task needs keep theirs."""
    header = [*numbered[0][1]] if numbered else [*renamed.values()]
    _raise(_faults_of_renaming(path, header, renamed))
    for line, row in numbered:
        yield line, renamed_row(row, renamed, wanted=wanted)


def _faults_of_renaming(path: Path, header: list[str], renamed: Mapping[str, str]) -> list[str]:
    listed = f"the columns are {', '.join(header)}"
    return [
        f"{path}: column {name!r}, named in items.columns, is missing"
        f"{did_you_mean(name, header, then=listed)}"
        for name in renamed.values()
        if name not in header
    ]


def renamed_row(row: Row, renamed: Mapping[str, str], *, wanted: tuple[str, ...]) -> Row:
    """Return a row with renamed columns; columns that the task needs keep theirs.

    Args:
        row: the cells.
        renamed: names of columns in the file, by their new names.
        wanted: the columns that the task needs.
    """
    old = {*renamed.values()} - {*renamed} - {*wanted}
    kept = {name: cell for name, cell in row.items() if name not in old}
    return kept | {new: row.get(name, "") for new, name in renamed.items()}


def header_faults(
    path: Path, header: list[str], renamed: Mapping[str, str], *, wanted: tuple[str, ...]
) -> list[str]:
    """Return the columns that a header lacks, each in a sentence.

    Args:
        path: the file.
        header: its columns.
        renamed: names of columns in the file, by their new names.
        wanted: the columns that the task needs.
    """
    if faults := _faults_of_renaming(path, header, renamed):
        return faults
    names = list(renamed_row(dict.fromkeys(header, ""), renamed, wanted=wanted))
    return _absent(path, names, wanted, renamed, path.name)


def _read_text(path: Path) -> str:
    if path.suffix.lower() not in {".csv", ".jsonl"}:
        raise no_items_file(path)
    return with_newlines(read_text(path, name="items file"))


def no_items_file(path: Path) -> ConfigError:
    """Return the fault of a file with another ending, and what to do about it."""
    return ConfigError(
        [f"{path}: an items file ends in .csv or .jsonl"],
        next_step="rename a table with commas, semicolons or tabs to .csv; save others as such: "
        "from a spreadsheet as CSV UTF-8, from Python with DataFrame.to_csv",
    )


def _csv_rows(path: Path, text: str) -> Iterator[tuple[int, Row]]:
    named = table_rows(text)
    rows = named.reader
    try:
        header = list(named.fieldnames or ())
        if twice := sorted({name for name in header if name and header.count(name) > 1}):
            raise ConfigError([f"{path}: line 1: column {twice[0]!r} occurs twice"])
        is_unnamed, width = header.count("") > 1, len(header)
        for cells in rows:  # DictReader itself takes three times as long
            row = dict(zip(header, cells, strict=False))
            row |= dict.fromkeys(header[len(cells) :], "")
            if is_unnamed:  # no page can name them
                del row[""]
            if any(cell.strip() for cell in cells[width:]):  # spreadsheets leave commas
                where = f"{path}: line {rows.line_num}"
                raise ConfigError([f"{where}: more cells than the header's {len(row)} columns"])
            yield rows.line_num, row
    except csv.Error as error:
        # csv limits a cell to a quarter of the longest line.
        raise ConfigError([f"{path}: line {rows.line_num}: not valid CSV ({error})"]) from error


def _jsonl_rows(path: Path, text: str) -> Iterator[tuple[int, Row]]:
    lines_of = defaultdict[str, list[int]](list)
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        if len(line) > LONGEST_LINE:
            lines_of[_too_long(len(line))].append(number)
            continue
        try:
            yield number, json_row(line)
        except ValueError as fault:
            lines_of[str(fault)].append(number)
    # Lines that a program wrote lack the same thing.
    _raise(
        [
            f"{path}: line {first}: {fault}"
            + (f" ({plural(len(more), 'more line')} like this)" if more else "")
            for fault, (first, *more) in lines_of.items()
        ]
    )


def json_row(line: str) -> Row:
    """Return the cells of a line of JSON Lines.

    Raises:
        ValueError: it is not one object of plain values; why, as a clause.
    """
    try:
        row = json.loads(line, object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as fault:
        raise ValueError(f"not valid JSON Lines ({fault})") from fault
    if not isinstance(row, dict):
        raise ValueError("each line must be one object of plain values")  # noqa: TRY004 - as documented
    if nested := [key for key, value in row.items() if isinstance(value, dict | list)]:
        names = ", ".join(repr(_name(key)) for key in nested)
        are = "is a list or an object" if len(nested) == 1 else "are lists or objects"
        raise ValueError(
            f"{names} {are}, and a cell is one plain value; "
            "take what workers see out of it, into columns of their own"
        )
    return {key: _cell(value) for key, value in row.items()}


def _name(text: str) -> str:
    return one_line(text, at_most=200)


def _too_long(characters: int) -> str:
    return f"has {characters:,} characters; an item has at most {LONGEST_LINE:,}"


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    row = dict(pairs)
    if len(row) < len(pairs):
        raise ValueError("a key occurs twice")
    return row


def _no_number(word: str) -> object:
    raise ValueError(f"{word} is not allowed as a value")


def _cell(value: object) -> str:
    if value is None:
        return ""
    return with_newlines(value) if isinstance(value, str) else json.dumps(value)


def _row_faults(
    path: Path,
    numbered: list[tuple[int, Row]],
    columns: tuple[str, ...],
    places: Places,
) -> list[str]:
    first_seen: dict[str, int] = {}
    faults: list[str] = []
    missing: list[str] = []
    for line, row in numbered:
        where = f"{path}: line {line}"
        for fault in _cell_faults(where, row, columns, places, line, first_seen):
            (missing if fault.endswith(not_in(places.pictures)) else faults).append(fault)
    if len(missing) > _MISSING_SHOWN:
        # The folder is wrong, not each of the rows.
        many = f"{path}: {len(missing):,} pictures are not in {places.pictures}"
        folder = places.pictures.folder if places.pictures else None
        if folder is not None and not folder.is_dir():
            many += ", which is not a folder"
        missing = [f"{many}; the first: {missing[0].removeprefix(f'{path}: ')}"]
    return [*missing, *faults]


def item_row_faults(
    where: str,
    row: Row,
    columns: tuple[str, ...],
    *,
    pictures: PictureLocation | None,
    drawn: int = 0,
    addresses: tuple[str, ...] = ("url",),
    possible: tuple[str, ...] = (),
) -> list[str]:
    """Return what is wrong with one row of a file that grows; see `read_items`.

    Args:
        where: the beginning of each sentence: the file and the line.
        row: the cells.
        columns: as for `read_items`, like the rest.
        pictures: the folder or bucket for relative URLs.
        drawn: the number of scenes that the rehearsal can draw.
        addresses: columns with addresses of pictures.
        possible: columns with an address wherever the cell names a picture.
    """
    places = Places(pictures, drawn, addresses, possible)
    return list(_cell_faults(where, row, columns, places, 0, {}))


def _absent(
    path: Path,
    header: list[str],
    columns: tuple[str, ...],
    renamed: Mapping[str, str],
    stated: str,
) -> list[str]:
    """Return a sentence for each column that is not there; the last has what to write."""
    lacking = [name for name in columns if name not in header]
    faults = [
        f"{path}: no column {name}{_misnamed(name, header, renamed)}; the columns are "
        f"{', '.join(header)}"
        for name in lacking
    ]
    if lacking and stated:
        alike = {name: get_close_matches(name, header, n=1) for name in lacking}
        named = {**renamed, **{name: (those or ["..."])[0] for name, those in alike.items()}}
        table = toml_value({"file": stated, "columns": named})
        faults[-1] += f"; to name columns of the file, write items = {table}"
    return faults


def _cell_faults(
    where: str,
    row: Row,
    columns: tuple[str, ...],
    places: Places,
    line: int,
    first_seen: dict[str, int],
) -> Iterator[str]:
    empty = [column for column in columns if not row.get(column, "").strip()]
    for column in empty:
        if column in row:
            more = fill_in(is_text=column not in (columns[0], *places.addresses))
        else:
            more = _other_columns(column, row)
        yield f"{where}: {column} is missing or empty; {more}"
    # Once for the row: few rows have any.
    if _CONTROL.search("".join((*row, *row.values()))):
        for column, cell in row.items():
            if _CONTROL.search(cell) or _CONTROL.search(column):
                yield (f"{where}: {column} has a control character, which a HIT cannot contain")
    if columns[0] not in empty:
        faults = _id_faults(row[columns[0]], line, first_seen)
        yield from (f"{where}: {columns[0]} {fault}" for fault in faults)
    for column in places.addresses_in(row):
        url = row.get(column)
        faults = url_faults(column, url, places) if url else []
        yield from (f"{where}: {fault}" for fault in faults)


def _other_columns(column: str, row: Row) -> str:
    """Return which columns a row has in place of one, and what to write if one is it."""
    listed = f"the columns are {', '.join(map(_name, [*row][:_NAMES_SHOWN]))}"
    alike = [*get_close_matches(column, row, n=1), *filter(column.endswith, filter(None, row))]
    if not alike:
        return listed
    table = toml_value({column: alike[0]})
    return f"{listed}; if {alike[0]} is it, write in [items]: columns = {table}"


def is_too_long(item_id: str) -> bool:
    """Return whether an id has more bytes than stores and pages take."""
    return len(item_id.encode(errors="surrogatepass")) > _LONGEST_ID


def _misnamed(name: str, header: list[str], renamed: Mapping[str, str]) -> str:
    """Return what was meant if the campaign file gives a column a similar name; or ""."""
    alike = get_close_matches(name, header, n=1)
    if not alike or alike[0] not in renamed:
        return ""
    return f", and items.columns names {alike[0]!r}; did you mean {name!r}?"


def _id_faults(item_id: str, line: int, first_seen: dict[str, int]) -> list[str]:
    """Return what is wrong with an id; two ids that look the same are duplicates."""
    if is_too_long(item_id):
        bytes_ = len(item_id.encode(errors="surrogatepass"))
        return [f"has {bytes_:,} bytes; an id has at most {_LONGEST_ID:,}"]
    if item_id != item_id.strip() or "\n" in item_id or "\r" in item_id:
        return [f"{item_id!r} has a space around it or a line break in it"]
    if _DECIMAL.fullmatch(item_id):
        return [f"{item_id!r} is a decimal number: a spreadsheet or a join has changed the ids"]
    normalized = unicodedata.normalize("NFC", item_id)
    first = first_seen.setdefault(normalized, line)
    return [] if first == line else [f"{item_id!r} is used in line {first} already"]


def _raise(faults: list[str]) -> None:
    if not faults:
        return
    more = len(faults) - _FAULTS_SHOWN
    shown = faults[:_FAULTS_SHOWN]
    raise ConfigError([*shown, f"and {more} more like these"] if more > 0 else shown)
