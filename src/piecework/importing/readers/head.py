"""Read the beginning of a file, by which its format is recognised, not by its name.

Also detects a file's encoding, and streams its lines and cells, so that a file of
gigabytes needs no more memory than a small one.
"""

import codecs
import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from piecework.domain.errors import ConfigError

_HEAD_BYTES = 1 << 20
_PIECE_BYTES = 1 << 20

_LOOKED_AT = 4096
_PERCENT = 100
"""One character in this many may be unprintable, as typed by a stranger."""

LONGEST_CELL = 1 << 26
"""64 MB. Longer cells are not answers, but mostly the result of an unclosed quote."""

MOST_COLUMNS = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The beginning of a file.

    Attributes:
        is_folder: whether it is a folder; then everything except `names` is empty.
        names: the files in a folder and its subfolders.
        text: the first megabyte; "" if it is not text.
        encoding: the encoding's name in Python.
        delimiter: the delimiter of a table, else "".
        header: the cells of a table's first line.
        first_object: the first JSON object of a JSON file.
        magic: the first bytes.
    """

    is_folder: bool = False
    names: frozenset[str] = frozenset()
    text: str = ""
    encoding: str = "utf-8"
    delimiter: str = ""
    header: tuple[str, ...] = ()
    first_object: object = None
    magic: bytes = b""

    def has(self, *columns: str) -> bool:
        """Return whether the table has all of these columns."""
        return set(columns) <= set(self.header)


def head_of(path: Path) -> Head:
    """Read the beginning of a file.

    Raises:
        ConfigError: it cannot be read, or is empty.
    """
    if path.is_dir():
        names = frozenset(file.name for file in path.rglob("*"))
        return Head(is_folder=True, names=names)
    # Reading a pipe or a device could wait forever.
    if not path.is_file():
        raise ConfigError([f"{path}: there is no such file or folder"])
    try:
        with path.open("rb") as file:
            magic = file.read(_HEAD_BYTES)
    except OSError as fault:
        raise ConfigError([f"{path}: cannot be read ({fault.strerror})"]) from fault
    if not magic.strip():
        raise ConfigError([f"{path}: is empty"])
    if magic.startswith(b"PAR1"):
        return Head(magic=magic[:4])
    encoding = _encoding(path, magic)
    text = magic.decode(encoding, errors="replace")
    start = text[:_LOOKED_AT]
    if start.count("\x00") * _PERCENT > len(start):
        raise ConfigError([f"{path}: is neither text nor a file of a known tool"])
    if text.lstrip()[:1] in {"{", "["}:
        return Head(
            text=text,
            encoding=encoding,
            first_object=_first_object(text),
            magic=magic[:4],
        )
    line = text.split("\n", 1)[0]
    delimiter = "\t" if line.count("\t") > line.count(",") else ","
    return Head(
        text=text,
        encoding=encoding,
        delimiter=delimiter,
        header=_header(text, delimiter),
        magic=magic[:4],
    )


def cells_of(path: Path, head: Head) -> Iterator[tuple[int, list[str] | csv.Error]]:
    """Yield the rows of a table, including the header, with the line each begins at.

    For a row that is not CSV, yield the error and continue after it.
    """
    with (
        _long_cells(),
        path.open(encoding=head.encoding, errors="replace", newline="") as file,
    ):
        reader = csv.reader(file, delimiter=head.delimiter or ",")
        while True:
            line = reader.line_num + 1
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as fault:
                yield line, fault
                continue
            if row:
                yield line, row


def lines_of(path: Path, head: Head) -> Iterator[tuple[int, str]]:
    """Yield the non-blank lines of a text with their numbers."""
    with path.open(encoding=head.encoding, errors="replace", newline="\n") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield number, line


@contextmanager
def _long_cells() -> Iterator[None]:
    # A cell of 10 MB may be data; csv's own limit, set per process, is 128 KB.
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _encoding(path: Path, magic: bytes) -> str:
    """Return UTF-8 if all of the file is, with or without a BOM; UTF-16 by its BOM.

    Otherwise return Windows-1252, which old spreadsheets wrote.
    """
    if magic.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with path.open("rb") as file:
            while piece := file.read(_PIECE_BYTES):
                decoder.decode(piece)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8-sig"


def _header(text: str, delimiter: str) -> tuple[str, ...]:
    with _long_cells():
        try:
            row = next(csv.reader(text.splitlines(keepends=True), delimiter=delimiter))
        except (csv.Error, StopIteration):
            return ()
    return tuple(name.strip() for name in row)


def _first_object(text: str) -> object:
    """Return the first object of JSON Lines or a list, or a complete document."""
    start = text.lstrip()
    inside = start[1:].lstrip() if start[:1] == "[" else start
    for candidate in (inside, start):
        try:
            first_object, _ = json.JSONDecoder().raw_decode(candidate)
        except (ValueError, RecursionError):
            continue
        return first_object
    return None
