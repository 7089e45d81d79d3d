"""Read the beginning of a file, by which its format is recognised, not by its name.

Also detects a file's encoding, and streams its lines and cells, so that a file of
gigabytes needs no more memory than a small one.
"""

import codecs
import csv
import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from piecework.domain.errors import ConfigError
from piecework.domain.imported import Reading
from piecework.domain.text import plural
from piecework.foundation.csv_text import LONGEST_CELL, rows_in
from piecework.importing.readers.moments import TimesSeen

_HEAD_BYTES = 1 << 20
_PIECE_BYTES = 1 << 20

_ZIP = b"PK\x03\x04"
_LOOKED_AT = 4096
_PERCENT = 100
"""One character in this many may be unprintable, as typed by a stranger."""

MOST_COLUMNS = 5_000

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
"""What may separate the cells of a table, with its name for people."""

_ROWS_COMPARED = 50
_OF_PANDAS = re.compile(r"Unnamed: \d+")
"""What pandas calls a column without a name when it writes it again."""

_OF_SPREADSHEETS = "sep="
"""Spreadsheets begin a file with a line such as `sep=;` to state its separator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The beginning of a file.

    Attributes:
        is_folder: whether it is a folder; then everything except `names` is empty.
        names: the files in a folder and its subfolders, or in a zip.
        text: the first megabyte; "" if it is not text.
        encoding: the encoding's name in Python.
        delimiter: the delimiter of a table, else "".
        header: the cells of a table's first line.
        first_object: the first JSON object of a JSON file.
        unnamed: the names in `header` of columns that have none in the file.
        first_line: the line of the header.
        magic: the first bytes.
        times: what the first rows show about the way times are written.
        reading: what is stated about the file.
        guesses: what was guessed about the file, each with the line that states
            otherwise.
    """

    is_folder: bool = False
    names: frozenset[str] = frozenset()
    text: str = ""
    encoding: str = "utf-8"
    delimiter: str = ""
    header: tuple[str, ...] = ()
    unnamed: frozenset[str] = frozenset()
    first_line: int = 1
    first_object: object = None
    magic: bytes = b""
    times: TimesSeen = field(default_factory=TimesSeen)
    reading: Reading = field(default_factory=Reading)
    guesses: tuple[tuple[str, str], ...] = ()

    def has(self, *columns: str) -> bool:
        """Return whether the table has all of these columns."""
        return set(columns) <= set(self.header)


def head_of(path: Path, reading: Reading = Reading()) -> Head:  # noqa: B008 - immutable
    """Read the beginning of a file.

    Args:
        path: the file, or a folder.
        reading: what is stated about the file.

    Raises:
        ConfigError: it cannot be read, is empty, or has a header that is not valid CSV.
    """
    if path.is_dir():
        names = frozenset(file.name for file in path.rglob("*"))
        return Head(is_folder=True, names=names, reading=reading)
    magic = _first_bytes(path)
    if magic.startswith(b"PAR1"):
        return Head(magic=magic[:4], reading=reading)
    if magic.startswith(_ZIP) and (names := _of_annotations(path)):
        return Head(magic=magic[:4], names=names, reading=reading)
    encoding, guesses = _encoding(path, magic, reading.encoding)
    text = magic.decode(encoding, errors="replace")
    start = text[:_LOOKED_AT]
    if start.count("\x00") * _PERCENT > len(start):
        raise ConfigError([f"{path}: is neither text nor a file of a known tool"])
    if text.lstrip("\ufeff \t\r\n")[:1] in {"{", "["}:
        return Head(
            text=text,
            encoding=encoding,
            first_object=_first_object(text.lstrip("\ufeff")),
            magic=magic[:4],
            reading=reading,
            guesses=tuple(guesses),
        )
    if is_tagged(text):
        # A token may be a quote, which no table of CSV has alone.
        return Head(
            text=text,
            encoding=encoding,
            magic=magic[:4],
            reading=reading,
            guesses=tuple(guesses),
        )
    try:
        return _table_head(text, encoding, magic[:4], reading, guesses)
    except csv.Error as fault:
        raise ConfigError([f"{path}: line 1: {csv_fault(fault)}"]) from fault


_TAGGED = re.compile(r"\S.*[ \t](?:O|[BIESLU]-\S+)[ \t\r]*")
_COMMENT = re.compile(r"# (?:tag\b|[\w. ]+=)")
"""What comments say that may end like a tag: a name and a value, or which tag means what."""


def is_tagged(text: str) -> bool:
    r"""Return whether the text is tokens with tags, as CoNLL's, with a line for each.

    >>> is_tagged("# item_id = 1\nAda\tB-Person\n.\tO\n"), is_tagged("word\ttag\nAda\tO\n")
    (True, False)
    """
    *whole, last = text.lstrip("\ufeff").split("\n")
    lines = whole if len(text) >= _HEAD_BYTES // 4 else [*whole, last]
    tokens = [line for line in lines if line.strip() and not is_comment(line)]
    return bool(tokens) and all(map(_TAGGED.fullmatch, tokens))


def is_comment(line: str) -> bool:
    """Return whether a line of columns is a comment, and not the token `#` with its tag.

    >>> is_comment("# item_id = O"), is_comment("# O"), is_comment("# NN O"), is_comment("# one")
    (True, False, False, True)
    """
    if not line.startswith("# "):
        return False
    return _TAGGED.fullmatch(line) is None or _COMMENT.match(line) is not None


def _of_annotations(path: Path) -> frozenset[str]:
    """Return the names of the files in a zip of brat's annotations; none of another file."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = frozenset(Path(name).name for name in archive.namelist())
    except (zipfile.BadZipFile, OSError):
        return frozenset()
    return names if any(name.endswith(".ann") for name in names) else frozenset()


def _first_bytes(path: Path) -> bytes:
    # Reading a pipe or a device could wait forever.
    if not path.is_file():
        raise ConfigError([f"{path}: there is no such file or folder"])
    try:
        with path.open("rb") as file:
            start = file.read(_HEAD_BYTES)
    except OSError as fault:
        raise ConfigError([f"{path}: cannot be read ({fault.strerror})"]) from fault
    if not start.strip():
        raise ConfigError([f"{path}: is empty"])
    return start


def _table_head(
    text: str, encoding: str, magic: bytes, reading: Reading, guesses: list[tuple[str, str]]
) -> Head:
    """Return the beginning of a table.

    Raises:
        csv.Error: its header is not valid.
    """
    first = text.split("\n", 1)[0].strip().strip('"')
    is_stated = first.startswith(_OF_SPREADSHEETS) and len(first) == len("sep=;")
    separator = reading.separator or (first[-1] if is_stated else "")
    if not separator:
        separator = _separator(text)
        if separator != ",":
            line = 'separator = ","' if separator != "\t" else 'separator = ";"'
            guesses.append((f"{SEPARATORS[separator]} separate the cells", line))
    rows = _first_rows(text.partition("\n")[2] if is_stated else text, separator)
    header = next(rows, [])
    if isinstance(header, csv.Error):
        raise header
    times = TimesSeen()
    for row in rows:
        for cell in () if isinstance(row, csv.Error) else row:
            times.see(cell)
    if reading.times.day_first is None:
        day_first = times.order()
        reading = replace(reading, times=replace(reading.times, day_first=day_first))
    return Head(
        text=text,
        encoding=encoding,
        delimiter=separator,
        header=named(header),
        unnamed=frozenset(
            name
            for name, cell in zip(named(header), header, strict=True)
            if not cell.strip() or _OF_PANDAS.fullmatch(cell.strip())
        ),
        first_line=1 + is_stated,
        magic=magic,
        times=times,
        reading=reading,
        guesses=tuple(guesses),
    )


def named(header: Iterable[str]) -> tuple[str, ...]:
    """Return the names of columns, with a name for each column that has none.

    >>> named(["", " text "])
    ('column 1', 'text')
    """
    return tuple(name.strip() or f"column {number}" for number, name in enumerate(header, start=1))


def csv_fault(fault: csv.Error) -> str:
    """Return what is wrong with a row, and how it is written."""
    return (
        f"not valid CSV ({fault}); an opened quote must be closed at the end of its cell, a quote "
        f"inside is doubled, and a cell may have at most {LONGEST_CELL >> 20} MB"
    )


def cells_of(path: Path, head: Head) -> Iterator[tuple[int, list[str] | csv.Error]]:
    """Yield the rows of a table, including the header, with the line each begins at.

    For a row that is not CSV, yield the error and continue with the line after its first:
    an unclosed quote takes no other row with it.
    """
    with _long_cells(), path.open(encoding=head.encoding, errors="replace", newline="") as file:
        before = head.first_line - 1
        for _ in range(before):
            file.readline()
        for line, row in rows_in(file, head.delimiter or ","):
            yield before + line, row


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


def _encoding(path: Path, magic: bytes, stated: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the encoding, and what was guessed about it.

    It is UTF-8 if all of the file is, with or without a BOM; UTF-16 by its BOM.

    A file with more of UTF-8 than of faults is UTF-8 that something damaged.
    Otherwise it is Windows-1252, which old spreadsheets wrote.
    """
    if stated:
        return stated, []
    if magic.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16", []
    start = magic[:_LOOKED_AT]
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        # In UTF-16, every second byte of English text is zero.
        if start[first::2].count(0) * 2 > len(start[first::2]):
            return encoding, [(f"the text is {encoding.upper()}", 'encoding = "utf-8"')]
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    characters = faults = 0
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            text = decoder.decode(piece)
            # A character of several bytes counts once, and so does a damaged byte.
            characters += len(piece) - len(text)
            faults += text.count("\ufffd")
        faults += decoder.decode(b"", final=True).count("\ufffd")
    if not faults:
        return "utf-8-sig", []
    if characters > faults:
        damaged = plural(faults, "damaged character")
        what = f"the text is UTF-8 with {damaged}, shown as \ufffd"
        return "utf-8-sig", [(what, 'encoding = "cp1252"')]
    what = "the text is not UTF-8, and is read as Windows-1252"
    return "cp1252", [(what, 'encoding = "latin2"')]


_NOT_AS_THE_REST = (
    "the byte 0x%s is not UTF-8, as the rest of the file is; its letter would be lost"
)


def refuse_damaged(path: Path, head: Head) -> None:
    """Refuse a text with a byte of another encoding, which writing it again would lose.

    Raises:
        ConfigError: with the first such line.
    """
    if not head.text or not head.encoding.startswith("utf-8"):
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode()
            except UnicodeDecodeError as fault:
                byte = line[fault.start : fault.start + 1]
                raise ConfigError(
                    [f"{path}: line {number}: {_NOT_AS_THE_REST % byte.hex().upper()}"],
                    next_step="write the line in UTF-8 (in Windows-1252 the byte is "
                    f"{byte.decode('cp1252', 'replace')!r})",
                ) from fault


def _separator(text: str) -> str:
    """Return what separates the cells: what gives the most columns of equal rows."""

    def columns(separator: str) -> tuple[bool, int]:
        rows = islice(_first_rows(text, separator), _ROWS_COMPARED)
        lengths = [0 if isinstance(row, csv.Error) else len(row) for row in rows]
        first = next(filter(None, lengths), 0)
        return first > 1 and len(set(lengths)) == 1, first

    return max(SEPARATORS, key=columns)


def _first_rows(text: str, separator: str) -> Iterator[list[str] | csv.Error]:
    """Yield the rows of a file's beginning, without the last, which may be cut."""
    is_cut = len(text) >= _HEAD_BYTES // 4
    lines = list(io.StringIO(text, newline=""))
    if is_cut and len(lines) > 1:
        lines = lines[:-1]
    with _long_cells():
        for _, row in rows_in(lines, separator, is_cut=is_cut):
            yield row


def _missing(_word: str) -> None:
    return None


def _first_object(text: str) -> object:
    """Return the first object of JSON Lines or a list, or a complete document."""
    start = text.lstrip()
    inside = start[1:].lstrip() if start[:1] == "[" else start
    for candidate in (inside, start):
        try:
            # NaN is a missing value, as for the readers.
            first_object, _ = json.JSONDecoder(parse_constant=_missing).raw_decode(candidate)
        except (ValueError, RecursionError):
            continue
        return first_object
    return None
