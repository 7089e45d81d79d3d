"""What the report's tables hold, and the mending that makes them safe to sum.

The answers come as `piecework.postprocess.answers` describes them; all other tables
stand here. An unfinished campaign has frames without rows, and often without columns; a
store hands out 0 and 1 for truth and `None` for a time that has not come. All of that
is settled here once, so that no section has to think of it again.
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
"""One row a batch and round."""

FINDINGS: Mapping[str, Kind] = {
    "heuristic": "text",
    "version": "whole",
    "subject_kind": "text",
    "subject_id": "text",
    "suspicion": "number",
    "flag": "truth",
    "evidence": "text",
}
"""One row a finding; rows that flag nothing may be left out."""

DECISIONS: Mapping[str, Kind] = {
    "subject_kind": "text",
    "subject_id": "text",
    "verdict": "text",
    "decided_by": "text",
    "decided_at": "time",
    "because": "text",
}
"""One row a decision; of several about one subject the last one holds."""

WORKERS: Mapping[str, Kind] = {
    "assignments": "whole",
    "answers": "whole",
    "answers_dropped": "whole",
    "assignments_rejected": "whole",
    "paid_cents": "whole",
    "seconds_worked": "number",
    "is_excluded": "truth",
    "trait": "text",
    "is_planted_bad": "truth",
}
"""One row a worker who submitted; index the hashed id."""

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
"""One row a judgement of a pair; see `piecework.analyses.pairwise_outcomes`."""

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
}
"""One row a kind of error; see `piecework.report.correction_gains`."""

_DTYPES: Mapping[Kind, str] = {
    "text": "str",
    "whole": "int64",
    "number": "float64",
    "truth": "bool",
    "time": "datetime64[us, UTC]",
}


def shaped(
    frame: pd.DataFrame,
    columns: Mapping[str, Kind],
    *,
    name: str,
) -> pd.DataFrame:
    """A copy of the frame whose columns have the dtypes that `columns` promises.

    Raises:
        ValueError: the frame has rows but lacks columns; all are named.
    """
    if frame.empty:
        empty = {
            column: pd.Series(dtype=_DTYPES[kind]) for column, kind in columns.items()
        }
        return pd.DataFrame(empty, index=pd.Index([], dtype="str"))
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise ValueError(f"ReportFacts.{name} lacks the columns {', '.join(missing)}")
    mended = {column: _MENDERS[kind](frame[column]) for column, kind in columns.items()}
    return pd.DataFrame(mended).set_axis(frame.index.astype("str"))


def _text(column: pd.Series) -> pd.Series:
    return column.map(
        lambda value: value if isinstance(value, str) else _word(value)
    ).astype("str")


def _word(value: object) -> str:
    missing = value is None or value is pd.NaT or value is pd.NA or value != value  # noqa: PLR0124 - NaN is the only value unequal to itself
    return "" if missing else str(value)


def _whole(column: pd.Series) -> pd.Series:
    return pd.to_numeric(column).fillna(0).astype("int64")


def _number(column: pd.Series) -> pd.Series:
    return pd.to_numeric(column).astype("float64")


def _truth(column: pd.Series) -> pd.Series:
    return column.map(
        lambda value: _word(value) not in {"", "0", "0.0", "False"}
    ).astype("bool")


def _time(column: pd.Series) -> pd.Series:
    return pd.to_datetime(column, utc=True)


_MENDERS: Mapping[Kind, Callable[[pd.Series], pd.Series]] = {
    "text": _text,
    "whole": _whole,
    "number": _number,
    "truth": _truth,
    "time": _time,
}
