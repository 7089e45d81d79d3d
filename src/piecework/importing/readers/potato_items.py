"""Join Potato's annotations to the file of items, which contains the texts.

Potato's own exports contain only the id of an instance.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from piecework.domain.errors import ConfigError
from piecework.importing.readers import potato
from piecework.importing.readers.crowd_form import as_text
from piecework.importing.readers.head import Head
from piecework.importing.readers.objects import objects_of
from piecework.importing.readers.rows import ImportedRow, Read
from piecework.importing.readers.tables import Cells, read_table


def joined(path: Path, head: Head, files: Iterable[tuple[Path, Head]]) -> Iterator[Read]:
    """Yield the annotations of a file or folder, each with the columns of its item.

    An annotation with an item missing in all files is left unchanged.

    Args:
        path: the annotations.
        head: their beginning.
        files: the files of items.

    Raises:
        ConfigError: a file of items has no column with the annotations' ids.
    """
    ids = {row.hit_id for row in potato.read(path, head) if isinstance(row, ImportedRow)}
    items: dict[str, Mapping[str, str]] = {}
    for file, its_head in files:
        items |= _by_id(file, its_head, ids)
    for row in potato.read(path, head):
        if isinstance(row, ImportedRow) and (cells := items.get(row.hit_id)):
            yield replace(row, shown={**row.shown, **cells})
        else:
            yield row


def _by_id(path: Path, head: Head, ids: set[str]) -> dict[str, Mapping[str, str]]:
    rows = [cells for cells in _cells(path, head) if ids & set(cells.values())]
    counts = Counter(name for row in rows for name, cell in row.items() if cell in ids)
    if not counts:
        raise ConfigError([f"{path}: no column has the ids of Potato's instances to join by"])
    ((column, _),) = counts.most_common(1)
    return {
        row[column]: {name: cell for name, cell in row.items() if name != column}
        for row in rows
        if row.get(column) in ids
    }


def _cells(path: Path, head: Head) -> Iterator[Mapping[str, str]]:
    if head.header:
        for row in read_table(path, head, _as_shown):
            if isinstance(row, ImportedRow):
                yield row.shown
        return
    for _, document in objects_of(path, head):
        if not isinstance(document, str):
            yield {str(name): as_text(value) for name, value in document.items()}


def _as_shown(line: int, cells: Cells) -> Read:
    return ImportedRow(line=line, shown=cells)
