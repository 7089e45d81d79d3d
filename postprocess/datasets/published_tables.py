"""Rows of tables with an image and a caption, as published datasets have them.

Kaggle's Flickr8k `captions.txt` begins with `image,caption`, Flickr30k's `results.csv` with
`image_name| comment_number| comment`. Most such tables are CSV. In others, captions hold
separators without quotation marks, because the caption is the last column, and one row of
Flickr30k's lacks a separator.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from piecework.domain.text import lines_in
from piecework.foundation.csv_text import rows_in
from piecework.postprocess.datasets.reading_faults import UnreadableError

IMAGES = (
    *("image_id", "image", "image_name", "img", "img_id", "imgid", "filename"),
    *("file_name", "image_file", "image_path", "file", "cocoid", "item_id"),
)
"""Names of the column or member with an image's id, the likeliest first."""

CAPTIONS = (
    *("caption", "captions", "comment", "raw", "sentence", "sentences"),
    *("description", "text"),
)
"""Names of the column or member with a caption, the likeliest first."""

_SEPARATORS = ("\t", "|", ",", ";")
_CELLS = {
    separator: re.compile(rf' *"(?:[^"]|"")*" *(?=[{separator}]|\Z)|[^{separator}]*')
    for separator in _SEPARATORS
}
"""A cell in quotation marks, else what stands before the next separator."""

_NUMBER_FIRST = re.compile(r"\s*\d+\s+(?P<caption>\S.*)")
_PICTURE = re.compile(r"\"?[^\s,;|]+\.(?:jpe?g|png|gif|webp|bmp)\b", re.IGNORECASE)
"""How most rows begin."""

_MOST_LINES = 20
MOST_LEFT_OUT = 0.01
"""If more than this share of a file cannot be read, it has another format."""

Row = tuple[int, str, Iterable[str] | None]
"""Number, image and captions; `None` if it cannot be read."""


class _Columns(NamedTuple):
    separator: str
    names: tuple[str, ...]
    image: int
    caption: int

    @property
    def most_splits(self) -> int:
        """How often a line is split: a caption at its end may hold separators."""
        last = len(self.names) - 1
        return last if self.caption == last else -1


def has_header(text: str) -> bool:
    """Return whether the first line names an image and a caption."""
    return _columns(text) is not None


def rows_of(text: str) -> Iterator[Row]:
    """Return the rows of a table whose first line names an image and a caption.

    Raises:
        UnreadableError: it names neither.
    """
    columns = _columns(text)
    if columns is None:
        line = text.split("\n", 1)[0].strip()[:100]
        raise UnreadableError(
            f"line 1: names no image and no caption (found: {line!r}); allowed are "
            f"{', '.join(IMAGES)} and {', '.join(CAPTIONS)}"
        )
    lines = lines_in(text)
    return _cells(lines, columns) if _is_csv(lines, columns) else _lines(lines, columns)


def _columns(text: str) -> _Columns | None:
    line = lines_in(text.lstrip("\ufeff"))[0]
    for separator in _SEPARATORS:
        cells = _split(line, separator, -1)
        names = tuple(cell.strip().strip('"').strip().casefold() for cell in cells)
        image = next((name for name in IMAGES if name in names), None)
        caption = next((name for name in CAPTIONS if name in names), None)
        if image is not None and caption is not None:
            return _Columns(separator, names, names.index(image), names.index(caption))
    return None


def _split(line: str, separator: str, most: int) -> list[str]:
    """Return the cells of a line, with their quotation marks; at most one more than `most`."""
    cells: list[str] = []
    start = 0
    while len(cells) != most:
        match = _CELLS[separator].match(line, start)
        if match is None or match.end() == len(line):
            break
        cells.append(match[0])
        start = match.end() + 1
    return [*cells, line[start:]]


def _csv_rows(
    lines: Sequence[str], columns: _Columns
) -> Iterator[tuple[int, list[str] | csv.Error]]:
    """Yield the rows after the header with their lines, and faults in place of rows."""
    rows = rows_in((f"{line}\n" for line in lines), columns.separator)
    next(rows, None)
    for number, cells in rows:
        if isinstance(cells, csv.Error) or any(cell.strip() for cell in cells):
            yield number, cells


def _is_csv(lines: Sequence[str], columns: _Columns) -> bool:
    """Return whether nearly all rows have the header's cells, and none swallows others."""
    count = faults = 0
    for _, cells in _csv_rows(lines, columns):
        count += 1
        if isinstance(cells, csv.Error):
            faults += 1
            continue
        if any(_is_row(line, columns) for line in _more_lines(cells)):
            return False
        faults += len(cells) != len(columns.names)
    return faults <= MOST_LEFT_OUT * count


def _more_lines(cells: Iterable[str]) -> Iterator[str]:
    return (line for cell in cells if "\n" in cell for line in cell.split("\n")[1:])


def _is_row(line: str, columns: _Columns) -> bool:
    """Return whether a line within a cell is a row, so that a mark of the text opened the cell."""
    has_all = line.count(columns.separator) >= len(columns.names) - 1
    return has_all and _PICTURE.match(line) is not None


def _cells(lines: Sequence[str], columns: _Columns) -> Iterator[Row]:
    """Yield the rows of CSV; a row with a fault as a line, if only one reading of it fits."""
    for number, cells in _csv_rows(lines, columns):
        if isinstance(cells, csv.Error):
            yield _row(number, lines[number - 1], columns, is_csv=True)
        elif len(cells) == len(columns.names):
            yield number, cells[columns.image].strip(), (_caption_in(cells[columns.caption]),)
        elif any(_more_lines(cells)):
            yield number, "", None
        else:
            yield _row(number, lines[number - 1], columns, is_csv=True)


def _caption_in(cell: str) -> str:
    # Flickr30k has a space before the marks, so they are a part of the cell.
    return _unquoted(cell) if cell[:1].isspace() else cell.strip()


def _lines(lines: Sequence[str], columns: _Columns) -> Iterator[Row]:
    """Yield rows whose last cell may be a caption that holds separators."""
    number = 1
    while number < len(lines):
        start, more = number, _goes_on(lines, number, columns)
        line = "\n".join(lines[number : number + more])
        number += more
        if line.strip():
            yield _row(start + 1, line, columns)


def _row(number: int, line: str, columns: _Columns, *, is_csv: bool = False) -> Row:
    """Return a row that is not CSV.

    Args:
        number: of its first line.
        line: its lines.
        columns: the columns.
        is_csv: whether the other rows are CSV. Then a separator too many may belong to any
            cell but a number.
    """
    wanted = len(columns.names)
    cells = _split(line, columns.separator, columns.most_splits)
    image = _unquoted(cells[min(columns.image, len(cells) - 1)])
    is_last = columns.most_splits > 0
    if len(cells) == wanted:
        places = {*range(wanted)} - {columns.image, columns.caption}
        are_numbers = all(cells[place].strip().isdigit() for place in places)
        if is_csv and not are_numbers and line.count(columns.separator) >= wanted:
            return number, "", None
        return number, image, (_unquoted(cells[columns.caption]),)
    if is_last and len(cells) == wanted - 1 and (match := _NUMBER_FIRST.fullmatch(cells[-1])):
        return number, image, (match["caption"].strip(),)
    return number, "", None


def _goes_on(lines: Sequence[str], number: int, columns: _Columns) -> int:
    """Return the lines of a row: a caption in quotation marks at its end may have several.

    A mark that nothing closes is a part of the caption.
    """
    caption = _split(lines[number], columns.separator, columns.most_splits)[-1]
    if columns.most_splits < 0 or not caption.lstrip().startswith('"'):
        return 1
    marks = 0
    for more, line in enumerate(lines[number : number + _MOST_LINES], start=1):
        if more > 1 and _PICTURE.match(line):
            return 1
        marks += (caption if more == 1 else line).count('"')
        if marks % 2 == 0:
            return more
    return 1


def _unquoted(cell: str) -> str:
    text = cell.strip()
    inside = text[1:-1].replace('""', "")
    is_quoted = len(text) > 1 and text[0] == text[-1] == '"' and '"' not in inside
    return text[1:-1].replace('""', '"').strip() if is_quoted else text
