"""Releases as augmented manifests, the output of SageMaker Ground Truth.

A line per item: its picture (`source-ref`) or text (`source`), and for each label the
number of its class with `NAME-metadata`.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from piecework.domain.campaign import Campaign
from piecework.domain.task import Field
from piecework.results.releases import read_release

_ENDING = ".manifest"


def manifest_names(count: int) -> list[str]:
    """Return the names of the manifests of all releases.

    >>> manifest_names(2)
    ['000001.manifest', '000002.manifest']
    """
    return [f"{number:06}{_ENDING}" for number in range(1, count + 1)]


def augmented_manifest(campaign: Campaign, releases: Path, name: str) -> bytes:
    """Return the labelled items of a release, complete.

    Args:
        campaign: the campaign.
        releases: the folder of its releases.
        name: the name of the manifest (`manifest_names`).

    Raises:
        ReleaseDamaged: a file of the release is missing or was changed.
    """
    number = name.removesuffix(_ENDING)
    facts = json.loads((releases / number / "manifest.json").read_bytes())
    rows = read_release(releases, int(number), table="items").to_pylist()
    lines = _lines(campaign, rows, facts["released_at"])
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines).encode()


def _lines(
    campaign: Campaign, rows: list[dict[str, Any]], released_at: str
) -> Iterator[dict[str, Any]]:
    for row in rows:
        line: dict[str, Any] = {}
        for field in campaign.task.label_fields:
            line |= _label(field, row, campaign.name, released_at)
        if line:
            yield {**_source(campaign, row), "item-id": row["item_id"], **line}


def _source(campaign: Campaign, row: dict[str, Any]) -> dict[str, str]:
    if url := row.get("url"):
        return {"source-ref": url}
    cells = (
        row.get(f"input_{name}") or row.get(name)
        for name in campaign.task.shown_columns
        if name != campaign.task.columns[0]
    )
    return {"source": next((str(cell) for cell in cells if cell), "")}


def _label(field: Field, row: dict[str, Any], campaign: str, released_at: str) -> dict[str, Any]:
    label = row.get(field.name)
    options = [option.value for option in field.options]
    if label not in options:  # no answers, or a tie
        return {}
    confidence = row.get(f"{field.name}_probability") or row.get(f"{field.name}_share")
    # A label attribute has no underscores.
    name = field.name.replace("_", "-")
    return {
        name: options.index(label),
        f"{name}-metadata": {
            "class-name": label,
            "confidence": confidence,
            "type": "groundtruth/image-classification"
            if row.get("url")
            else "groundtruth/text-classification",
            "job-name": f"labeling-job/{campaign}",
            "human-annotated": "yes",
            "creation-date": released_at.partition("+")[0],
        },
    }
