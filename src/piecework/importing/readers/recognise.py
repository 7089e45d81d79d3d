"""Choose the reader for a file by its content, trying the most specific first."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from piecework.domain.errors import ConfigError
from piecework.domain.imported import Reading
from piecework.domain.suggestion import did_you_mean
from piecework.importing.readers import (
    amti,
    mapped,
    mephisto,
    mturk_csv,
    mturk_json,
    parquet,
    potato,
    potato_items,
    prolific_export,
    results_file,
    simple_amt,
)
from piecework.importing.readers.head import Head, head_of
from piecework.importing.readers.rows import Read, Reader

READERS: tuple[Reader, ...] = (
    parquet,
    mturk_csv,
    results_file,
    prolific_export,
    amti,
    mturk_json,
    simple_amt,
    mephisto,
    potato,
)


class Source(NamedTuple):
    """A file to read.

    Attributes:
        format_name: the name of the format for people.
    """

    path: Path
    head: Head
    format_name: str
    rows: Callable[[], Iterator[Read]]


def recognise(paths: Sequence[Path], reading: Reading | None = None) -> list[Source]:
    """Return how to read files, some of them joined to others.

    Prolific's export adds who gave the answers of a table, and a file of items adds the
    content of Potato's instances.

    Args:
        paths: files, or a folder created by a tool.
        reading: what is known about the columns of a table.

    Raises:
        ConfigError: a file cannot be read, or has no known format.
    """
    heads = {path: head_of(path) for path in paths}
    exports = [path for path, head in heads.items() if prolific_export.fits(head)]
    others = {path: head for path, head in heads.items() if path not in exports}
    if len(exports) == 1 and others and all(map(_is_plain, others.values())):
        return [
            Source(
                path,
                head,
                f"answers joined to {prolific_export.NAME}",
                partial(
                    prolific_export.joined, path, head, exports[0], heads[exports[0]]
                ),
            )
            for path, head in others.items()
        ]
    annotated = [path for path, head in heads.items() if potato.fits(head)]
    items = [(path, head) for path, head in heads.items() if path not in annotated]
    if annotated and items and not any(_of_a_tool(head) for _, head in items):
        return [
            Source(
                path,
                heads[path],
                f"{potato.NAME}, joined to its items",
                partial(potato_items.joined, path, heads[path], items),
            )
            for path in annotated
        ]
    return [_source(path, head, reading) for path, head in heads.items()]


def _source(path: Path, head: Head, reading: Reading | None) -> Source:
    for reader in READERS:
        if reader.fits(head):
            return Source(path, head, reader.NAME, partial(reader.read, path, head))
    if reading is not None and (reading.answers or reading.votes):
        _check_columns(path, head, reading)
        rows = partial(mapped.read, path, head, reading)
        return Source(path, head, mapped.NAME, rows)
    names = ", ".join(reader.NAME for reader in READERS)
    if head.is_folder:
        wanted = (
            f"{amti.FILE} (of {amti.NAME}) or {potato.STATE_FILE} (of {potato.NAME})"
        )
        raise ConfigError(
            [f"{path}: the folder does not contain {wanted}"],
            next_step="give the files themselves",
        )
    raise ConfigError(
        [f"{path}: has an unknown format; the known ones are {names}"],
        next_step="describe its columns with --columns FILE (docs/how-to/importing.md)",
    )


def _is_plain(head: Head) -> bool:
    """Return whether it is a table of no known tool."""
    return bool(head.header) and not _of_a_tool(head)


def _of_a_tool(head: Head) -> bool:
    return head.is_folder or any(reader.fits(head) for reader in READERS)


def _check_columns(path: Path, head: Head, reading: Reading) -> None:
    """Check that mapped columns exist; in JSON they may come later."""
    if head.first_object is not None:
        return
    header = reading.header or head.header
    if not header or reading.numbers:
        return
    missing = sorted(mapped.columns_named(reading) - set(header))
    if missing:
        raise ConfigError(
            [
                f"{path}: line 1: column {name!r}, named in the mapping, is missing"
                f"{did_you_mean(name, header)}; the columns are {', '.join(header)}"
                for name in missing
            ]
        )
