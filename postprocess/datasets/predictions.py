"""Captions that systems made, read from COCO results or from a table.

These files may come from anyone, so everything is checked before anything is computed.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

from piecework.domain.errors import ConfigError
from piecework.postprocess.datasets.image_columns import ImageIds
from piecework.postprocess.datasets.reading import LARGEST_BYTES, LONGEST_CHARACTERS
from piecework.postprocess.datasets.reading_faults import (
    UnreadableError,
    as_config_error,
    csv_cells_of_any_length,
    decoded,
    parsed_json,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What a system said about an image.

    Attributes:
        text: the caption.
        file: where it was read.
        place: where it is in the file, such as "entry 3" or "line 4".
        key: what the file calls the image's id, one of `image_id` and `item_id`.
    """

    text: str
    file: Path
    place: str
    key: str


Predictions = Mapping[str, Prediction]
"""By image id."""

_IDS = ("image_id", "item_id")
_SHAPE = '[{"image_id": 1, "caption": "a red cup"}, ...]'


def read_predictions(paths: Sequence[Path]) -> dict[str, Predictions]:
    """The captions of every system, by the system's name.

    Args:
        paths: `.json` in COCO's results format, named after the file; or `.csv` with
            columns `image_id` or `item_id`, `caption` and, for several systems in one
            file, `system`.

    Raises:
        ConfigError: a file cannot be read or used; with each fault and its place.
    """
    systems: dict[str, Predictions] = {}
    for path in paths:
        with as_config_error(path):
            read = _read(path)
            if twice := systems.keys() & read.keys():
                raise UnreadableError(
                    f"the system {min(twice)!r} was read from another file already; "
                    "give the systems different names"
                )
            systems |= read
    return systems


def with_ids_of(
    images: AbstractSet[str], systems: Mapping[str, Predictions], ids: ImageIds
) -> dict[str, Predictions]:
    """Give the images of systems that used the other ids the dataset's own.

    `image_id` is COCO's number and `item_id` the requester's id, if both are known. But COCO's
    results have no other name than `image_id`, so item ids under it are read as such.

    Args:
        images: the dataset's own ids.
        systems: predictions by system.
        ids: both ids of its images.

    Raises:
        ConfigError: ids may be numbers or item ids, and would then mean different images.
    """
    numbers, items = ids.item_of, {item: number for number, item in ids.item_of.items()}
    if not (images <= numbers.keys() or images <= items.keys()):
        return {**systems}  # the list is of other images
    is_numbered = images <= numbers.keys() and (ids.is_numbered or not images <= items.keys())
    own, others = (numbers, items) if is_numbered else (items, numbers)
    doubted: list[str] = []
    known: dict[str, Predictions] = {}
    for system, captions in systems.items():
        has_own_name = is_numbered == (_key(captions) == "image_id")
        fits_own, fits_others = captions.keys() <= own.keys(), captions.keys() <= others.keys()
        has_only_own = bool((captions.keys() - others.keys()) & own.keys())
        if has_only_own or (has_own_name and (fits_own or not fits_others)):
            known[system] = captions
            continue
        known[system] = {others.get(image, image): made for image, made in captions.items()}
        if fits_own and not is_numbered:
            doubted += [
                f"{made.file}: system {system!r}: image_id {image!r} may be a number or an item "
                f"id; the number {image} is of the item {others[image]!r}"
                for image, made in captions.items()
                if others[image] != image
            ][:1]
    if doubted:
        raise ConfigError(
            doubted,
            next_step=f"for numbers, score against {ids.path}; for item ids, write a CSV file "
            "with the columns item_id and caption",
        )
    return known


def _key(captions: Predictions) -> str:
    return next(iter(captions.values())).key


def _read(path: Path) -> dict[str, Predictions]:
    content = _content(path)
    if path.suffix.lower() == ".json":
        rows = _json_rows(content, path.stem)
    elif path.suffix.lower() == ".csv":
        rows = _csv_rows(content, path.stem)
    else:
        raise UnreadableError("predictions are read from .json (COCO results) and .csv files")
    systems: dict[str, dict[str, Prediction]] = {}
    faults = []
    for place, system, (key, image), caption in rows:
        captions = systems.setdefault(system, {})
        if image in captions:
            faults.append(f"{place}: image {image!r} has a caption of {system!r} already")
        captions[image] = Prediction(
            text=caption[:LONGEST_CHARACTERS], file=path, place=place, key=key
        )
    if faults:
        raise UnreadableError(*faults)
    if not systems:
        raise UnreadableError("the file holds no captions")
    return dict(systems)


def _content(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > LARGEST_BYTES:
            raise UnreadableError(
                f"the file has {size:,} bytes; at most {LARGEST_BYTES:,} are read"
            )
        content = path.read_bytes()
    except OSError as fault:
        raise ConfigError([f"{path}: cannot be read ({fault.strerror})"]) from fault
    if not content.strip():
        raise UnreadableError("the file is empty")
    return content


_Row = tuple[str, str, tuple[str, str], str]
"""The place, the system, the name and value of the image's id, and the caption."""


def _json_rows(content: bytes, system: str) -> Iterator[_Row]:
    document = parsed_json(decoded(content))
    if not isinstance(document, list):
        raise UnreadableError(f"not a list of captions; COCO results are {_SHAPE}")
    faults = [
        f"entry {number}: {wrong}"
        for number, entry in enumerate(document)
        if (wrong := _entry_fault(entry))
    ]
    if faults:
        raise UnreadableError(*faults)
    for number, entry in enumerate(document):
        image = ("image_id", str(entry["image_id"]))
        yield f"entry {number}", system, image, entry["caption"]


def _entry_fault(entry: object) -> str:
    image = entry.get("image_id") if isinstance(entry, dict) else None
    if isinstance(image, bool) or not isinstance(image, int | str) or image == "":
        return "no 'image_id' (a number or a text)"
    if not isinstance(entry, dict) or not isinstance(entry.get("caption"), str):
        return "no text 'caption'"
    return ""


def _csv_rows(content: bytes, system: str) -> Iterator[_Row]:
    text = decoded(content)
    with csv_cells_of_any_length(text):
        yield from _table_rows(text, system)


def _table_rows(text: str, system: str) -> Iterator[_Row]:
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        header = list(reader.fieldnames or ())
        names = ", ".join(map(repr, header[:12])) or "none"
        key = next((name for name in _IDS if name in header), None)
        if key is None or "caption" not in header:
            raise UnreadableError(
                "predictions need the columns 'image_id' (or 'item_id') and "
                f"'caption'; the columns are {names}"
            )
        for row in reader:
            place = f"line {reader.line_num}"
            if None in row or None in row.values() or not row[key]:
                raise UnreadableError(
                    f"{place}: no image id, or not as many cells as the header has"
                )
            yield place, row.get("system") or system, (key, row[key]), row["caption"]
    except csv.Error as fault:
        raise UnreadableError(f"line {reader.line_num}: not CSV ({fault})") from fault
