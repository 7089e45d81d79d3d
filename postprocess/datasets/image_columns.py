"""Read one more column of a dataset's images: a split, a place, a question.

Tables identify images by the requester's `item_id`, JSON files by COCO's numbers. A
system may have used either, and may have described one split only.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from piecework.analyses.regions import marks_in
from piecework.domain.errors import ConfigError
from piecework.postprocess.datasets.file_table import plain
from piecework.postprocess.datasets.reading import LARGEST_BYTES, captions_file_of
from piecework.postprocess.datasets.reading_faults import (
    UnreadableError,
    as_config_error,
    csv_cells_of_any_length,
    decoded,
    parsed_json,
)

_IDS = ("item_id", "image_id", "id")
_FILES = ("items.csv", "captions.csv", "items.parquet", "captions.parquet")


def read_image_column(path: Path, name: str) -> dict[str, str]:
    """Return the column's value of each image, "" where it is empty.

    Args:
        path: a `.csv` or `.parquet` table with an image id, a `.json` with `images`, or
            the folder of a piecework dataset.
        name: the column, or the key of an image.

    Raises:
        ConfigError: no file has the column, or a file cannot be read.
    """
    files = [path / file for file in _FILES] if path.is_dir() else [path]
    present = [file for file in files if file.is_file()]
    for file in present:
        values = _values(file, name)
        if values is not None:
            return values
    places = ", ".join(map(str, present or files))
    raise ConfigError([f"no column {name!r} with an image id in {places}"])


def _values(path: Path, name: str) -> dict[str, str] | None:
    with as_config_error(path):
        rows = _rows(path, name)
        if rows is None:
            return None
        return {image: _word(value) for image, value in rows if image not in {"", "None"}}


def _rows(path: Path, name: str) -> Iterator[tuple[str, object]] | None:
    size = path.stat().st_size
    if size > LARGEST_BYTES:
        raise UnreadableError(f"{size:,} bytes; at most {LARGEST_BYTES:,} are read")
    kind = path.suffix.lower()
    if kind == ".csv":
        return _of_csv(decoded(path.read_bytes()), name)
    if kind == ".parquet":
        return _of_parquet(path, name)
    if kind == ".json":
        return _of_json(decoded(path.read_bytes()), name)
    return None


def _of_csv(text: str, name: str) -> Iterator[tuple[str, object]] | None:
    with csv_cells_of_any_length(text):
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        key = _key(reader.fieldnames or (), name)
        if key is None:
            return None
        return iter([(row[key] or "", row[name]) for row in reader])


def _of_parquet(path: Path, name: str) -> Iterator[tuple[str, object]] | None:
    try:
        file = pq.ParquetFile(path)
        key = _key(file.schema_arrow.names, name)
        if key is None:
            return None
        table = file.read(columns=[key, name])
    except pa.ArrowException as fault:
        first = str(fault).splitlines()[0]
        raise UnreadableError(f"not a Parquet file ({first})") from fault
    pairs = zip(table[key].to_pylist(), table[name].to_pylist(), strict=True)
    return ((str(image), value) for image, value in pairs)


def _of_json(text: str, name: str) -> Iterator[tuple[str, object]] | None:
    document = parsed_json(text)
    images = document.get("images") if isinstance(document, Mapping) else None
    listed = images if isinstance(images, list) else []
    entries = [entry for entry in listed if isinstance(entry, dict) and "id" in entry]
    if not any(name in entry for entry in entries):
        return None
    return ((str(entry["id"]), entry.get(name)) for entry in entries)


def _key(header: Sequence[str], name: str) -> str | None:
    if name not in header:
        return None
    return next((key for key in _IDS if key in header and key != name), None)


def _word(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return plain(value) if isinstance(value, str) else str(value)


_LIST = "captions.json"


@dataclass(frozen=True, kw_only=True)
class ImageIds:
    """Both ids of a dataset's images, and the files with some of its images.

    Attributes:
        item_of: item id by COCO's number.
        is_numbered: whether the dataset's file is JSON, which has the numbers.
        path: the file with the list of both.
        files: the ids of the images, of both kinds, by the path of the dataset's folder
            and of each of its splits.
    """

    item_of: Mapping[str, str] = field(default_factory=dict)
    is_numbered: bool = False
    path: Path = Path()
    files: Mapping[Path, frozenset[str]] = field(default_factory=dict)


def read_image_ids(dataset: Path) -> ImageIds:
    """Read them from the list of images in a dataset's folder.

    Args:
        dataset: the folder, or a file in it. Without a readable list the result is
            empty.
    """
    folder = dataset if dataset.is_dir() else dataset.parent
    path = folder / _LIST
    if not path.is_file():
        return ImageIds()
    item_of = _column(path, "item_id")
    split_of = _column(path, "split")
    files = {folder: _both(item_of, item_of)}
    for split in sorted({*split_of.values()} - {""}):
        part = folder / f"captions_{split}.json"
        if part.is_file():
            numbers = (number for number, name in split_of.items() if name == split)
            files[part] = _both(numbers, item_of)
    return ImageIds(
        item_of={number: item for number, item in item_of.items() if item},
        is_numbered=captions_file_of(dataset).suffix.lower() == ".json",
        path=path,
        files=files,
    )


def _column(path: Path, name: str) -> Mapping[str, str]:
    try:
        return read_image_column(path, name)
    except ConfigError:  # A list of another program; its images have one id.
        return {}


def _both(numbers: Iterable[str], item_of: Mapping[str, str]) -> frozenset[str]:
    listed = [*numbers]
    return frozenset([*listed, *(item_of.get(number, number) for number in listed)])


_TABLES = ("answers.parquet", "answers.csv")
_LOOKED_AT = 50
"""Cells that show whether a column holds marks."""


def read_marks_of(path: Path) -> pd.DataFrame | None:
    """Return `item_id`, `marks` (JSON) and, if it is there, `worker` of a dataset of marks.

    `None`: it is no dataset of answers of piecework's, perhaps another table of that name, or
    no column holds marks.

    Args:
        path: the dataset's folder, or its table of answers.
    """
    files = [path / name for name in _TABLES] if path.is_dir() else [path]
    file = next((file for file in files if file.name in _TABLES and file.is_file()), None)
    if file is None:
        return None
    try:
        table = _read(file)
    except (OSError, ValueError, csv.Error, pa.ArrowException):
        return None  # the reader of any table says what is wrong
    column = next((name for name in table if _holds_marks(table[name])), None)
    if column is None or "item_id" not in table:
        return None
    names = ["item_id", column, *(["worker"] if "worker" in table else [])]
    return table[names].fillna("").rename(columns={column: "marks"})


def _read(file: Path) -> pd.DataFrame:
    if file.suffix == ".parquet":
        table: pd.DataFrame = pq.read_table(file).to_pandas()
        return table
    return pd.read_csv(file, dtype=str, keep_default_na=False, encoding="utf-8-sig")


def _holds_marks(cells: "pd.Series[Any]") -> bool:
    """Return whether most of the first cells with any text are JSON of marks."""
    first = [cell for cell in cells if isinstance(cell, str) and cell.strip()][:_LOOKED_AT]
    return 2 * sum(marks_in(cell) is not None for cell in first) > len(first)
