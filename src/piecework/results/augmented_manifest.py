"""Augmented manifests of a release: the output of SageMaker Ground Truth.

A line per item with its picture (`source-ref`) or text (`source`), for each label the number
of its class, for each field of boxes the boxes with the numbers of their classes, and
`NAME-metadata` for each of both.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlsplit

from piecework.analyses.regions import Extents, merged_extents
from piecework.config.user_files import with_secrets
from piecework.domain.campaign import Campaign
from piecework.domain.column_names import AGREEMENT, LIKELIEST, MERGED, PROBABILITY, SETTLED, SHARE
from piecework.domain.field import Field
from piecework.domain.pictures import PictureLocation
from piecework.hit_templates.own_html.page import labels_offered


def augmented_manifest(campaign: Campaign, rows: list[dict[str, Any]], released_at: str) -> bytes:
    """Return the manifest of the labelled items of a release.

    Args:
        campaign: the campaign.
        rows: the release's table of items, complete.
        released_at: when it was released, as its own manifest says.
    """
    lines = _lines(campaign, rows, released_at)
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines).encode()


def _lines(
    campaign: Campaign, rows: list[dict[str, Any]], released_at: str
) -> Iterator[dict[str, Any]]:
    task = campaign.task
    drawn = [
        (field, *_drawn(field, labels_offered(task, field), rows))
        for field in task.item_fields
        if any((each.field, each.kind) == (field.name, "boxes") for each in task.aggregates)
    ]
    for n, row in enumerate(rows):
        line: dict[str, Any] = {}
        for field in task.label_fields:
            line |= _label_of_row(field, row, campaign.name, released_at)
        for field, classes, marks in drawn:
            line |= _boxes_of_row(field, classes, marks[n], row, campaign.name, released_at)
        if line:
            yield {**_source(campaign, row), "item-id": row["item_id"], **line}


def _drawn(
    field: Field, offered: Sequence[str], rows: list[dict[str, Any]]
) -> tuple[list[str], list[Extents | None]]:
    """Return the classes of a field, and the merged boxes of each item."""
    merged = [row.get(f"{field.name}{MERGED}") or "" for row in rows]
    marks = [merged_extents(text, "boundingBoxes") for text in merged]
    others = {label for each in marks if each for label in each.labels} - {*offered}
    return [*offered, *sorted(others)], marks


def _source(campaign: Campaign, row: dict[str, Any]) -> dict[str, str]:
    if url := row.get("url"):
        return {"source-ref": _address(campaign.pictures, url)}
    cells = (
        row.get(f"input_{name}") or row.get(name)
        for name in campaign.task.shown_columns
        if name != campaign.task.columns[0]
    )
    return {"source": next((str(cell) for cell in cells if cell), "")}


def _address(pictures: PictureLocation | None, url: str) -> str:
    """Return the address of a picture, also where the row has its path in a bucket."""
    name = "" if pictures is None or pictures.folder is not None else pictures.name_of(url)
    if pictures is None or not name:
        return url
    # What opens the bucket is no part of the picture's address.
    bucket = urlsplit(with_secrets(pictures.address))
    host = bucket.netloc.rpartition("@")[2]
    return f"{bucket.scheme}://{host}{bucket.path.rstrip('/')}/{name}"


def _label_of_row(
    field: Field, row: dict[str, Any], campaign: str, released_at: str
) -> dict[str, Any]:
    label = row.get(field.name)
    options = [option.value for option in field.options]
    if label not in options:  # no answers, or a tie
        return {}
    # A label attribute has no underscores.
    name = field.name.replace("_", "-")
    return {
        name: options.index(label),
        f"{name}-metadata": {
            "class-name": label,
            "confidence": _confidence(field.name, row),
            "type": "groundtruth/image-classification"
            if row.get("url")
            else "groundtruth/text-classification",
            **_made(campaign, released_at),
        },
    }


def _confidence(name: str, row: dict[str, Any]) -> float | None:
    """Of the label: its probability; the share of its votes if it is not the likeliest."""
    if row.get(f"{name}{SETTLED}"):
        return 1.0
    is_likeliest = row.get(f"{name}{LIKELIEST}") == row[name]
    return row.get(f"{name}{PROBABILITY if is_likeliest else SHARE}")


def _made(campaign: str, released_at: str) -> dict[str, str]:
    return {
        "job-name": f"labeling-job/{campaign}",
        "human-annotated": "yes",
        "creation-date": released_at.partition("+")[0],
    }


_COLOURS = 3
"""Ground Truth states three colours of every picture."""


def _boxes_of_row(
    field: Field,
    classes: Sequence[str],
    marks: Extents | None,
    row: dict[str, Any],
    campaign: str,
    released_at: str,
) -> dict[str, Any]:
    if marks is None:  # no answers
        return {}
    name = field.name.replace("_", "-")
    numbers = [classes.index(label) for label in marks.labels]
    width, height = marks.size or (row.get("width") or 0, row.get("height") or 0)
    annotations = []
    for number, ends in zip(numbers, marks.ends.tolist(), strict=True):
        (left, right), (top, low) = ([round(end) for end in side] for side in ends)
        annotations.append(
            {
                "class_id": number,
                "left": left,
                "top": top,
                "width": max(right - left, 1),
                "height": max(low - top, 1),
            }
        )
    confidence = row.get(f"{field.name}{AGREEMENT}") or 0
    return {
        name: {
            "image_size": [{"width": round(width), "height": round(height), "depth": _COLOURS}],
            "annotations": annotations,
        },
        f"{name}-metadata": {
            "objects": [{"confidence": confidence} for _ in annotations],
            "class-map": {str(number): classes[number] for number in sorted({*numbers})},
            "type": "groundtruth/object-detection",
            **_made(campaign, released_at),
        },
    }
