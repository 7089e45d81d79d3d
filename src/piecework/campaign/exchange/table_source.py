"""Rows of Parquet, CSV and JSON Lines files in a folder or bucket, as they arrive.

pyarrow reads and writes Amazon S3 (`s3://`), Google (`gs://`) and Azure (`abfs://`)
itself, with the credentials of each vendor's own files and environment variables. Some
other schemes go through fsspec, if a package for them is installed. An address says
only where the files are: its options are in a list, because others send credentials to
another server than the address shows.

A `.manifest` is SageMaker's: JSON Lines with `source-ref` (an address) or `source` (a
text). An object without an id of its own counts once, by a hash of these.

A file counts as known by its path, size and time of change. While no known file changes
or disappears, a reading opens only new files, however many are known. Folders named
`day=2026-03-04` become columns, as in other tools.
"""

import hashlib
import io
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from piecework.config.items_file import LONGEST_LINE
from piecework.config.sources import (
    CHUNK,
    HALF_WRITTEN,
    TableFile,
    TableReading,
    TableRows,
    in_chunks,
)
from piecework.config.user_files import with_secrets
from piecework.domain.errors import ConfigError
from piecework.domain.growing import Delivery, SourceRow
from piecework.domain.late_modules import fs, pa, pq
from piecework.domain.received_files import about_link, outward_link
from piecework.domain.text import with_newlines, without_secrets

_TEXTS: tuple[tuple[Any, Callable[[Any], str]], ...] = (
    (type(None), lambda _: ""),
    (str, with_newlines),
    (bool, lambda value: "true" if value else "false"),
    (date, lambda value: value.isoformat()),  # a datetime is a date too
    ((list, tuple, dict), lambda value: json.dumps(value, ensure_ascii=False, default=str)),
    ((bytes, memoryview), lambda value: bytes(value).decode("utf-8", "backslashreplace")),
)


def cells_of(row: Mapping[str, Any]) -> dict[str, str]:
    """Return a row's cells as text; nothing is ""."""
    return {str(name): text_of(value) for name, value in row.items()}


def text_of(value: object) -> str:
    """Return a value as the text that a CSV file would have.

    >>> text_of(None), text_of(7), text_of(True), text_of(7.0), text_of(["a", 1])
    ('', '7', 'true', '7.0', '["a", 1]')
    """
    for kinds, text in _TEXTS:
        if isinstance(value, kinds):
            return text(value)
    return str(value)


_OPTIONS: Mapping[str, frozenset[str]] = {
    "s3": frozenset({"region"}),
    **dict.fromkeys(("gs", "gcs", "abfs", "abfss", "file"), frozenset()),
}
"""Schemes that pyarrow opens, each with the options that its address may have."""

_BY_FSSPEC = frozenset(
    {
        *("http", "https", "ftp", "sftp", "ssh", "smb", "hdfs", "webhdfs", "webdav"),
        *("az", "adl", "oci", "oss", "memory"),
    }
)
_S3_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")


class Directory(NamedTuple):
    """A folder at an address.

    Attributes:
        files: the file system that has it.
        path: its path there.
    """

    files: "fs.FileSystem"
    path: str

    def at(self, name: str) -> str:
        """Return the path of something inside."""
        return f"{self.path}/{name}"


def directory_at(address: str, *, beside: Path) -> Directory:
    """Return the folder at an address, without looking whether it exists.

    Args:
        address: a path, or a URL such as `s3://bucket/folder`; may have `${VARIABLES}`.
        beside: the folder that relative paths start from.

    Raises:
        ConfigError: nothing that is installed can open it, or a variable is not set.
    """
    whole = with_secrets(address)
    scheme = urlsplit(whole).scheme if "://" in whole else ""
    if not scheme:
        return Directory(fs.LocalFileSystem(), str((beside / whole).resolve()))
    if scheme in _BY_FSSPEC and "::" not in whole:
        return _through_fsspec(whole, address)
    if scheme not in _OPTIONS:
        known = ", ".join(f"{name}://" for name in (*_OPTIONS, *sorted(_BY_FSSPEC)))
        raise ConfigError([f"{address}: cannot be opened; write a path, or {known}"])
    options = whole.partition("?")[2]
    for name in [pair.partition("=")[0] for pair in options.split("&") if options]:
        if name not in _OPTIONS[scheme]:
            raise ConfigError([f"{address}: the option {name!r} is not allowed in this address"])
    if scheme == "s3" and "?" not in whole and (endpoint := s3_endpoint()):
        bucket = whole.removeprefix("s3://").rstrip("/")
        # pyarrow does not read these variables (apache/arrow#49643).
        return Directory(fs.S3FileSystem(endpoint_override=endpoint), bucket)
    try:
        files, path = fs.FileSystem.from_uri(whole)
    except (pa.ArrowException, OSError) as fault:
        why = str(fault).replace(whole, address)
        raise ConfigError([f"{address}: cannot be opened ({why})"]) from fault
    return Directory(files, path.rstrip("/"))


def s3_endpoint() -> str:
    """Return the address of another service with S3's interface; "" for Amazon."""
    return next(filter(None, map(os.environ.get, _S3_ENDPOINTS)), "")


def _through_fsspec(whole: str, address: str) -> Directory:
    import fsspec  # noqa: PLC0415 - only for rare schemes

    try:
        files, path = fsspec.url_to_fs(whole)
    except (ImportError, ValueError) as fault:
        why = str(fault).replace(whole, address)
        raise ConfigError([f"{address}: cannot be opened ({why})"]) from fault
    return Directory(fs.PyFileSystem(fs.FSSpecHandler(files)), path.rstrip("/"))


_MANIFEST = ".manifest"
_KINDS = (".parquet", ".csv", ".jsonl", _MANIFEST)
_REFERENCE, _TEXT = "source-ref", "source"
_ID_DIGITS = 20
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""The value in a folder's name of rows without a value."""

_MOST_NAMED = 3


class _Part(NamedTuple):
    """A file of the source: its path in the file system, and what identifies it."""

    path: str
    mark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFolder(TableRows):
    """All tables under an address, or one table.

    Attributes:
        address: a folder, bucket or file; may have `${VARIABLES}`.
        beside: the folder that relative paths start from.
    """

    address: str
    beside: Path

    @property
    def name(self) -> str:
        """The address as the campaign file has it, without secrets."""
        return without_secrets(self.address)

    def fingerprint(self) -> str:
        """Return a hash of the files' paths, sizes and times.

        Raises:
            ConfigError: the address cannot be reached.
        """
        _, parts = self._parts()
        text = json.dumps(parts)
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    def read(self, watermark: str = "", *, most: int | None = None) -> Delivery:
        """Read the files that are new, or all if a known one changed or disappeared.

        A file that cannot be read, such as one that is still being written, is left for
        the next reading.

        Raises:
            ConfigError: the address cannot be reached.
        """
        directory, parts = self._parts()
        known = {} if most is not None or not watermark else json.loads(watermark)
        now = {part.path: part.mark for part in parts}
        is_whole = not known or any(now.get(path) != mark for path, mark in known.items())
        new = [part for part in parts if is_whole or part.path not in known]
        delivery = Delivery(chunks=iter(()), is_whole=is_whole)
        marks = {} if is_whole else dict(known)
        rows = self._rows(directory, new, marks, delivery)
        delivery.chunks = in_chunks(rows, most)
        return delivery

    def _parts(self) -> tuple[Directory, list[_Part]]:
        """Return all files in the order of their paths."""
        directory = directory_at(self.address, beside=self.beside)
        try:
            root = directory.files.get_file_info(directory.path)
            if root.type == fs.FileType.NotFound:
                raise ConfigError([f"{self.address}: there is no such file or folder"])
            infos = [root]
            if root.type == fs.FileType.Directory:
                selector = fs.FileSelector(directory.path, recursive=True)
                infos = directory.files.get_file_info(selector)
        except (pa.ArrowException, OSError) as fault:
            raise ConfigError([f"{self.address}: cannot be read ({fault})"]) from fault
        parts = [
            _Part(info.path, f"{info.size} {info.mtime_ns or info.mtime}")
            for info in infos
            if info.is_file and _is_table(info.path, directory.path)
        ]
        if isinstance(directory.files, fs.LocalFileSystem):
            self._refuse_links(directory, parts)
        return directory, sorted(parts)

    def _refuse_links(self, directory: Directory, parts: Sequence[_Part]) -> None:
        """Check that every file of a folder lies in it, and not behind a link.

        Raises:
            ConfigError: a file lies elsewhere.
        """
        root = Path(directory.path)
        for part in parts:
            link = outward_link(os.path.relpath(part.path, root), beside=root)
            if link is not None:
                fault = about_link(link, beside=root)
                raise ConfigError(
                    [f"{self.address}: {fault}"],
                    next_step="copy the file into the folder, or name its own folder",
                )

    def _rows(
        self,
        directory: Directory,
        parts: Sequence[_Part],
        marks: dict[str, str],
        delivery: Delivery,
    ) -> Iterator[SourceRow]:
        """Yield the rows of files; write down those that were read to their end."""
        left: list[str] = []
        for part in parts:
            try:
                yield from self._rows_of(directory, part)
            except (pa.ArrowException, OSError, ConfigError) as fault:
                first = str(fault).strip().partition("\n")[0]
                left.append(f"{part.path} is not read to its end yet ({first})")
                delivery.may_be_readable |= isinstance(fault, OSError)
            else:
                marks[part.path] = part.mark
        if left:
            more = len(left) - _MOST_NAMED
            named = "; ".join(left[:_MOST_NAMED])
            delivery.unfinished = named + (f"; and {more} more" if more > 0 else "")
        delivery.watermark = json.dumps(marks)

    def _rows_of(self, directory: Directory, part: _Part) -> Iterator[SourceRow]:
        inside = part.path.removeprefix(directory.path).lstrip("/")
        values = dict(_partition(inside))
        with directory.files.open_input_file(part.path) as file:
            if part.path.lower().endswith(".parquet"):
                yield from self._parquet_rows(part.path, file, values)
                return
            if part.path.lower().endswith(_MANIFEST):
                yield from self._manifest_rows(part.path, file, values)
                return
            table = TableFile(path=Path(part.path), columns=self.columns, renamed=self.renamed)
            reading = TableReading(table, io.BufferedReader(file))
            reading.begin("")
            end = Delivery(chunks=iter(()), is_whole=True)
            for row in reading.rows(end):
                yield self._with(row, values)
            if end.unfinished:
                raise ConfigError([end.unfinished])

    def _parquet_rows(
        self, path: str, file: "io.BufferedIOBase", values: Mapping[str, str]
    ) -> Iterator[SourceRow]:
        number = 0
        for batch in pq.ParquetFile(file).iter_batches(batch_size=CHUNK):
            for value in batch.to_pylist():
                number += 1
                row = self.row(f"{path}: row {number}", cells_of(value))
                yield self._with(row, values)

    def _manifest_rows(
        self, path: str, file: "io.BufferedIOBase", values: Mapping[str, str]
    ) -> Iterator[SourceRow]:
        lines = io.TextIOWrapper(
            io.BufferedReader(file), encoding="utf-8-sig", errors="surrogateescape"
        )
        for number, line in enumerate(lines, start=1):
            located = f"{path}: line {number}"
            if not line.strip():
                continue
            if len(line) > LONGEST_LINE:
                yield self.row(located, {}, fault=f"has {len(line):,} characters")
                continue
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as fault:
                if not line.endswith("\n"):
                    raise ConfigError([HALF_WRITTEN]) from fault
                yield self.row(located, {}, fault=f"not valid JSON Lines ({fault})")
                continue
            if not isinstance(value, dict):
                fault_text = "each line must be one object"
                yield self.row(located, {}, fault=fault_text)
                continue
            yield self._with(self.row(located, self._named(cells_of(value))), values)

    def _named(self, cells: dict[str, str]) -> dict[str, str]:
        """Return the cells of a manifest's line with an id and a picture's address."""
        item_id = self.renamed.get(self.columns[0], self.columns[0])
        what = cells.get(_REFERENCE) or cells.get(_TEXT, "")
        if what and item_id not in cells:
            digest = hashlib.sha256(what.encode("utf-8", "surrogateescape"))
            cells[item_id] = digest.hexdigest()[:_ID_DIGITS]
        if self.addresses and _REFERENCE in cells:
            address = self.renamed.get(self.addresses[0], self.addresses[0])
            cells.setdefault(address, cells[_REFERENCE])
        return cells

    def _with(self, row: SourceRow, values: Mapping[str, str]) -> SourceRow:
        """Return a row with the values of its folders, which its own cells precede."""
        if not values:
            return row
        cells = {**values, **row.cells}
        return SourceRow(
            located=row.located, row_id=cells.get(self.columns[0], ""), cells=cells, fault=row.fault
        )


def _is_table(path: str, root: str) -> bool:
    """Return whether a path names a table.

    Other tools hide files and folders by `_` and `.`: Spark writes to `_temporary`.
    """
    inside = path.removeprefix(root).lstrip("/").split("/")
    is_hidden = any(name.startswith(("_", ".")) for name in inside)
    return path.lower().endswith(_KINDS) and not is_hidden


def _partition(inside: str) -> Iterator[tuple[str, str]]:
    """Yield column and value of each folder such as `day=2026-03-04`, as Hive writes them.

    >>> [*_partition("city=New%20York/day=__HIVE_DEFAULT_PARTITION__/part.csv")]
    [('city', 'New York'), ('day', '')]
    """
    for folder in inside.split("/")[:-1]:
        name, equals, value = folder.partition("=")
        if equals and name:
            yield unquote(name), "" if value == _NO_VALUE else unquote(value)
