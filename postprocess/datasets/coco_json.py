"""Write COCO's JSON: of captions as VizWiz-Captions has it, and of merged boxes and areas.

VizWiz-Captions is COCO's format with four more fields, so programs for either can read it:
`images` and `annotations` with integer ids. Images are numbered by position in the items
file, so that items added at its end change no number; annotations by image, then time.
The requester's own ids are included (`item_id`, `answer_id`).
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from piecework.analyses.areas import Areas, area_within
from piecework.analyses.masks import painted, run_lengths
from piecework.analyses.regions import MOST_MERGED, Extents, Marks, merged_marks
from piecework.domain.dataset import SPLITS, Licence
from piecework.domain.field import Regions
from piecework.postprocess.datasets.coco_objects import CROWD
from piecework.postprocess.datasets.facts import DatasetFacts
from piecework.postprocess.datasets.file_table import ROWS_AT_ONCE, texts

Write = Callable[[BinaryIO], None]
About = Mapping[str, object]

_quoted = json.encoder.encode_basestring
_DECIMALS = 4
_TRUTH = {"yes": "true", "no": "false", "": "null"}


def captions_documents(
    cells: pd.DataFrame,
    reasons: "pd.Series[str]",
    items: pd.DataFrame,
    about: About,
    *,
    licence: Licence | None = None,
) -> dict[str, Write]:
    """Return the writers of the captions, of each split and of `set_aside.json`.

    Every image is listed, with or without captions. `set_aside.json` lists only images
    with annotations in it, and gives the reason for each annotation.

    Args:
        cells: a row per answer, with the columns of `captions.csv`.
        reasons: why an answer is set aside, "" for the captions.
        items: a row per image, in the order of the items file: `item_id`, `file_name`,
            `url`, `width`, `height`, `text_detected`, `difficulty`, `split`.
        about: what the document says about itself.
        licence: the licence of the pictures, if known.
    """
    images = _numbered(items, licence)
    numbers = images["id"].to_numpy()
    annotations, order = _annotations(cells, reasons, items)
    is_kept = annotations["set_aside"].to_numpy() == ""
    kept, aside = order[is_kept[order]], order[~is_kept[order]]
    is_shown = np.isin(numbers, annotations["image_id"].to_numpy()[aside])
    document = partial(
        _Document, about=about, licences=_entries_of(licence), images=images, cells=annotations
    )
    whole = {
        "captions.json": document(rows=kept, fields=_KEPT),
        "set_aside.json": document(images=images[is_shown], rows=aside, fields=_ASIDE),
    }
    of_image, of_row = (table["split"].to_numpy(object) for table in (images, annotations))
    for split in SPLITS:
        whole[f"captions_{split}.json"] = document(
            about={**about, "split": split},
            images=images[of_image == split],
            rows=kept[of_row[kept] == split],
            fields=_KEPT,
        )
    return {name: partial(_write, document) for name, document in whole.items()}


class Drawn(NamedTuple):
    """What COCO needs of the merged marks of an item, without their bitmaps.

    Attributes:
        labels: of each mark.
        boxes: `[x, y, width, height]` of each.
        outlines: of each polygon or mask `segmentation`, as JSON, and its area in pixels.
        size: width and height of the picture that workers saw, if it is known.
    """

    labels: Sequence[str]
    boxes: Sequence[Sequence[float]]
    outlines: Sequence[tuple[str, float]]
    size: tuple[float, float] | None

    @classmethod
    def of(cls, marks: Marks | None) -> "Drawn | None":
        """Return it for marks; `None` without an answer."""
        if marks is None:
            return None
        ends = marks.ends if isinstance(marks, Extents) else _ends_of(marks)
        sides = np.concatenate([ends[:, :, 0], ends[:, :, 1] - ends[:, :, 0]], axis=1)
        boxes = [[round(side, _DECIMALS) for side in box] for box in sides.tolist()]
        outlines = [] if isinstance(marks, Extents) else [*_outlines_of(marks)]
        return cls([*marks.labels], boxes, outlines, marks.size)


class Objects(NamedTuple):
    """The merged boxes, polygons or masks of a field.

    Attributes:
        drawn: of each item, in the order of the items file; `None` without an answer.
        numbers: of the categories, from 1: the page's labels in its order, then others by
            name.
    """

    drawn: Sequence[Drawn | None]
    numbers: Mapping[str, int]

    @classmethod
    def of(cls, merged: "pd.Series[str]", offered: Sequence[str], part: Regions) -> "Objects":
        """Return the marks that cells hold (`piecework.analyses.regions`).

        Args:
            merged: "" without an answer.
            offered: the labels of the page.
            part: the part of an answer that holds them.
        """
        drawn = [Drawn.of(merged_marks(text, part)) for text in merged]
        others = sorted({label for each in drawn if each for label in each.labels} - {*offered})
        return cls(drawn, {label: n for n, label in enumerate((*offered, *others), start=1)})

    def with_sizes(self, items: pd.DataFrame) -> pd.DataFrame:
        """Return items with the sizes of the pictures that workers saw."""
        sizes = [None if each is None else each.size for each in self.drawn]
        columns = {}
        for column, side in (("width", 0), ("height", 1)):
            drawn_on = [pd.NA if size is None else round(size[side]) for size in sizes]
            seen = pd.Series(drawn_on, index=items.index, dtype="Int64")
            columns[column] = seen.fillna(items[column])
        return items.assign(**columns)


def _outlines_of(areas: Areas) -> Iterator[tuple[str, float]]:
    pixels = painted(areas) if areas.colours else None
    for n, area in enumerate(areas.areas, start=1):
        if pixels is None:
            corners = area.corners
            yield json.dumps([corners.ravel().tolist()]), abs(area_within(corners))
        else:
            is_it = pixels == n
            yield json.dumps(run_lengths(is_it)), float(np.count_nonzero(is_it))


def _ends_of(areas: Areas) -> npt.NDArray[np.float64]:
    """Return the low and the high end of areas in both dimensions, in pixels."""
    ends = np.empty((len(areas), 2, 2))
    for n, (top, left, bits, corners) in enumerate(areas.areas):
        if len(corners):
            ends[n] = np.column_stack([corners.min(axis=0), corners.max(axis=0)])
        else:
            rows, columns = np.flatnonzero(bits.any(axis=1)), np.flatnonzero(bits.any(axis=0))
            ends[n, 0] = left + columns[0], left + columns[-1] + 1
            ends[n, 1] = top + rows[0], top + rows[-1] + 1
            ends[n] *= areas.cell
    return ends


def objects_documents(
    objects: Objects,
    name: str,
    items: pd.DataFrame,
    about: About,
    *,
    licence: Licence | None = None,
) -> dict[str, Write]:
    """Return the writers of COCO's file of detections, and of one for each split.

    A box is `[x, y, width, height]` in pixels from the upper left corner of the picture
    that workers saw. A polygon has its corners in `segmentation`, a mask its run lengths. An
    image that several workers see as empty has no annotations; one
    that has no answer is not listed, because a program would train on it as empty. The
    number of an annotation depends on its image alone. `iscrowd` is 1 in a field of crowds.

    Args:
        objects: of each item, in the order of the items file.
        name: the field; the files are `<name>_coco.json`, `<name>_coco_train.json`, ...
        items: a row per image, in the same order: `item_id`, `file_name`, `url`, `width`,
            `height`, `split`.
        about: what the document says about itself.
        licence: the licence of the pictures, if known.
    """
    images = objects.with_sizes(_numbered(items, licence))
    is_answered = np.array([each is not None for each in objects.drawn], dtype="bool")
    rows = [
        (n, place, objects.numbers[label], box)
        for n, each in enumerate(objects.drawn, start=1)
        if each is not None
        for place, (label, box) in enumerate(zip(each.labels, each.boxes, strict=True), start=1)
    ]
    outlines = [outline for each in objects.drawn if each for outline in each.outlines]
    areas = [area for _, area in outlines] or [box[2] * box[3] for *_, box in rows]
    ids = [MOST_MERGED * n + place for n, place, *_ in rows]
    annotations = pd.DataFrame(
        {
            "id": np.array(ids, dtype="int64"),
            "image_id": np.array([n for n, *_ in rows], dtype="int64"),
            "category_id": np.array([number for *_, number, _ in rows], dtype="int64"),
            "bbox": [json.dumps(box) for *_, box in rows],
            "area": [json.dumps(round(area, _DECIMALS)) for area in areas],
            **({"segmentation": [text for text, _ in outlines]} if outlines else {}),
            "iscrowd": np.full(len(rows), int(name.startswith(CROWD)), dtype="int64"),
        }
    )
    of_image = images["split"].to_numpy(object)
    of_row = of_image[annotations["image_id"].to_numpy() - 1]
    document = partial(
        _Document,
        about=about,
        licences=_entries_of(licence),
        cells=annotations,
        fields=tuple(map(str, annotations)),
        image_fields=_PICTURE,
        categories=[{"id": number, "name": label} for label, number in objects.numbers.items()],
    )
    whole = {f"{name}_coco.json": document(images=images[is_answered], rows=np.arange(len(rows)))}
    for split in SPLITS:
        whole[f"{name}_coco_{split}.json"] = document(
            about={**about, "split": split},
            images=images[is_answered & (of_image == split)],
            rows=np.flatnonzero(of_row == split),
        )
    return {file: partial(_write, each) for file, each in whole.items()}


IMAGEFOLDER = "images/metadata.jsonl"


def imagefolder_document(fields: Mapping[str, Objects], items: pd.DataFrame) -> dict[str, Write]:
    """Return the writer of the list that Hugging Face's `imagefolder` reads beside pictures.

    A line for each picture with an answer: `file_name`, `item_id`, `split` and `objects` with
    `bbox` as COCO has it, `category` (the label) and `category_id` (COCO's number). With
    several fields, `objects_<field>`, empty where the field has no answer. Boxes of all items of
    a picture are in its line; if any picture has several items, `item_id` of each box is there.

    Args:
        fields: the boxes of each field.
        items: a row per image, in the order of the items file.
    """
    return {IMAGEFOLDER: partial(_write_imagefolder, fields, items)}


def _write_imagefolder(fields: Mapping[str, Objects], items: pd.DataFrame, file: BinaryIO) -> None:
    columns = ("file_name", "item_id", "split")
    cells = [*zip(*(items[name].tolist() for name in columns), strict=True)]
    answered: dict[str, list[int]] = {}
    for place, (picture, *_) in enumerate(cells):
        if any(boxes.drawn[place] is not None for boxes in fields.values()):
            answered.setdefault(picture, []).append(place)
    are_shared = any(len(places) > 1 for places in answered.values())
    for places in answered.values():
        line: dict[str, object] = dict(zip(columns, cells[places[0]], strict=True))
        for name, boxes in fields.items():
            drawn = [
                (cells[place][1], label, box)
                for place in places
                if (each := boxes.drawn[place]) is not None
                for label, box in zip(each.labels, each.boxes, strict=True)
            ]
            line["objects" if len(fields) == 1 else f"objects_{name}"] = {
                "bbox": [box for *_, box in drawn],
                "category": [label for _, label, _ in drawn],
                "category_id": [boxes.numbers[label] for _, label, _ in drawn],
                **({"item_id": [item_id for item_id, *_ in drawn]} if are_shared else {}),
            }
        file.write(f"{json.dumps(line, ensure_ascii=False)}\n".encode())


def about(table: pd.DataFrame, facts: DatasetFacts) -> About:
    """Return the information that every document of a dataset contains about itself."""
    last, publication = table["submitted_at"].max(), facts.publication
    return {
        "description": " ".join(filter(None, (facts.warning, facts.purpose))),
        "url": publication.homepage,
        "version": publication.version,
        "contributor": publication.contact,
        "license": publication.licence.spdx if publication.licence else "",
        "year": None if pd.isna(last) else last.year,
        "date_created": None if pd.isna(last) else last.date().isoformat(),
        "campaign": facts.campaign,
        "campaign_file_sha256": facts.source_hash,
        "is_rehearsal": facts.is_rehearsal,
        "code_commit": facts.code_commit,
    }


def _annotations(
    cells: pd.DataFrame, reasons: "pd.Series[str]", items: pd.DataFrame
) -> tuple[pd.DataFrame, npt.NDArray[np.intp]]:
    """Return the cells with `image_id`, `id` and `set_aside`, sorted by id."""
    numbers = pd.Series(np.arange(1, len(items) + 1), index=items["item_id"])
    rows = cells.assign(image_id=cells["item_id"].map(numbers).astype("int64"), set_aside=reasons)
    by = ["image_id", "submitted_at", "answer_id"]
    sorted_rows = rows[by].reset_index(drop=True).sort_values(by, kind="stable")
    order = sorted_rows.index.to_numpy()
    ids = np.empty(len(rows), dtype="int64")
    ids[order] = np.arange(1, len(rows) + 1)
    return rows.assign(id=ids), order


_LICENCE = 1
"""The id of the only licence in a document, that of the pictures."""


def _entries_of(licence: Licence | None) -> list[About]:
    return [{"id": _LICENCE, "name": licence.spdx, "url": licence.url}] if licence else []


def _numbered(items: pd.DataFrame, licence: Licence | None) -> pd.DataFrame:
    """Return the images with `id` and `license`."""
    number = _LICENCE if licence else pd.NA
    return items.assign(
        id=np.arange(1, len(items) + 1),
        license=pd.Series(number, index=items.index, dtype="Int64"),
    )


_PICTURE = ("id", "item_id", "file_name", "url", "width", "height", "license", "split")
_IMAGE = (*_PICTURE[:-1], "text_detected", "difficulty", "split")
_IN_JSON = frozenset({"bbox", "area", "segmentation"})
"""Columns whose cells are JSON already."""


class _Document(NamedTuple):
    about: About
    licences: Sequence[About]
    images: pd.DataFrame
    cells: pd.DataFrame
    """The annotations of all documents, shared to avoid copies of the table."""
    rows: npt.NDArray[np.intp]
    """The positions of this document's annotations, in order."""
    fields: Sequence[str]
    image_fields: Sequence[str] = _IMAGE
    categories: Sequence[About] | None = None


_KEPT = (
    "id", "image_id", "caption", "is_precanned", "is_rejected", "text_detected",
    "answer_id",
)  # fmt: skip
_ASIDE = (*_KEPT, "set_aside")


def _write(document: _Document, file: BinaryIO) -> None:
    """Write the bytes of `json.dumps(..., ensure_ascii=False, indent=1)` in batches.

    The standard encoder would need all entries as dicts at once, and with `indent` it
    runs in pure Python, ten times slower.
    """
    file.write(b'{\n "info": ' + _indented(document.about))
    file.write(b',\n "licenses": ' + _indented(document.licences))
    images = np.arange(len(document.images))
    if document.categories is not None:
        file.write(b',\n "categories": ' + _indented(document.categories))
    _write_list(file, "images", document.images, images, document.image_fields)
    _write_list(file, "annotations", document.cells, document.rows, document.fields)
    file.write(b"\n}\n")


def _indented(value: object) -> bytes:
    words = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1)
    return words.replace("\n", "\n ").encode()


def _write_list(
    file: BinaryIO,
    name: str,
    cells: pd.DataFrame,
    rows: npt.NDArray[np.intp],
    fields: Sequence[str],
) -> None:
    file.write(f',\n "{name}": ['.encode())
    separator = "\n"
    for start in range(0, len(rows), ROWS_AT_ONCE):
        batch = cells.iloc[rows[start : start + ROWS_AT_ONCE]]
        file.write((separator + ",\n".join(_entries(batch, fields))).encode())
        separator = ",\n"
    file.write(b"\n ]" if len(rows) else b"]")


def _entries(rows: pd.DataFrame, fields: Sequence[str]) -> Iterator[str]:
    inside = ",\n".join(f'   "{name}": %s' for name in fields)
    entry = f"  {{\n{inside}\n  }}"
    columns = [_encoded(rows, name) for name in fields]
    return (entry % values for values in zip(*columns, strict=True))


def _encoded(rows: pd.DataFrame, name: str) -> Iterable[str]:
    column: pd.Series[Any] = rows[name]
    if name in _IN_JSON:
        return texts(column)
    if name == "text_detected":
        return map(_TRUTH.__getitem__, texts(column))
    if column.dtype == "bool":
        return ("true" if cell else "false" for cell in column.tolist())
    if column.dtype == "int64":
        return map(str, column.tolist())
    if column.dtype == "Int64":
        return ("null" if cell is pd.NA else str(cell) for cell in column.tolist())
    return map(_quoted, texts(column))
