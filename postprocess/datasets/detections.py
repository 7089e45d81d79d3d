"""Read people's objects in COCO's JSON, and what detectors found in the same images.

These files may come from anyone, so everything is checked before the library of `scoring`
sees it: its C code trusts run lengths.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from piecework.analyses.detections import Seen
from piecework.analyses.masks import MOST_PIXELS
from piecework.domain.errors import ConfigError
from piecework.postprocess.datasets.coco_objects import (
    Document,
    Mark,
    Size,
    entries,
    is_id,
    is_objects,
    labels_of,
    mark_of,
    named,
    size_of,
)
from piecework.postprocess.datasets.reading import LARGEST_BYTES
from piecework.postprocess.datasets.reading_faults import (
    UnreadableError,
    as_config_error,
    decoded,
    parsed_json,
)

_SHAPE = '[{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.9}, ...]'
_FILES = "*_coco.json"
_LARGEST_SCORE = 1e300
_LONGEST_EDGES = 10_000_000
"""Pixels along the edges of one object."""


@dataclass(frozen=True, kw_only=True)
class PeoplesObjects:
    """The objects of a dataset.

    Attributes:
        path: the file.
        labels: names of the categories by their ids, in the file's order.
        categories: places of the categories, from 0, by their ids.
        sizes: of each image, by its place; `None` if it is not known.
        places: of the images, from 0, by their ids, and by `item_id` and `file_name` that one
            image has.
        shared_names: those that several images have.
        objects: all of them.
        have_outlines: whether each has an outline.
    """

    path: Path
    labels: Mapping[object, str]
    categories: Mapping[object, int]
    sizes: Sequence[Size | None]
    places: Mapping[object, int]
    shared_names: AbstractSet[object]
    objects: Sequence[Seen]
    have_outlines: bool


@dataclass(frozen=True, kw_only=True)
class Detections:
    """What a detector found.

    Attributes:
        listed: in the images of the dataset.
        left_out: how many are in other images.
        have_outlines: whether each has an outline.
    """

    listed: Sequence[Seen]
    left_out: int
    have_outlines: bool


def read_results(paths: Sequence[Path]) -> dict[str, list[object]] | None:
    """Return the entries of files of detections by the file's name; `None` for captions.

    Raises:
        ConfigError: a file cannot be read, or is no JSON.
    """
    results: dict[str, list[object]] = {}
    for path in paths:
        if path.suffix.lower() != ".json":
            return None
        with as_config_error(path):
            document = _json(path)
            listed = document if isinstance(document, list) else []
            if listed and not _is_detection(listed[0]):
                return None
            if path.stem in results:
                raise UnreadableError(
                    f"the system {path.stem!r} was read from another file already; "
                    "give the systems different names"
                )
            results[path.stem] = listed
    return results if any(results.values()) else None


def _is_detection(entry: object) -> bool:
    return isinstance(entry, dict) and ("bbox" in entry or "segmentation" in entry)


def read_objects(dataset: Path) -> PeoplesObjects:
    """Read the objects of a dataset.

    Args:
        dataset: a COCO file of objects, or the folder of a dataset that has one.

    Raises:
        ConfigError: the file is missing or cannot be read; the message names the annotation.
    """
    path = _file_of(dataset)
    with as_config_error(path):
        document = _json(path)
        if not isinstance(document, dict) or not is_objects(document):
            raise UnreadableError("is no COCO file of objects: images, annotations, categories")
        try:
            return _objects(path, document)
        except ValueError as fault:
            raise UnreadableError(str(fault)) from fault


def _file_of(dataset: Path) -> Path:
    if not dataset.is_dir():
        return dataset
    files = sorted(dataset.glob(_FILES))
    if len(files) == 1:
        return files[0]
    named_here = ", ".join(file.name for file in files) or "none"
    raise ConfigError(
        [f"{dataset}: detectors are scored against one file of objects; it has {named_here}"],
        next_step=f"name the file: --against {files[0] if files else 'FILE.json'}",
    )


def _objects(path: Path, document: Document) -> PeoplesObjects:
    labels, images = labels_of(document), named(document, "images")
    by_number = {number: place for place, number in enumerate(images)}
    named_so: dict[object, set[int]] = defaultdict(set)
    for position, image in enumerate(images.values()):
        for name in ("file_name", "item_id"):
            if isinstance(image.get(name), str):
                named_so[image[name]].add(position)
    by_name = {name: place for name, (place, *others) in named_so.items() if not others}
    people = PeoplesObjects(
        path=path,
        labels=labels,
        categories={number: place for place, number in enumerate(labels)},
        sizes=[*map(size_of, images.values())],
        places={**by_name, **by_number},
        shared_names=named_so.keys() - by_name.keys() - by_number.keys(),
        objects=[],
        have_outlines=False,
    )
    objects = list[Seen]()
    for annotation in entries(document, "annotations"):
        try:
            place = _place(annotation, by_number)
            if place is None:
                number = annotation.get("image_id")
                raise ValueError(f"image_id {number!r} is not among the images")  # noqa: TRY301
            objects.append(_seen(annotation, place, people))
        except ValueError as fault:
            raise ValueError(f"annotation {annotation.get('id')!r}: {fault}") from fault
    if all(seen.is_crowd for seen in objects):
        raise ValueError("holds no object that a detector could find")
    have_outlines = all(seen.outline is not None for seen in objects)
    return replace(people, objects=objects, have_outlines=have_outlines)


def _place(entry: Document, places: Mapping[object, int]) -> int | None:
    """Return the place of an entry's image; `None` if the dataset does not list it.

    Raises:
        ValueError: it names none, as a clause.
    """
    number = entry.get("image_id")
    if not is_id(number):
        raise ValueError("no 'image_id' (a number or a text)")
    return places.get(number)


def detections_of(entries_of: Sequence[object], path: str, people: PeoplesObjects) -> Detections:
    """Return the detections of one system.

    Args:
        entries_of: the entries of its file.
        path: the name of the system, for faults.
        people: the dataset. An image may also be named by its `item_id` or `file_name`.

    Raises:
        ConfigError: an entry is no detection; with its place, from 0.
    """
    detections, left_out, faults = list[Seen](), 0, list[str]()
    for number, entry in enumerate(entries_of):
        if not isinstance(entry, dict):
            faults.append(f"entry {number}: is no detection; COCO results are {_SHAPE}")
            continue
        try:
            place = _place(entry, people.places)
            if place is None and entry["image_id"] in people.shared_names:
                name = entry["image_id"]
                raise ValueError(f"image_id {name!r} is the name of several images")  # noqa: TRY301
            if place is None:
                left_out += 1
                continue
            seen = _seen({**entry, "iscrowd": 0}, place, people)
            detections.append(seen._replace(score=_score(entry)))
        except ValueError as fault:
            faults.append(f"entry {number}: {fault}")
    with as_config_error(Path(path)):
        if faults:
            raise UnreadableError(*faults)
        if not detections and left_out:
            raise UnreadableError(f"none of its images is among those of {people.path}")
    return Detections(
        listed=detections,
        left_out=left_out,
        have_outlines=all(seen.outline is not None for seen in detections),
    )


def _score(entry: Document) -> float:
    score = entry.get("score")
    is_number = isinstance(score, int | float) and not isinstance(score, bool)
    if not is_number or not abs(float(str(score))) < _LARGEST_SCORE:
        raise ValueError("no number 'score'")
    return float(str(score))


def _seen(entry: Document, place: int, people: PeoplesObjects) -> Seen:
    size = people.sizes[place]
    mark = mark_of(entry, people.labels, size)
    outline, shape = _outline(mark, size)
    return Seen(
        image=place,
        category=people.categories[entry["category_id"]],
        box=_box(mark),
        outline=outline,
        shape=shape,
        is_crowd=mark.is_crowd,
    )


def _outline(mark: Mark, size: Size | None) -> tuple[object, tuple[int, int]]:
    if mark.runs is not None:
        runs, shape = mark.runs
        return {"size": [*shape], "counts": runs.tolist()}, shape
    if not mark.parts:
        return None, (1, 1)
    if size is None:
        raise ValueError("its image has no width and height, which a segmentation needs")
    if size[0] * size[1] > MOST_PIXELS:
        raise ValueError(f"its image has more than {MOST_PIXELS:,} pixels")
    # The library takes memory for each pixel of an edge.
    steps = [np.abs(np.diff(part, axis=0, append=part[:1])).max(axis=1) for part in mark.parts]
    if sum(float(each.sum()) for each in steps) > _LONGEST_EDGES:
        raise ValueError("its segmentation reaches far beyond the image")
    return [part.ravel().tolist() for part in mark.parts], (round(size[1]), round(size[0]))


def _box(mark: Mark) -> Sequence[float] | None:
    if mark.box is not None or not mark.parts:
        return mark.box
    corners = np.concatenate([*mark.parts])
    low, high = corners.min(axis=0), corners.max(axis=0)
    return [*low.tolist(), *(high - low).tolist()]


def _json(path: Path) -> object:
    try:
        size = path.stat().st_size
        if size > LARGEST_BYTES:
            raise UnreadableError(f"has {size:,} bytes; at most {LARGEST_BYTES:,} are read")
        content = path.read_bytes()
    except OSError as fault:
        raise ConfigError([f"{path}: cannot be read ({fault.strerror})"]) from fault
    return parsed_json(decoded(content))
