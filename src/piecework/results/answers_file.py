"""All answers of a campaign in one Parquet file.

`piecework.bulk` reads such files. The columns are those of the table of
answers (`piecework.domain.tables`), where a dataset has VizWiz's or the task's. It has
every answer, dropped ones too.
"""

from pathlib import Path
from typing import Any

import pandas as pd

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.tables import INDEX, value_column
from piecework.engine.provisional import proposed_verdicts
from piecework.postprocess.datasets.file_table import (
    NUMBER,
    TEXT,
    TEXTS,
    TIME,
    TRUTH,
    WHOLE,
    FileTable,
    as_json,
)
from piecework.postprocess.datasets.parquet_file import write_parquet
from piecework.results.export import dataset_facts, write_whole
from piecework.results.table import answers_table

_TYPES = {
    "int64": WHOLE,
    "float64": NUMBER,
    "bool": TRUTH,
    "datetime64[us, UTC]": TIME,
    "object": TEXTS,
}


def write_answers(opened: OpenedCampaign, path: Path) -> int:
    """Write the table of answers; how many there are.

    `edits` are JSON, `worker` is a keyed hash. What was asked of workers about
    themselves stays here: of personal fields the cells are empty.
    """
    proposed = proposed_verdicts(opened)
    warning = dataset_facts(opened, provisional=len(proposed)).warning
    table = answers_table(opened, proposed=proposed)
    table = table.assign(edits=as_json(table["edits"]))
    for field in opened.campaign.task.fields:
        if field.is_personal:
            name = value_column(field)
            table[name] = _emptied(table[name])
    cells = table.reset_index()
    types = {INDEX: TEXT} | {
        str(name): _TYPES.get(str(table[name].dtype), TEXT) for name in table
    }
    file_table = FileTable(cells=cells, types=types)
    write_whole(path, lambda file: write_parquet(file_table, file, warning=warning))
    return len(table)


def _emptied(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """As many cells of nothing: NaN, an empty tuple or text, by the column's dtype."""
    nothing = {"float64": float("nan"), "object": ()}.get(str(column.dtype), "")
    cells = [nothing] * len(column)
    return pd.Series(cells, index=column.index, dtype=column.dtype)
