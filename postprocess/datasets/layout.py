"""The layout of a dataset's files."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import BinaryIO

import numpy as np

from piecework.domain.dataset import SPLITS, Split
from piecework.postprocess.datasets.file_table import FileTable

Write = Callable[[BinaryIO], None]
"""Writes the complete content of a file."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The files of one dataset.

    Attributes:
        main: the table of answers that count, also written by split.
        tables: all tables by name, without file extension, for each table format.
        documents: the writers of the JSON files, by name.
        card: makes the data card in Markdown from the names of the files; it begins
            with its first heading.
    """

    main: str
    tables: Mapping[str, FileTable]
    documents: Mapping[str, Write]
    card: Callable[[Iterable[str]], str]


def split_tables(table: FileTable) -> dict[Split, FileTable]:
    """Return the rows of a table by split."""
    rows = np.arange(len(table.cells)) if table.rows is None else table.rows
    of_row = table.cells["split"].to_numpy(dtype=object)[rows]
    return {split: replace(table, rows=rows[of_row == split]) for split in SPLITS}
