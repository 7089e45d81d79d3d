"""Frames as rows of plain values, the same for every format."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict

import pandas as pd

from domain.edit import Edit
from postprocess.frame import COLUMNS, INDEX


def edits_json(edits: Iterable[Edit]) -> str:
    """Edits as one line of JSON, a list of objects with the fields of `Edit`."""
    return json.dumps([asdict(edit) for edit in edits], ensure_ascii=False)


def answer_columns(frame: pd.DataFrame) -> dict[str, list[object]]:
    """Values by column, `answer_id` first; `edits` as JSON, `flaws` as lists.

    A column `set_aside` is shown where the frame has one; no other beyond `COLUMNS`.
    """
    names = [*COLUMNS, *(name for name in ("set_aside",) if name in frame)]
    columns: dict[str, list[object]] = {INDEX: frame.index.tolist()}
    for name in names:
        columns[name] = frame[name].tolist()
    columns["edits"] = [edits_json(edits) for edits in frame["edits"]]
    columns["flaws"] = [list(flaws) for flaws in frame["flaws"]]
    return columns


def item_columns(
    summary: pd.DataFrame,
    *,
    urls: Sequence[str],
    splits: Sequence[str],
) -> dict[str, list[object]]:
    """Values by column of the items: id, url and split, then what `summary` says."""
    return {
        "item_id": summary.index.tolist(),
        "url": list(urls),
        "split": list(splits),
        **{name: summary[name].tolist() for name in summary.columns},
    }
