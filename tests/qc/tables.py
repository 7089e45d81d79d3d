"""Tables of answers for tests: each row says only what its law is about."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pandas as pd

from piecework.domain.tables import COLLECTED, Column, build

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

COLUMNS = {
    **COLLECTED,
    "value.caption": Column("str", "answered as text"),
    "value.has_text": Column("str", "answered as choice"),
    "value.flaws": Column("object", "answered as choices"),
}

CANNED = "Quality issues are too severe to recognize visual content."


def row(answer_id: str, **columns: object) -> dict[str, object]:
    """One row; by default an honest answer by a worker and about an item of its own."""
    text = columns.get("text", "a red bird sits on a wire that crosses a grey sky")
    filled: dict[str, object] = {
        "answer_id": answer_id,
        "assignment_id": f"assignment-{answer_id}",
        "hit_id": "hit",
        "batch": 1,
        "worker_id": f"worker-{answer_id}",
        "item_id": f"item-{answer_id}",
        "round": 0,
        "position": 1,
        "place": 1,
        "n_items": 1,
        "text": text,
        "is_canned": text == CANNED,
        "shown_seconds": 40.0,
        "page_seconds": 40.0,
        "market_seconds": 45.0,
        "accepted_at": START,
        "submitted_at": START + timedelta(minutes=1),
        "pastes": 0.0,
        "keystrokes": 60.0,
        "focus_losses": 0.0,
        "played_part": math.nan,
        "typing": "",
        "problems": (),
        "also_sent": "",
        "value.caption": text,
        "value.has_text": "no",
        "value.flaws": (),
    }
    return filled | columns


def table(*rows: Mapping[str, object], columns: Mapping[str, Column] = COLUMNS) -> pd.DataFrame:
    """The table of these rows; without any, an empty one with the right dtypes."""
    cells = {name: [row[name] for row in rows] for name in columns}
    return build([str(row["answer_id"]) for row in rows], cells, columns)


def flagged(scored: pd.DataFrame) -> set[str]:
    """The ids of the subjects that are flagged."""
    return set(scored.index[scored["flag"]])


NAN = math.nan


def cells(scored: pd.DataFrame, subject: str) -> tuple[float, bool, str]:
    """One subject's suspicion, flag and evidence."""
    place = scored.index.get_loc(subject)
    assert isinstance(place, int)
    return (
        float(scored["suspicion"].tolist()[place]),
        bool(scored["flag"].tolist()[place]),
        str(scored["evidence"].tolist()[place]),
    )


def evidence(scored: pd.DataFrame, subject: str) -> str:
    """One subject's evidence."""
    return cells(scored, subject)[2]
