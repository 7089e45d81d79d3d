"""Reads datasets of ours with other people's libraries, and prints what they found.

Run by the Python that has them (`readers.lock`): its arguments are folders, its output
is one JSON object by folder.
"""

import json
import logging
import sys
import tempfile
from pathlib import Path
from typing import Any

import datasets
import mlcroissant
from pycocotools.coco import COCO


def main(folders: list[str]) -> None:
    """Print what each library says of each folder."""
    logging.disable(logging.WARNING)
    datasets.disable_progress_bars()
    contents = {folder: _read(Path(folder)) for folder in folders}
    print(f"\n{json.dumps(contents, default=str)}")  # noqa: T201 - the answer


def _read(folder: Path) -> dict[str, Any]:
    coco = folder / "captions.json"
    return {
        "croissant": _croissant(folder / "croissant.json"),
        "hub": _hub(folder),
        "coco": _coco(coco) if coco.exists() else None,
    }


def _croissant(file: Path) -> dict[str, Any]:
    dataset = mlcroissant.Dataset(str(file))
    issues = dataset.metadata.ctx.issues
    return {
        "errors": sorted(issues.errors),
        "warnings": sorted(issues.warnings),
        "records": {
            records.id: list(dataset.records(records.id))
            for records in dataset.metadata.record_sets
        },
    }


def _hub(folder: Path) -> dict[str, Any]:
    splits_of = {}
    for config in datasets.get_dataset_config_names(str(folder)):
        with tempfile.TemporaryDirectory() as cache:
            loaded = datasets.load_dataset(str(folder), config, cache_dir=cache)
            splits_of[config] = {split: rows.to_list() for split, rows in loaded.items()}
    return splits_of


def _coco(file: Path) -> dict[str, Any]:
    coco = COCO(str(file))
    images = coco.loadImgs(coco.getImgIds())
    return {
        "images": images,
        "captions": {
            image["id"]: [
                annotation["caption"]
                for annotation in coco.loadAnns(coco.getAnnIds(imgIds=[image["id"]]))
            ]
            for image in images
        },
    }


if __name__ == "__main__":
    main(sys.argv[1:])
