"""Read brat's standoff files: a text and the spans marked in it, in a folder or a zip.

The annotations of one person are in one folder, so each folder with texts is a worker, and
texts of one name and content are one item. Relations, events and attributes are left out.
"""

import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from piecework.analyses.mark_texts import spans_text
from piecework.domain.errors import ConfigError
from piecework.importing.readers.head import Head
from piecework.importing.readers.rows import OF_FILE, ImportedRow, Read, Unreadable

NAME = "brat"

_MARKED, _TEXT = ".ann", ".txt"
_SPAN = re.compile(r"(T\S*)\t(\S+) (\d{1,9} \d{1,9}(?:;\d{1,9} \d{1,9})*)(?:\t(.*))?")
_LARGEST = 1 << 26
"""64 MB of a text or its annotations."""
_LARGEST_TOGETHER = 1 << 30
_MOST_FILES = 200_000

_Open = Callable[[], bytes]


def fits(head: Head) -> bool:
    """Recognise a text beside its annotations."""
    stems = {name.removesuffix(_MARKED) for name in head.names if name.endswith(_MARKED)}
    return any(f"{stem}{_TEXT}" in head.names for stem in stems)


def read(path: Path, head: Head) -> Iterator[Read]:
    """Yield a row per text of each folder; `line` counts them.

    Raises:
        ConfigError: the zip is damaged, or too large.
    """
    if head.is_folder:
        yield from _rows(path.name, _in_folder(path))
        return
    try:
        with zipfile.ZipFile(path) as archive:
            yield from _rows(path.name, _in_zip(path, archive))
    except (zipfile.BadZipFile, zlib.error, RuntimeError, OSError) as fault:
        raise ConfigError([f"{path}: cannot be unpacked ({fault})"]) from fault


def _in_folder(path: Path) -> dict[str, _Open]:
    files = (file for file in sorted(path.rglob("*")) if file.suffix in {_MARKED, _TEXT})
    return {file.relative_to(path).as_posix(): _reading(file) for file in files if file.is_file()}


def _reading(file: Path) -> _Open:
    def content() -> bytes:
        _check_size(file.stat().st_size)
        return file.read_bytes()

    return content


def _in_zip(path: Path, archive: zipfile.ZipFile) -> dict[str, _Open]:
    infos = archive.infolist()
    if len(infos) > _MOST_FILES or sum(info.file_size for info in infos) > _LARGEST_TOGETHER:
        limit = f"{_MOST_FILES:,} files or {_LARGEST_TOGETHER >> 30} GB"
        raise ConfigError([f"{path}: holds more than {limit}"])
    return {info.filename: _unpacking(archive, info) for info in infos}


def _unpacking(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> _Open:
    def content() -> bytes:
        _check_size(info.file_size)
        with archive.open(info) as file:
            return file.read(_LARGEST)

    return content


def _check_size(size: int) -> None:
    if size > _LARGEST:
        raise ValueError(f"is larger than {_LARGEST >> 20} MB")


def _rows(root: str, files: Mapping[str, _Open]) -> Iterator[Read]:
    number = 0
    for name in sorted(files):
        path = PurePosixPath(name)
        text_name = str(path.with_suffix(_TEXT))
        if path.suffix != _MARKED:
            continue
        number += 1
        folder = path.parent.as_posix()
        worker_id = f"{OF_FILE}{root}" if folder == "." else f"{OF_FILE}{root}/{folder}"
        if text_name not in files:
            fault = f"has no {PurePosixPath(text_name).name} beside it"
            yield Unreadable(line=number, column=name, fault=fault, worker_id=worker_id)
            continue
        try:
            text = files[text_name]().decode()
            spans = [*_spans(files[name]().decode(), text)]
            yield ImportedRow(
                line=number,
                worker_id=worker_id,
                shown={"document": path.stem, "text": text},
                sent={"spans": spans_text(spans, text)},
            )
        except UnicodeDecodeError:
            yield Unreadable(line=number, column=name, fault="is not UTF-8", worker_id=worker_id)
        except ValueError as fault:
            yield Unreadable(line=number, column=name, fault=str(fault), worker_id=worker_id)


def _spans(annotations: str, text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the label of each span, and its start and end in characters.

    Raises:
        ValueError: a line is not brat's, or is not about this text, as a clause.
    """
    for number, line in enumerate(annotations.split("\n"), start=1):
        if not line.startswith("T"):
            continue  # a relation, an event, an attribute, a note
        match = _SPAN.fullmatch(line.rstrip("\r"))
        if match is None:
            raise ValueError(f"line {number} is not: T1, a tab, a type, a start and an end")
        pieces = [(int(low), int(high)) for low, _, high in map(_parted, match[3].split(";"))]
        if not all(low < high <= len(text) for low, high in pieces):
            raise ValueError(f"{match[1]} ends before it begins, or beyond the text")
        words = " ".join(text[low:high] for low, high in pieces)
        if match[4] is not None and _joined(match[4]) != _joined(words):
            raise ValueError(f"{match[1]} is about {match[4][:40]!r}, but there is {words[:40]!r}")
        yield from ((match[2], span) for span in _whole(pieces, text))


def _parted(piece: str) -> tuple[str, str, str]:
    return piece.partition(" ")


def _joined(words: str) -> str:
    return " ".join(words.split())


def _whole(pieces: list[tuple[int, int]], text: str) -> Iterator[tuple[int, int]]:
    """Yield the pieces of a span, as one where only blanks are between them."""
    begin, end = pieces[0]
    for low, high in pieces[1:]:
        if end <= low and not text[end:low].strip():
            end = high
        else:
            yield begin, end
            begin, end = low, high
    yield begin, end
