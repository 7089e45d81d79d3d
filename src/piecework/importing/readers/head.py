"""The beginning of a file, by which its format is recognised; names count for nothing.

Also: in which encoding a file is, and its lines and cells in pieces, so that a file of
gigabytes costs no more memory than a small one.
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
"""A hundredth of these characters may be nothing at all: a stranger typed them."""

LONGEST_CELL = 1 << 26
"""64 MB. What is longer is no answer: mostly a quote that nobody closed."""

MOST_COLUMNS = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What a file begins with.

    Attributes:
        is_folder: it is a folder; then all else but `names` is empty.
        names: of the files in a folder and below it.
        text: the first megabyte; "" of what is no text.
        encoding: as Python calls it.
        delimiter: of a table, else "".
        header: cells of the first line of a table.
        first_object: the first JSON object of a file of them.
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
        """Whether the table has all of these columns."""
        return set(columns) <= set(self.header)


def head_of(path: Path) -> Head:
    """The beginning of a file.

    Raises:
        ConfigError: it cannot be read, or is empty.
    """
    if path.is_dir():
        names = frozenset(file.name for file in path.rglob("*"))
        return Head(is_folder=True, names=names)
    # A pipe or a device would be waited for, for ever.
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
        raise ConfigError([f"{path}: is no text, and no file of a tool that is known"])
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
    """The rows of a table with the line at which each begins, the header included.

    A row that is no CSV is the fault instead; reading goes on behind it.
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
    """The lines of a text that are not blank, with their numbers."""
    with path.open(encoding=head.encoding, errors="replace", newline="\n") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield number, line


@contextmanager
def _long_cells() -> Iterator[None]:
    # A cell of 10 MB is data; csv's own limit, one a process, is 128 KB.
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _encoding(path: Path, magic: bytes) -> str:
    """UTF-8 if all of the file is, with a mark or without; UTF-16 by its mark.

    Else Windows-1252, which is what old spreadsheets wrote.
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
    """The first object of JSON Lines or of a list, or a whole document, if it fits."""
    start = text.lstrip()
    inside = start[1:].lstrip() if start[:1] == "[" else start
    for candidate in (inside, start):
        try:
            first_object, _ = json.JSONDecoder().raw_decode(candidate)
        except (ValueError, RecursionError):
            continue
        return first_object
    return None
