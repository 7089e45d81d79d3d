"""Write CSV whose cells keep their line breaks, and read CSV with faulty rows."""

import csv
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

LONGEST_CELL = 1 << 26
"""64 MB. Longer cells are not answers, but mostly the result of an unclosed quote."""

_LONGEST_ROW = 4 * LONGEST_CELL
_LINE_BYTES = 64
"""What Python needs for a line beside its letters: a row may have millions of short lines."""

_PIECE_BYTES = 1 << 20
_MOST_READINGS = 3
"""Lines are read again after a fault; a file that is made to waste time is not, without end."""


class _LinesEndInLf:
    """A file that `csv.writer` writes to, a row at a time."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, row: str) -> int:
        return self._file.write(row.removesuffix("\r\n") + "\n")


def write_csv_rows(file: TextIO, rows: Iterable[Sequence[object]], *, separator: str = ",") -> None:
    r"""Write rows that end in LF, with quotes only around cells that need them.

    Python before 3.13 leaves a CR in a cell without quotes, unless rows end in CR and LF;
    readers end the row there.

    Args:
        file: a text file that does not translate newlines.
        rows: the rows, with the header.
        separator: what separates cells.

    >>> import io
    >>> write_csv_rows(out := io.StringIO(), [["a\rb", "c\r\n", "d"]])
    >>> out.getvalue()
    '"a\rb","c\r\n",d\n'
    """
    csv.writer(_LinesEndInLf(file), delimiter=separator).writerows(rows)


class _Lines:
    """The lines of a text for `csv.reader`; those of a row can be read again as other rows.

    Attributes:
        of_row: the lines of the current row.
        is_at_end: whether all lines were read.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._again: deque[str] = deque()
        self._row_bytes = self._bytes = self._bytes_again = 0
        self.of_row: list[str] = []
        self.is_at_end = False

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        """Return the next line.

        Raises:
            csv.Error: the row is longer than any table's.
        """
        if self._again:
            line = self._again.popleft()
        elif (line := next(self._lines, "")) == "":
            self.is_at_end = True
            raise StopIteration
        else:
            self._bytes += len(line) + _LINE_BYTES
        self.of_row.append(line)
        self._row_bytes += len(line) + _LINE_BYTES
        if self._row_bytes > _LONGEST_ROW:
            raise csv.Error(f"a row of more than {_LONGEST_ROW >> 20} MB")
        return line

    def begin_row(self) -> None:
        """Forget the lines before the next row."""
        self.of_row.clear()
        self._row_bytes = 0

    def go_back(self) -> bool:
        """Go back to the second line of the row; return whether it is possible."""
        self._bytes_again += self._row_bytes
        if self._bytes_again > _MOST_READINGS * max(self._bytes, _PIECE_BYTES):
            return False
        self._again.extendleft(reversed(self.of_row[1:]))
        return True


def rows_in(
    text: Iterable[str], separator: str, *, is_cut: bool = False
) -> Iterator[tuple[int, list[str] | csv.Error]]:
    """Yield the rows of a table, including the header, with the line each begins at.

    For a row that is not CSV, yield the error and continue with the line after its first:
    an unclosed quote takes no other row with it.

    Args:
        text: its lines, with their ends.
        separator: what separates cells.
        is_cut: whether the text ends inside a row, which is left out.
    """
    lines = _Lines(text)
    reader = csv.reader(lines, delimiter=separator, strict=True)
    number, columns = 1, 0
    while True:
        lines.begin_row()
        row: list[str] | csv.Error
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as fault:
            row = fault
        is_fault = isinstance(row, csv.Error)
        is_plain = separator == "\t" and _stand_alone(
            # After a fault, the line after it may be one that the quote took along.
            lines.of_row[:2] if is_fault else lines.of_row,
            columns,
            least=1 if is_fault else 2,
        )
        if is_cut and is_fault and columns and not is_plain and lines.is_at_end:
            return
        went_back = (is_plain or is_fault) and lines.go_back()
        if is_plain and went_back:
            row = lines.of_row[0].rstrip("\r\n").split(separator)
        if row:
            yield number, row
        if not isinstance(row, csv.Error):
            columns = columns or len(row)
        number += 1 if went_back else len(lines.of_row)


def _stand_alone(lines: Sequence[str], columns: int, *, least: int) -> bool:
    """Return whether each line has all columns, so that its quotes are part of the text.

    Many tables with tabs are written without quoting.

    Args:
        lines: the lines that a quote makes one row.
        columns: how many the header has.
        least: how many lines there must be.
    """
    return (
        columns > 1
        and len(lines) >= least
        and all(line.count("\t") == columns - 1 for line in lines if line.strip())
    )
