"""What one shape of dataset files consists of."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import BinaryIO

from postprocess.datasets.file_table import FileTable

Write = Callable[[BinaryIO], None]
"""Writes one file's content, from its beginning to its end."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The files of one dataset.

    Attributes:
        tables: by name, without the ending; every format of tables has them.
        documents: how the JSON files are written, by name.
        card: the data card in Markdown, from the names of the files beside it.
    """

    tables: Mapping[str, FileTable]
    documents: Mapping[str, Write]
    card: Callable[[Iterable[str]], str]
