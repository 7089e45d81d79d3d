"""Read captions from CSV, Parquet and plain lines."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq

from piecework.analyses.corpus.captions import Caption, Corpus
from piecework.postprocess.datasets.csv_file import plain
from piecework.postprocess.datasets.read_published import from_rows, has_header
from piecework.postprocess.datasets.reading_faults import (
    UnreadableError,
    csv_cells_of_any_length,
    decoded,
)

_IDS = ("item_id", "image_id")
_TRUTHS = ("is_precanned", "is_rejected", "text_detected")
_WANTED = (*_IDS, "file_name", "caption", *_TRUTHS, "is_surplus", "set_aside")
_TRUE = frozenset({"1", "true", "yes"})
_FALSE = frozenset({"", "0", "false", "no"})
_FLICKR = re.compile(r"([^\t#]+)#\w+\t(.*)")

Row = Mapping[str, str]


def from_csv(content: bytes) -> Corpus:
    """Read a CSV table with a header, removing apostrophes against formulas.

    Raises:
        UnreadableError: it is not such a table, or has unusable rows.
    """
    # A cell may be as long as the file: huge captions are cut later.
    text = decoded(content)
    with csv_cells_of_any_length(text):
        return _csv_corpus(text)


def _csv_corpus(text: str) -> Corpus:
    if not _is_known(text) and has_header(text):
        return from_rows(text)
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        header = list(reader.fieldnames or ())
        is_ours = _check_columns(header)
        rows = [(f"line {reader.line_num}", _csv_row(row, is_ours=is_ours)) for row in reader]
    except csv.Error as fault:
        place = f"line {reader.line_num}"
        raise UnreadableError(f"{place}: not CSV ({fault})") from fault
    return _corpus(rows, is_ours=is_ours, holds_canned="is_precanned" in header)


def from_parquet(content: bytes) -> Corpus:
    """Read a Parquet table with the same columns.

    Raises:
        UnreadableError: it is not such a table, or has unusable rows.
    """
    try:
        file = pq.ParquetFile(io.BytesIO(content))
        header = list(file.schema_arrow.names)
        is_ours = _check_columns(header)
        columns = [name for name in _WANTED if name in header]
        values = file.read(columns=columns).to_pylist()
    except pa.ArrowException as fault:
        first = str(fault).splitlines()[0]
        raise UnreadableError(f"not a Parquet file ({first})") from fault
    rows = [
        (f"row {number}", {name: _word(value) for name, value in row.items()})
        for number, row in enumerate(values, start=1)
    ]
    corpus = _corpus(rows, is_ours=is_ours, holds_canned="is_precanned" in header)
    warning = (file.schema_arrow.metadata or {}).get(b"warning", b"")
    return replace(corpus, remarks=[warning.decode(errors="replace")] * bool(warning))


def from_lines(content: bytes) -> Corpus:
    """Read a caption per line; `image#number<TAB>caption` also names the image.

    A first line such as `image,caption` makes it a table.

    Raises:
        UnreadableError: it is not UTF-8, or a table with unusable rows.
    """
    text = decoded(content)
    if has_header(text):
        with csv_cells_of_any_length(text):
            return from_rows(text)
    captions = [Caption(image=image, text=line) for image, line in _lines(text)]
    return Corpus(source="", captions=captions, holds_canned=False, images=_images(captions))


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        match = _FLICKR.fullmatch(line.strip())
        if match:
            yield match[1], match[2]
        elif line.strip():
            yield f"line {number}", line.strip()


def _is_known(text: str) -> bool:
    """Return whether the first line has the columns that piecework writes."""
    first = next(csv.reader(io.StringIO(text, newline="")), [])
    return "caption" in first and any(name in first for name in _IDS)


def _check_columns(header: Sequence[str]) -> bool:
    """Return whether piecework wrote the table.

    Raises:
        UnreadableError: required columns are missing.
    """
    names = ", ".join(map(repr, header[:12])) or "none"
    faults = [f"no column 'caption' (found: {names})"] if "caption" not in header else []
    if not any(name in header for name in _IDS):
        faults.append(f"no column 'item_id' or 'image_id' (found: {names})")
    if faults:
        raise UnreadableError(*faults)
    return "item_id" in header and "answer_id" in header


def _csv_row(row: Mapping[str, str | None], *, is_ours: bool) -> Row:
    cells = {name: row.get(name) for name in _WANTED if name in row}
    # DictReader uses None for missing cells, and the key None for extra ones.
    if None in row or None in cells.values():
        return {}
    known = {name: cell or "" for name, cell in cells.items()}
    return {name: plain(cell) for name, cell in known.items()} if is_ours else known


def _word(value: object) -> str:
    return "" if value is None else str(value)


def _corpus(rows: Iterable[tuple[str, Row]], *, is_ours: bool, holds_canned: bool) -> Corpus:
    faults: list[str] = []
    captions = []
    files = {}
    for place, row in rows:
        wrong = _row_faults(row)
        faults += [f"{place}: {fault}" for fault in wrong]
        is_open = row.get("set_aside") == "undecided"
        if not (wrong or is_open or row.get("is_surplus", "").lower() in _TRUE):
            captions.append(_caption(row))
            if name := row.get("file_name"):
                files[_id(row)] = name
    if faults:
        raise UnreadableError(*faults)
    return Corpus(
        source="",
        captions=captions,
        # For piecework's own tables, set_aside.* completes the list of images.
        images=() if is_ours else _images(captions),
        files=files,
        holds_canned=holds_canned and not is_ours,
    )


def _row_faults(row: Row) -> list[str]:
    if not row:
        return ["the number of cells differs from the header"]
    faults = [
        f"{name} is {row[name][:40]!r}; allowed are 0, 1, true, false, yes, no"
        for name in _TRUTHS
        if row.get(name, "").lower() not in _TRUE | _FALSE
    ]
    return faults if _id(row) else ["the image id is missing", *faults]


def _caption(row: Row) -> Caption:
    shows_text = row.get("text_detected", "").lower()
    return Caption(
        image=_id(row),
        text=row["caption"],
        is_canned=row.get("is_precanned", "").lower() in _TRUE,
        is_rejected=row.get("is_rejected", "").lower() in _TRUE,
        shows_text="" if not shows_text else "yes" if shows_text in _TRUE else "no",
    )


def _id(row: Row) -> str:
    return row.get("item_id") or row.get("image_id") or ""


def _images(captions: Iterable[Caption]) -> list[str]:
    return [*dict.fromkeys(caption.image for caption in captions)]
