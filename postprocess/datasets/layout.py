"""What one shape of dataset files consists of."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import BinaryIO

import numpy as np

from piecework.domain.dataset import SPLITS, Split
from piecework.postprocess.datasets.file_table import FileTable

Write = Callable[[BinaryIO], None]
"""Writes one file's content, from its beginning to its end."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The files of one dataset.

    Attributes:
        main: the table of what counts; it is written by split as well.
        tables: by name, without the ending; every format of tables has them.
        documents: how the JSON files are written, by name.
        card: the data card in Markdown, from the names of the files beside it; it
            begins with its first heading.
    """

    main: str
    tables: Mapping[str, FileTable]
    documents: Mapping[str, Write]
    card: Callable[[Iterable[str]], str]


def split_tables(table: FileTable) -> dict[Split, FileTable]:
    """The rows of a table by the split that they are in."""
    rows = np.arange(len(table.cells)) if table.rows is None else table.rows
    of_row = table.cells["split"].to_numpy(dtype=object)[rows]
    return {split: replace(table, rows=rows[of_row == split]) for split in SPLITS}
