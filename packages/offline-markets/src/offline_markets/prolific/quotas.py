"""Quotas: how a study's places are divided among the values of a filter.

Prolific documents the field `weightings` of a filter, and not how it is kept. Here each
value has its part of the places, rounded up; a value without a weighting may have all.
A participant with several of the values counts for the first that has room.
"""

import json
import math
import sqlite3
from typing import Any

from offline_markets.prolific.state import State
from offline_markets.prolific.study import OPEN, PAID, Study


def has_room(state: State, person: sqlite3.Row, study: Study) -> bool:
    """Return whether a place of a study is free for a person with these answers."""
    return all(
        _has_room(state, person, study, selection)
        for selection in study.fields["filters"] or []
        if selection.get("weightings") and "selected_values" in selection
    )


def _has_room(state: State, person: sqlite3.Row, study: Study, selection: dict[str, Any]) -> bool:
    weightings, filter_id = selection["weightings"], selection["filter_id"]
    whole = sum(weightings.values())
    left = dict.fromkeys(selection["selected_values"], study.places) | {
        value: math.ceil(study.places * weight / whole) for value, weight in weightings.items()
    }
    marks = ", ".join("?" for _ in (*OPEN, *PAID))
    taken = state.rows(
        "SELECT answers FROM submission JOIN participant "
        "ON participant.id = participant_id WHERE study_id = ? "
        f"AND submission.status IN ({marks}) ORDER BY submission.number",
        (study.study_id, *OPEN, *PAID),
    )
    for row in taken:
        if (value := _first_with_room(row, filter_id, left)) is not None:
            left[value] -= 1
    return _first_with_room(person, filter_id, left) is not None


def _first_with_room(person: sqlite3.Row, filter_id: str, left: dict[str, int]) -> str | None:
    own = json.loads(person["answers"]).get(filter_id, [])
    return next((value for value in own if left.get(value)), None)
