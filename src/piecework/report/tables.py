"""The columns of the report's tables, and the conversions that make them safe to sum.

The answers have the columns of `piecework.postprocess.answers`; all other tables are
defined here. An unfinished campaign has frames without rows, and often without columns;
a store returns 0 and 1 for booleans and `None` for missing times. All of that is
handled here once, so that no section has to.
"""

from collections.abc import Callable, Mapping
from typing import Literal

import pandas as pd

Kind = Literal["text", "whole", "number", "truth", "time"]

BATCHES: Mapping[str, Kind] = {
    "batch": "whole",
    "round": "whole",
    "hits": "whole",
    "assignments_wanted": "whole",
    "assignments_submitted": "whole",
    "answers_kept": "whole",
    "answers_dropped": "whole",
    "posted_at": "time",
    "last_submitted_at": "time",
    "settled_at": "time",
    "workers_excluded": "whole",
}
"""One row per batch and round."""

FINDINGS: Mapping[str, Kind] = {
    "heuristic": "text",
    "version": "whole",
    "subject_kind": "text",
    "subject_id": "text",
    "suspicion": "number",
    "flag": "truth",
    "evidence": "text",
}
"""One row per finding; rows that flag nothing may be left out."""

DECISIONS: Mapping[str, Kind] = {
    "subject_kind": "text",
    "subject_id": "text",
    "verdict": "text",
    "decided_by": "text",
    "decided_at": "time",
    "because": "text",
}
"""One row per decision; the last one about a subject is in force."""

WORKERS: Mapping[str, Kind] = {
    "assignments": "whole",
    "answers": "whole",
    "answers_dropped": "whole",
    "assignments_rejected": "whole",
    "paid_cents": "whole",
    "seconds_worked": "number",
    "seconds_paid": "number",
    "is_excluded": "truth",
    "trait": "text",
    "is_planted_bad": "truth",
}
"""One row per worker who submitted; index the hashed id."""

COMPARISONS: Mapping[str, Kind] = {
    "item_id": "text",
    "worker": "text",
    "criterion": "text",
    "first": "text",
    "second": "text",
    "outcome": "text",
    "grade": "number",
    "side": "text",
}
"""One row per judgement of a pair; see `piecework.analyses.preferences`."""

CORRECTIONS: Mapping[str, Kind] = {
    "kind": "text",
    "items": "whole",
    "changed": "whole",
    "descriptions": "whole",
    "bleu_1_before": "number",
    "bleu_1": "number",
    "bleu_4_before": "number",
    "bleu_4": "number",
    "meteor_before": "number",
    "meteor": "number",
    "conflicts": "whole",
}
"""By kind of error, then all together; see `piecework.report.correction_gains`."""

_DTYPES: Mapping[Kind, str] = {
    "text": "str",
    "whole": "int64",
    "number": "float64",
    "truth": "bool",
    "time": "datetime64[us, UTC]",
}

_CONVERTED: Mapping[Kind, Callable[[pd.Series], pd.Series]] = {
    "text": lambda cells: cells.map(lambda cell: cell if isinstance(cell, str) else _word(cell)),
    "whole": lambda cells: pd.to_numeric(cells).fillna(0),
    "number": pd.to_numeric,
    "truth": lambda cells: cells.map(lambda cell: _word(cell) not in {"", "0", "0.0", "False"}),
    "time": lambda cells: pd.to_datetime(cells, utc=True),
}


def shape_table(frame: pd.DataFrame, columns: Mapping[str, Kind], *, name: str) -> pd.DataFrame:
    """Return a copy of the frame with the columns and dtypes of `columns`.

    Raises:
        ValueError: the frame has rows but lacks columns; names all of them.
    """
    if frame.empty:
        empty = {column: pd.Series(dtype=_DTYPES[kind]) for column, kind in columns.items()}
        return pd.DataFrame(empty, index=pd.Index([], dtype="str"))
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise ValueError(f"ReportFacts.{name} lacks the columns {', '.join(missing)}")
    mended = {
        column: pd.Series(_CONVERTED[kind](frame[column]), dtype=_DTYPES[kind])
        for column, kind in columns.items()
    }
    return pd.DataFrame(mended).set_axis(frame.index.astype("str"))


def _word(value: object) -> str:
    missing = value is None or value is pd.NaT or value is pd.NA or value != value  # noqa: PLR0124 - NaN is the only value unequal to itself
    return "" if missing else str(value)
