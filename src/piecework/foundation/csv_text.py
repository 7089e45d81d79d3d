"""Write CSV whose cells keep their line breaks."""

import csv
from collections.abc import Iterable, Sequence
from typing import TextIO


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
