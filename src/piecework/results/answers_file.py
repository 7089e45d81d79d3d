"""All answers of a campaign in one Parquet file.

`piecework.bulk` reads such files. The columns are those of the table of answers
(`piecework.domain.tables`), unlike a dataset, which has VizWiz's or the task's columns.
The file has every answer, including dropped ones.
"""

from pathlib import Path
from typing import Any

import pandas as pd

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.tables import INDEX, value_column
from piecework.engine.judge import proposed_verdicts
from piecework.postprocess.datasets.file_table import (
    NUMBER,
    TEXT,
    TEXTS,
    TIME,
    TRUTH,
    WHOLE,
    FileTable,
    as_json,
    write_parquet,
)
from piecework.postprocess.hidden_ids import hide_assignments
from piecework.results.export import dataset_facts, write_whole
from piecework.results.table import answers_table, hidden_ids

_TYPES = {
    "int64": WHOLE,
    "float64": NUMBER,
    "bool": TRUTH,
    "datetime64[us, UTC]": TIME,
    "object": TEXTS,
}


def write_answers(opened: OpenedCampaign, path: Path) -> int:
    """Write the table of answers; return the number of answers.

    `edits` are JSON; `worker` is a keyed hash, `answer_id` and `assignment_id` have
    one. Workers' answers about themselves are left out: the cells of personal fields
    are empty.
    """
    proposed = proposed_verdicts(opened)
    warning = dataset_facts(opened, provisional=len(proposed)).warning
    table = hide_assignments(answers_table(opened, proposed=proposed), hidden_ids(opened))
    table = table.assign(edits=as_json(table["edits"]))
    for field in opened.campaign.task.fields:
        if field.is_personal:
            name = value_column(field)
            table[name] = _emptied(table[name])
    cells = table.reset_index()
    types = {INDEX: TEXT} | {str(name): _TYPES.get(str(table[name].dtype), TEXT) for name in table}
    file_table = FileTable(cells=cells, types=types)
    write_whole(path, lambda file: write_parquet(file_table, file, warning=warning))
    return len(table)


def _emptied(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """The column with empty cells: NaN, an empty tuple or text, by its dtype."""
    nothing = {"float64": float("nan"), "object": ()}.get(str(column.dtype), "")
    cells = [nothing] * len(column)
    return pd.Series(cells, index=column.index, dtype=column.dtype)
