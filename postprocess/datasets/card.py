"""The data card, which tells users what they need to know before trusting the files.

Headings follow Gebru et al., "Datasheets for Datasets" (CACM 2021), as far as a program can
answer. What only the requester can state is marked as not stated. The YAML front matter is
for the Hugging Face hub: it tells `datasets.load_dataset(FOLDER)` the file of each split
and the types of its columns, and a search there finds licence, language and size.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from importlib.resources import files
from typing import Any

import pandas as pd
import pyarrow as pa
import yaml
from jinja2 import Environment, StrictUndefined
from jinja2.environment import Template
from markupsafe import Markup

from piecework.domain.dataset import SPLITS
from piecework.domain.imported import UNNAMED
from piecework.domain.text import plural
from piecework.postprocess.aggregates import probability_columns
from piecework.postprocess.answers import set_aside_reasons
from piecework.postprocess.datasets.facts import DatasetFacts
from piecework.postprocess.datasets.file_table import (
    NUMBER,
    TEXT,
    TEXTS,
    TIME,
    TRUTH,
    WHOLE,
    FileTable,
    Layout,
    split_tables,
)

_CAPTIONS_TEMPLATE = "captions_card.md.j2"
_FIELDS_TEMPLATE = "fields_card.md.j2"
_PUBLICATION_TEMPLATE = "publication.md.j2"


def captions_card(
    table: pd.DataFrame, images: pd.DataFrame, facts: DatasetFacts, names: Iterable[str]
) -> str:
    """Return the card of a caption dataset in Markdown.

    Args:
        table: the table of all answers.
        images: a row per item, with `split`, `captions` and `difficulty`.
        facts: how the dataset was made.
        names: the files that the card describes.
    """
    reasons = set_aside_reasons(table)
    captions = table.loc[reasons == "", ["edits", "split"]]
    known = frozenset(names)
    card = _template(_CAPTIONS_TEMPLATE).render(
        facts=facts,
        names=known,
        counts=_counts(table, captions, images),
        has_more_sent=_has_more_sent(table, facts),
        reasons=_reason_counts(reasons),
        item_columns=frozenset(images.columns),
        difficulties=images["difficulty"].value_counts().sort_index().to_dict(),
        splits=_split_rows(captions, images["split"]),
        period=_period(table),
    )
    return card + _publication(facts, known, "captions", has_pictures=True)


def fields_card(
    table: pd.DataFrame, items: pd.DataFrame, facts: DatasetFacts, names: Iterable[str]
) -> str:
    """Return the card of a general dataset in Markdown.

    Args:
        table: the table of all answers.
        items: a row per item, with `url`.
        facts: how the dataset was made.
        names: the files that the card describes.
    """
    reasons = set_aside_reasons(table)
    known = frozenset(names)
    card = _template(_FIELDS_TEMPLATE).render(
        facts=facts,
        ordered=facts.task.shuffled_names,
        names=known,
        counts={
            "of_items": len(items),
            "answers": len(table),
            "kept": int((reasons == "").sum()),
            "set_aside": int((reasons != "").sum()),
        },
        workers=_workers(table["worker"]),
        has_more_sent=_has_more_sent(table, facts),
        has_named=bool((~_is_unnamed(table["worker"])).any()),
        reasons=_reason_counts(reasons),
        probable={field.name for field in facts.task.item_fields if probability_columns(field)},
        settled_of=lambda name: sum(field == name for _, field in facts.settled),
        period=_period(table),
    )
    has_pictures = bool((items["url"] != "").any())
    return card + _publication(facts, known, "answers", has_pictures=has_pictures)


def _has_more_sent(table: pd.DataFrame, facts: DatasetFacts) -> bool:
    cells = table["also_sent"]
    return any(json.loads(cell).keys() - facts.sent_columns.keys() for cell in cells[cells != ""])


def _is_unnamed(workers: "pd.Series[str]") -> "pd.Series[bool]":
    return workers.str.startswith(UNNAMED)


def _workers(workers: "pd.Series[str]") -> str:
    """Describe the workers; those whom imported files do not name cannot be counted.

    >>> _workers(pd.Series(["a", "a", "unnamed:b"], dtype="str"))
    '1 worker, and others without an id in the files'
    """
    is_unnamed = _is_unnamed(workers)
    named = plural(workers[~is_unnamed].nunique(), "worker")
    if not is_unnamed.any():
        return named
    if is_unnamed.all():
        return "workers without an id in the files"
    return f"{named}, and others without an id in the files"


def _publication(
    facts: DatasetFacts, names: frozenset[str], main: str, *, has_pictures: bool
) -> str:
    """Return the last sections of every card: how to load it, and what was stated."""
    return "\n" + _template(_PUBLICATION_TEMPLATE).render(
        facts=facts, names=names, main=main, has_pictures=has_pictures
    )


def _reason_counts(reasons: "pd.Series[str]") -> dict[str, int]:
    counts = reasons[reasons != ""].value_counts().sort_index()
    return {str(reason): int(number) for reason, number in counts.items()}


def _template(name: str) -> Template:
    source = (files(__package__ or "") / name).read_text(encoding="utf-8")
    # Markdown passes HTML through to the page, so other people's text is escaped.
    environment = Environment(
        undefined=StrictUndefined,
        autoescape=False,  # noqa: S701
        finalize=_escaped,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["cell"] = _cell
    environment.filters["indent_all"] = _as_code
    return environment.from_string(source)


def _counts(table: pd.DataFrame, captions: pd.DataFrame, images: pd.DataFrame) -> dict[str, int]:
    return {
        "images": len(images),
        "answers": len(table),
        "captions": len(captions),
        "set_aside": len(table) - len(captions),
        "images_with_captions": int((images["captions"] > 0).sum()),
        "workers": table["worker"].nunique(),
        "changed": int(captions["edits"].map(bool).sum()),
        "edits": int(captions["edits"].map(len).sum()),
    }


def _split_rows(captions: pd.DataFrame, splits: "pd.Series[str]") -> list[tuple[str, int, int]]:
    return [
        (split, int((splits == split).sum()), int((captions["split"] == split).sum()))
        for split in SPLITS
    ]


def _period(table: pd.DataFrame) -> str:
    if table.empty:
        return "nothing was submitted"
    first, last = table["submitted_at"].min(), table["submitted_at"].max()
    if pd.isna(first):
        return "unknown"
    return f"{first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _as_code(text: str) -> Markup:
    """Return a code block: BibTeX keeps its braces and lines, and nothing is HTML."""
    return Markup("\n".join(f"    {line}" for line in text.splitlines()))  # noqa: S704 - Markdown shows an indented block as it is


def _escaped(value: object) -> object:
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return escape(value, quote=False)


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
