"""Files that people send: CSV variants of spreadsheets, folders of pictures, symbolic links.

A folder with a campaign or a task may come from anyone. A link in it could show workers
a file of this machine that the user never named, so it may not lead to files elsewhere.
"""

import csv
import io
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath

from piecework.domain.hit import PICTURES, is_picture_file
from piecework.domain.text import plural

LINES_LOOKED_AT = 6
"""Lines of a table from which its separator follows."""


def outward_link(named: str, *, beside: Path) -> Path | None:
    """Return the first link on a path that leads out of a folder.

    An absolute path names its file explicitly, so its parts are not checked.

    Args:
        named: the path as it was written, without control characters.
        beside: the folder where a relative path begins.
    """
    if Path(named).is_absolute():
        return None
    base = os.path.realpath(beside)
    at = Path(base)
    for part in Path(named).parts:
        at = at.parent if part == ".." else at / part
        if at.is_symlink() and not Path(os.path.realpath(at)).is_relative_to(base):
            return at
    return None


def about_link(link: Path, *, beside: Path) -> str:
    """Return a clause about a link that leads out of a folder."""
    real = os.path.realpath(link)
    return f"{link} is a link that leads out of {beside}, to {real}"


def pictures_in(folder: Path, endings: Collection[str] = PICTURES) -> list[str]:
    """Return the names of the pictures in a folder and below, sorted, without hidden files."""
    names = ((path, path.relative_to(folder).as_posix()) for path in folder.rglob("*"))
    return sorted(name for path, name in names if is_picture_file(name, endings) and path.is_file())


def about_left_out(folder: Path) -> str:
    """Return how many pictures of a folder no browser shows, in a sentence; "" if none."""
    names = pictures_in(folder, _NOT_SHOWN)
    if not names:
        return ""
    endings = " or ".join(sorted({PurePosixPath(name).suffix.lower() for name in names}))
    return (
        f"{folder}: {plural(len(names), 'file')} left out, because browsers do not show {endings}; "
        "save as .jpg what workers are to see"
    )


def about_no_picture(folder: Path) -> list[str]:
    """Return why a folder has no items: the endings of pictures, and what was left out."""
    looked_for = f"{folder} has no picture; looked for {', '.join(sorted(PICTURES))}"
    return [looked_for, *filter(None, [about_left_out(folder)])]


_NOT_SHOWN = frozenset({".heic", ".heif", ".tif", ".tiff"})


def table_rows(text: str) -> "csv.DictReader[str]":
    r"""Return the rows of a CSV that have a filled cell; the separator is detected.

    Spreadsheets write ";" in countries with a decimal comma, some write tabs, and some write
    rows of separators alone below the table.

    >>> [dict(row) for row in table_rows("name;note\r\nAda;a, b\r\n;\r\n")]
    [{'name': 'Ada', 'note': 'a, b'}]
    """
    separator = separator_of(islice(io.StringIO(text), LINES_LOOKED_AT))
    rows: csv.DictReader[str] = csv.DictReader(())
    # A reader of csv has one more attribute, for which DictReader does not ask.
    rows.reader = FilledRows(io.StringIO(text, newline=""), separator)  # type: ignore[assignment]
    return rows


class FilledRows:
    """The rows of a CSV in which a cell is filled, as lists of cells."""

    def __init__(self, lines: Iterable[str], separator: str, *, columns: int = 0) -> None:
        """Read from these lines, each with its line break.

        Args:
            lines: of the whole table, or of what follows its header.
            separator: what separates cells.
            columns: the number of columns; 0 if the first row is the header.
        """
        self._columns = columns
        self._rows = csv.reader(lines, delimiter=separator, strict=True)
        self._separator = separator

    @property
    def line_num(self) -> int:
        """The number of lines that were read."""
        return self._rows.line_num

    def __iter__(self) -> Iterator[list[str]]:
        """Return itself."""
        return self

    def __next__(self) -> list[str]:
        """Return the cells of the next row in which a cell is filled.

        Raises:
            csv.Error: a quote is not closed in its cell.
        """
        for cells in self._rows:
            # Nearly all rows begin with an id; a campaign reads all of them in each process.
            if (cells and cells[0].strip()) or any(cell.strip() for cell in cells):
                break
        else:
            raise StopIteration
        if not self._columns:
            self._columns = len(cells)
        if self._separator == "\t":
            self._refuse_joined_rows(cells)
        return cells

    def _refuse_joined_rows(self, cells: Sequence[str]) -> None:
        """Raise an error if a cell that begins with a quote has taken in the next rows.

        Programs that write tabs often quote nothing; with commas, such a cell may be right.
        """
        for place, cell in enumerate(cells):
            if _has_joined_rows(cell, place, len(cells), tabs=self._columns - 1):
                begins = self.line_num - sum(other.count("\n") for other in cells)
                raise csv.Error(
                    f"from line {begins} on, a cell that begins with a quote takes in the next "
                    "rows: put the whole cell in quotes, and write two for each in it"
                )


def _has_joined_rows(cell: str, place: int, cells: int, *, tabs: int) -> bool:
    """Return whether the first and the last line of a cell complete rows with as many tabs."""
    if "\n" not in cell or not tabs:
        return False
    first, last = cell.partition("\n")[0], cell.rpartition("\n")[2]
    ends = (place + first.count("\t"), last.count("\t") + cells - place - 1)
    return ends == (tabs, tabs)


def separator_of(lines: Iterable[str]) -> str:
    """Return what separates the cells of a table with a header, by its first lines.

    It is what the next lines have as often as the header, outside quotes; else what is more
    frequent in the header, if no space follows.

    >>> [separator_of([line]) for line in ("id;Satz, deutsch;Quelle", 'id,"a;b;c"', "id")]
    [';', ',', ',']
    >>> separator_of(["id,question (yes;no;unsure)", "7,Is it red?"])
    ','
    """
    # A quote that is not closed goes on in the next line.
    bare = [re.sub('"[^"]*("|$)', "", line) for line in lines if line.strip()]
    header, rows = (bare or [""])[0], bare[1:]

    def fits(mark: str) -> tuple[int, int]:
        times = header.count(mark)
        alike = sum(row.count(mark) == times for row in rows) if times else -1
        return alike, times - header.count(f"{mark} ")

    return max(",;\t", key=fits)
