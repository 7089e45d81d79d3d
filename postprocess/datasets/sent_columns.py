"""Columns of what workers sent and the task has no field for.

A page's script may make inputs that the file does not declare, and an items file may
bring some. What came under each such name is a column of text. A program could
send thousands of names, so their number is limited; the rest is one JSON object for
each answer.
"""

import json
from collections import Counter
from collections.abc import Mapping

import pandas as pd

from piecework.domain.column_names import SENT, SENT_MORE, ColumnNames
from piecework.domain.task import Task

_MOST_COLUMNS = 1_000
_MOST_CELLS = 50_000_000
"""Two gigabytes or so for the columns of a table that has as many cells."""


def sent_columns(table: pd.DataFrame, task: Task) -> dict[str, str]:
    """Return the columns of names that were sent for no field, by name.

    Args:
        table: the table of answers, with `also_sent` and `submitted_at`.
        task: the task, whose fields have columns too.
    """
    rows = table.loc[table["also_sent"] != "", ["also_sent", "submitted_at"]]
    # By time, so that later answers do not change the names of earlier columns.
    in_order = rows.sort_index(kind="stable").sort_values("submitted_at", kind="stable")
    counts = Counter[str]()
    for cell in in_order["also_sent"].tolist():
        counts.update([*json.loads(cell)])
    most = max(1, min(_MOST_COLUMNS, _MOST_CELLS // max(len(table), 1)))
    chosen = {name for name, _ in counts.most_common(most)}
    names = ColumnNames(field.name for field in task.fields)
    return {name: names.take(name, prefix=SENT) for name in counts if name in chosen}


def sent_cells(
    also_sent: "pd.Series[str]", columns: Mapping[str, str], *, with_more: bool = False
) -> pd.DataFrame:
    """Return the columns of text; an answer without a name has an empty cell.

    Args:
        also_sent: the column of the table of answers.
        columns: from `sent_columns`; other names are in the column `SENT_MORE`.
        with_more: whether the table has that column if no cell needs it.
    """
    cells = {name: [""] * len(also_sent) for name in columns.values()}
    more: dict[int, str] = {}
    for number, cell in enumerate(also_sent.tolist()):
        if not cell:
            continue
        sent: dict[str, str] = json.loads(cell)
        for name in [*sent]:
            if name in columns:
                cells[columns[name]][number] = sent.pop(name)
        if sent:
            more[number] = json.dumps(sent, ensure_ascii=False)
    if more or with_more:
        cells[SENT_MORE] = [more.get(number, "") for number in range(len(also_sent))]
    return pd.DataFrame(
        {
            name: pd.Series(column, index=also_sent.index, dtype="str")
            for name, column in cells.items()
        },
        index=also_sent.index,
    )
