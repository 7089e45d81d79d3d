"""The YAML front matter of a data card for the Hugging Face hub.

It tells `datasets.load_dataset(FOLDER)` the file of each split and the types of its
columns; a search on the hub finds licence, language and size.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import yaml

from piecework.domain.dataset import SPLITS
from piecework.postprocess.datasets.facts import DatasetFacts
from piecework.postprocess.datasets.file_table import (
    NUMBER,
    TEXT,
    TEXTS,
    TIME,
    TRUTH,
    WHOLE,
    FileTable,
)
from piecework.postprocess.datasets.layout import Layout, split_tables

_DTYPES: Mapping[pa.DataType, str] = {
    TEXT: "string",
    WHOLE: "int64",
    NUMBER: "float64",
    TRUTH: "bool",
    TIME: "timestamp[us, tz=UTC]",
}

_SPLIT_NAMES = {"train": "train", "val": "validation", "test": "test"}
"""The hub's names of column types."""

_SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
)


def front_matter(layout: Layout, facts: DatasetFacts, *, has_parquet: bool) -> str:
    """Return the block between two lines of dashes; unknown values are left out."""
    licence = facts.publication.licence
    values: dict[str, object] = {
        "pretty_name": facts.title,
        "language": [facts.task.language.partition("-")[0]],
    }
    if licence:
        values["license"] = licence.hub
        if licence.hub == "other":
            values |= {"license_name": licence.spdx, "license_link": licence.url}
    if facts.task.dataset == "captions":
        values["task_categories"] = ["image-to-text"]
        values["task_ids"] = ["image-captioning"]
    values["annotations_creators"] = ["machine-generated" if facts.is_rehearsal else "crowdsourced"]
    values["size_categories"] = [_size_category(len(layout.tables[layout.main]))]
    values["tags"] = list(
        dict.fromkeys(
            ("crowdsourcing", "piecework")
            + ("rehearsal", "synthetic") * facts.is_rehearsal
            + facts.publication.tags
        )
    )
    if has_parquet:
        configs = list(_configs(layout))
        values["configs"] = [config for config, _ in configs]
        values["dataset_info"] = [info for _, info in configs]
    block = yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=1000)
    return f"---\n{block}---\n"


def _size_category(rows: int) -> str:
    return next((name for below, name in _SIZES if rows < below), "n>10M")


def _configs(layout: Layout) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield each table as a configuration, with the main table by split."""
    for name, table in layout.tables.items():
        parts = {name: (name, table)}
        if name == layout.main:
            by_split = split_tables(table)
            parts = {_SPLIT_NAMES[split]: (f"{name}_{split}", by_split[split]) for split in SPLITS}
        # A table without rows has no split to load.
        shown = {split: part for split, part in parts.items() if len(part[1])}
        if not shown:
            continue
        config: dict[str, Any] = {
            "config_name": name,
            "data_files": [
                {"split": split, "path": f"{file}.parquet"} for split, (file, _) in shown.items()
            ],
        }
        if name == layout.main:
            config["default"] = True
        yield config, {"config_name": name, "features": _features(table)}


def _features(table: FileTable) -> list[dict[str, str]]:
    return [
        {"name": name, "sequence": "string"}
        if type_ == TEXTS
        else {"name": name, "dtype": _DTYPES[type_]}
        for name, type_ in table.types.items()
    ]
