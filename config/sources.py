"""Sources of growing campaigns: a CSV or JSON Lines file, or a folder of pictures.

A file is read line by line, so its size does not matter. It is read from where the last
reading ended, as long as the bytes before that place are the same.
"""

import csv
import hashlib
import json
import os
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from piecework.config.items_file import (
    LONGEST_LINE,
    header_faults,
    item_row_faults,
    json_row,
    no_items_file,
    not_a_folder,
    renamed_row,
    trimmed,
)
from piecework.domain.errors import ConfigError
from piecework.domain.growing import Delivery, SourceRow
from piecework.domain.hit import is_picture
from piecework.domain.pictures import PictureLocation, is_plain_name
from piecework.domain.received_files import (
    LINES_LOOKED_AT,
    FilledRows,
    about_link,
    outward_link,
    pictures_in,
    separator_of,
)
from piecework.domain.task import PRACTICE
from piecework.domain.text import with_newlines

if TYPE_CHECKING:
    from piecework.config.item_pictures import Pictures

CHUNK = 10_000
"""Rows that are in memory at a time."""

_BLOCK = 1 << 20
HALF_WRITTEN = "its last line has no line break yet, so it may be half-written"
_OPEN_QUOTE = "a quoted cell at its end is not closed yet"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRows:
    """What all sources of tables have in common: columns, and what is wrong with a row.

    Attributes:
        columns: columns that the task's page needs; the first is the id.
        pictures: the folder or bucket for relative addresses; `None` allows none.
        drawn: the number of scenes that the rehearsal can draw.
        renamed: names of columns in the source, by their new names.
        addresses: columns with addresses of pictures.
        possible: columns with an address wherever the cell names a picture.
        files: the pictures in that folder or bucket; `None`: they are not looked at.
    """

    columns: tuple[str, ...]
    pictures: PictureLocation | None = None
    drawn: int = 0
    renamed: Mapping[str, str] = field(default_factory=dict)
    addresses: tuple[str, ...] = ("url",)
    possible: tuple[str, ...] = ()
    files: "Pictures | None" = field(default=None, compare=False)

    def row(self, located: str, cells: Mapping[str, str], *, fault: str = "") -> SourceRow:
        """Return a row under the new names of its columns."""
        if self.renamed and cells:
            cells = renamed_row(cells, self.renamed, wanted=self.columns)
        cells = trimmed(cells, (*self.addresses, *self.possible), self.pictures)
        row_id = cells.get(self.columns[0], "")
        return SourceRow(located=located, row_id=row_id, cells=cells, fault=fault)

    def header(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the columns of a source by their new names, sorted."""
        cells = dict.fromkeys(names, "")
        return tuple(sorted(renamed_row(cells, self.renamed, wanted=self.columns)))

    def faults(self, row: SourceRow) -> list[str]:
        """Return why a row cannot become an item, each with place and column."""
        faults = item_row_faults(
            row.located,
            row.cells,
            self.columns,
            pictures=self.pictures,
            drawn=self.drawn,
            addresses=self.addresses,
            possible=self.possible,
        )
        if row.cells.get(PRACTICE):
            faults.append(
                f"{row.located}: {PRACTICE} is set, but items that arrive later cannot be practice"
            )
        return faults

    def awaited(self, rows: Sequence[SourceRow]) -> Mapping[str, Mapping[str, str]]:
        """Return pictures of rows that are missing or not whole, with why; by the rows' ids."""
        if self.files is None or self.pictures is None:
            return {}
        names = {row.row_id: self._pictures_of(row) for row in rows}
        faults = self.files.faults_of(dict.fromkeys(chain.from_iterable(names.values())))
        named = {
            row_id: {name: faults[name] for name in of_row if name in faults}
            for row_id, of_row in names.items()
        }
        return {row_id: of_row for row_id, of_row in named.items() if of_row}

    def mark_of_picture(self, name: str) -> str:
        """Return size and time of a picture; "" if it is not there."""
        return "" if self.files is None else self.files.mark_of(name)

    def _pictures_of(self, row: SourceRow) -> list[str]:
        assert self.pictures is not None  # noqa: S101 - checked by the caller
        cells = [row.cells.get(column, "") for column in (*self.addresses, *self.possible)]
        return [
            name
            for cell in cells
            if is_picture(cell) and (name := self.pictures.name_of(cell)) and is_plain_name(name)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFile(TableRows):
    """A `.csv` file with a header line, or a `.jsonl` file of flat objects."""

    path: Path

    @property
    def name(self) -> str:
        """The path of the file."""
        return str(self.path)

    def fingerprint(self) -> str:
        """Return size, time of the last change and number of the file.

        Raises:
            ConfigError: there is no such file.
        """
        try:
            facts = self.path.stat()
        except OSError as fault:
            raise _unreadable(self.path, fault) from fault
        return f"{facts.st_size} {facts.st_mtime_ns} {facts.st_ino}"

    def read(self, watermark: str = "", *, most: int | None = None) -> Delivery:
        """Read the rows after the watermark, or all if the file was rewritten.

        Raises:
            ConfigError: the file cannot be read, or lacks a column.
        """
        if not self.path.is_file():
            raise _unreadable(self.path, None)
        try:
            file = self.path.open("rb")
        except OSError as fault:
            raise _unreadable(self.path, fault) from fault
        reading = TableReading(self, file)
        try:
            reading.begin(watermark if most is None else "")
        except OSError as fault:
            file.close()
            raise _unreadable(self.path, fault) from fault
        except BaseException:
            file.close()
            raise
        delivery = Delivery(
            chunks=iter(()), is_whole=reading.is_whole, header=reading.columns(), close=file.close
        )
        delivery.chunks = in_chunks(reading.rows(delivery), most)
        return delivery


class TableReading:
    """One reading of a file, line by line."""

    def __init__(self, source: TableFile, file: BinaryIO) -> None:
        """Read a file that is open at its beginning; `rows` closes it."""
        self._source, self._file = source, file
        self._is_csv = source.path.suffix.lower() == ".csv"
        self._digest: hashlib._Hash = hashlib.sha256()
        self._at = 0
        """Bytes that were read; `_digest` is of exactly these."""
        self._line = 0
        self._ended_early = ""
        self._header: list[str] = []
        self._separator = ","
        self.is_whole = True

    def begin(self, watermark: str) -> None:
        """Read the header, and pass over what is known if it has not changed."""
        if self._source.path.suffix.lower() not in {".csv", ".jsonl"}:
            raise no_items_file(self._source.path)
        if self._is_csv:
            self._read_header()
        known = json.loads(watermark) if watermark else None
        if known is None or not self._passes_over(known):
            self._file.seek(self._at)
            return
        self.is_whole = False

    def _read_header(self) -> None:
        path = self._source.path
        if self._file.peek(3)[:3] == b"\xef\xbb\xbf":  # type: ignore[attr-defined]
            self._digest.update(self._file.read(3))
            self._at = 3
        first = [self._file.readline(LONGEST_LINE) for _ in range(LINES_LOOKED_AT)]
        self._file.seek(self._at)
        self._separator = separator_of(line.decode("utf-8", "replace") for line in first)
        try:
            self._header = next(
                csv.reader(self._lines(), delimiter=self._separator, strict=True), []
            )
        except csv.Error as error:
            raise ConfigError([f"{path}: line 1: not valid CSV ({error})"]) from error
        header = self._header
        if not header:
            why = self._ended_early or "it has no header line"
            raise ConfigError([f"{path}: {why}"])
        if twice := sorted({name for name in header if name and header.count(name) > 1}):
            raise ConfigError([f"{path}: line 1: column {twice[0]!r} occurs twice"])
        faults = header_faults(path, header, self._source.renamed, wanted=self._source.columns)
        if faults:
            raise ConfigError(faults)

    def columns(self) -> tuple[str, ...] | None:
        """Return the columns that every row has, by their new names."""
        return self._source.header(self._header) if self._is_csv else None

    def _passes_over(self, known: Mapping[str, object]) -> bool:
        """Pass over the bytes up to the watermark; return whether they are the same."""
        end = int(str(known["bytes"]))
        digest, left = self._digest.copy(), end - self._at
        if left < 0:
            return False
        while left:
            block = self._file.read(min(_BLOCK, left))
            if not block:
                return False
            digest.update(block)
            left -= len(block)
        if digest.hexdigest() != known["sha256"]:
            return False
        self._digest, self._at, self._line = digest, end, int(str(known["lines"]))
        return True

    def _lines(self) -> Iterator[str]:
        """Yield whole lines; a last one without a line break is left for later."""
        while line := self._file.readline():
            if not line.endswith(b"\n"):
                self._ended_early = HALF_WRITTEN
                return
            self._digest.update(line)
            self._at += len(line)
            self._line += 1
            # Bytes that are not UTF-8 become surrogates, which no item may have.
            yield line.decode("utf-8", "surrogateescape")

    def rows(self, delivery: Delivery) -> Iterator[SourceRow]:
        """Yield the rows, and write down how far the reading came."""
        try:
            yield from self._csv_rows() if self._is_csv else self._json_rows()
        except OSError as fault:
            raise _unreadable(self._source.path, fault) from fault
        finally:
            self._file.close()
        delivery.unfinished = self._ended_early
        delivery.watermark = json.dumps(
            {"bytes": self._at, "lines": self._line, "sha256": self._digest.hexdigest()}
        )

    def _csv_rows(self) -> Iterator[SourceRow]:
        lines, header = self._lines(), self._header
        reader = FilledRows(lines, self._separator, columns=len(header))
        while True:
            before = self._at, self._line, self._digest.copy()
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                if "unexpected end" in str(error):
                    # The rest of this row may still be written.
                    self._at, self._line, self._digest = before
                    self._ended_early = _OPEN_QUOTE
                    return
                yield self._row({}, fault=f"not valid CSV ({error})")
                continue
            fault = ""
            if len(cells) != len(header):
                fault = f"has {len(cells)} cells, but the header has {len(header)}"
            named = dict(zip(header, map(with_newlines, cells), strict=False))
            if header.count("") > 1:  # spreadsheets leave them, and no page can name them
                named.pop("", None)  # a short row may have none
            yield self._row(named, fault=fault)

    def _json_rows(self) -> Iterator[SourceRow]:
        for line in self._lines():
            text = line.removeprefix("\ufeff") if self._line == 1 else line
            if not text.strip():
                continue
            if len(text) > LONGEST_LINE:
                yield self._row({}, fault=f"has {len(text):,} characters")
                continue
            try:
                yield self._row(json_row(text))
            except ValueError as fault:
                yield self._row({}, fault=str(fault))

    def _row(self, cells: Mapping[str, str], *, fault: str = "") -> SourceRow:
        located = f"{self._source.path}: line {self._line}"
        return self._source.row(located, cells, fault=fault)


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureRows:
    """Pictures as rows: a picture's path inside the folder or bucket is its id.

    Attributes:
        columns: columns that the task's page needs; the first is the id.
        addresses: columns with addresses of pictures; only the first is filled.
    """

    columns: tuple[str, ...]
    addresses: tuple[str, ...] = ("url",)

    @property
    @abstractmethod
    def name(self) -> str:
        """Where the pictures are."""

    @abstractmethod
    def names(self) -> Iterable[str]:
        """Return the names of all pictures, sorted.

        Raises:
            ConfigError: they cannot be listed.
        """

    def fingerprint(self) -> str:
        """Return a hash of the names of the pictures.

        Raises:
            ConfigError: they cannot be listed.
        """
        digest = hashlib.sha256()
        for name in self.names():
            digest.update(f"{name}\n".encode("utf-8", "surrogateescape"))
        return digest.hexdigest()

    def read(self, watermark: str = "", *, most: int | None = None) -> Delivery:  # noqa: ARG002 - names have no order of arrival
        """Read the names of all pictures.

        Raises:
            ConfigError: they cannot be listed, or the task needs more than a picture.
        """
        if more := [name for name in self.columns[1:] if name not in self.addresses[:1]]:
            raise ConfigError(
                [f"the task needs the column {more[0]!r}, which a picture lacks"],
                next_step='list the items in a file: items = "items.csv"',
            )
        keys = (self.columns[0], *self.addresses[:1])
        rows = (
            SourceRow(located=f"{self.name}: {name}", row_id=name, cells=dict.fromkeys(keys, name))
            for name in self.names()
        )
        return Delivery(chunks=in_chunks(rows, most), is_whole=True)

    def awaited(self, rows: Sequence[SourceRow]) -> Mapping[str, Mapping[str, str]]:  # noqa: ARG002 - others await some
        """Return none."""
        return {}

    def mark_of_picture(self, name: str) -> str:  # noqa: ARG002 - as above
        """Return "": none is awaited."""
        return ""

    def faults(self, row: SourceRow) -> list[str]:
        """Return why a picture cannot become an item."""
        return item_row_faults(row.located, row.cells, self.columns, pictures=None, addresses=())


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureFolder(PictureRows):
    """A folder of pictures on this machine."""

    path: Path

    @property
    def name(self) -> str:
        """The path of the folder."""
        return str(self.path)

    def faults(self, row: SourceRow) -> list[str]:
        """Return why a picture cannot become an item, such as one that is half-uploaded."""
        # Without arguments, `super` does not know a class with slots.
        faults = PictureRows.faults(self, row)
        link = outward_link(row.row_id, beside=self.path)
        if link is not None:
            faults.append(f"{row.located}: {about_link(link, beside=self.path)}")
        else:
            from piecework.config.item_pictures import FolderPictures  # noqa: PLC0415

            broken = FolderPictures(self.path).faults_of([row.row_id])
            faults += [f"{row.located}: {why}" for why in broken.values()]
        return faults

    def fingerprint(self) -> str:
        """Return a hash of names, sizes and times: an upload may end under its name.

        Raises:
            ConfigError: there is no such folder.
        """
        digest = hashlib.blake2b(digest_size=16)
        for name, facts in self._files():
            mark = f"{name} {facts.st_size} {facts.st_mtime_ns}\n"
            digest.update(mark.encode("utf-8", "surrogateescape"))
        return digest.hexdigest()

    def names(self) -> list[str]:
        """Return the names of all pictures, sorted.

        Raises:
            ConfigError: there is no such folder.
        """
        return [name for name, _ in self._files()]

    def _files(self) -> list[tuple[str, os.stat_result]]:
        """Return the names of all pictures, sorted, each with the facts of its file."""
        if not self.path.is_dir():
            raise not_a_folder(self.path)
        files = []
        for name in pictures_in(self.path):
            # A file may disappear while the folder is read.
            with suppress(OSError):
                files.append((name, (self.path / name).stat()))
        return files


def in_chunks(rows: Iterator[SourceRow], most: int | None) -> Iterator[list[SourceRow]]:
    """Yield rows in chunks that fit into memory, no more than the first `most`."""
    rows = islice(rows, most)
    while chunk := list(islice(rows, CHUNK)):
        yield chunk


def _unreadable(path: Path, fault: OSError | None) -> ConfigError:
    why = "it is not a regular file" if fault is None else fault.strerror
    if fault is None and not path.exists():
        why = "there is no such file"
    return ConfigError([f"{path}: the source cannot be read ({why})"])
