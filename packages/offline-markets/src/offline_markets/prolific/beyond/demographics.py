"""Export who took part in a study: times, codes, and answers to filters.

Prolific gives base data for all participants. With filters, an export has a column for
each, for the participants who meet them; two different selections are allowed for a
study, each as often as wanted. The titles of the columns, and the mark of answers that
the emulator's participants do not have, are a guess.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from offline_markets.core.clock import iso
from offline_markets.core.errors import ApiError, wrong
from offline_markets.prolific import filters
from offline_markets.prolific.call import Call, Csv
from offline_markets.prolific.operation import Operation
from offline_markets.prolific.participants import row_of
from offline_markets.prolific.state import State
from offline_markets.prolific.study import Study
from offline_markets.prolific.submission import Submission

_MOST_FILTERS = 15
_MOST_SELECTIONS = 2
_UNKNOWN = "DATA_EXPIRED"
_NEVER_ASKED = (
    "Sex",
    "Ethnicity simplified",
    "Country of birth",
    "Student status",
    "Employment status",
)


def export_with_filters(call: Call) -> Csv:
    """Export base data, with the answers to the selected filters."""
    call.only("filters")
    study = Study.find(call.state, call.path["id"])
    selected = call.body.get("filters") or []
    if not isinstance(selected, list):
        raise wrong("filters", "Not a list.")
    filters.check(call.state, selected)
    if selected:
        _note(call.state, study, selected)
    return _exported(call.state, study, selected, is_narrowed=True)


def history(call: Call) -> dict[str, Any]:
    """Return how many selections were exported, and the last request's filters."""
    study = Study.find(call.state, call.path["id"])
    rows = _selections(call.state, study)
    return {"count": len(rows), "filters": json.loads(rows[0]) if rows else []}


def export(call: Call) -> Csv:
    """Export base data, with the answers to the study's own filters."""
    study = Study.find(call.state, call.path["id"])
    own = study.fields["filters"] or []
    return _exported(call.state, study, own, is_narrowed=False)


def _selections(state: State, study: Study) -> list[str]:
    """Return the different selections that were exported, the latest first."""
    rows = state.rows(
        "SELECT filters FROM demographic_export WHERE study_id = ? "
        "GROUP BY filters ORDER BY max(number) DESC",
        (study.study_id,),
    )
    return [row["filters"] for row in rows]


def _note(state: State, study: Study, selected: list[Any]) -> None:
    if len(list(_leaves(selected))) > _MOST_FILTERS:
        raise wrong("filters", f"At most {_MOST_FILTERS}.")
    text = json.dumps(selected, sort_keys=True)
    known = _selections(state, study)
    if text not in known and len(known) >= _MOST_SELECTIONS:
        raise ApiError(400, f"This study was exported with {_MOST_SELECTIONS} selections already.")
    state.conn.execute(
        "INSERT INTO demographic_export (study_id, filters) VALUES (?, ?)", (study.study_id, text)
    )


def _exported(
    state: State, study: Study, selected: Sequence[dict[str, Any]], *, is_narrowed: bool
) -> Csv:
    names = list(dict.fromkeys(_leaves(selected)))
    rows = state.rows(
        "SELECT submission.*, review.at_ms AS reviewed_ms FROM submission "
        "LEFT JOIN review ON submission_id = submission.id "
        "WHERE study_id = ? ORDER BY submission.number",
        (study.study_id,),
    )
    table = []
    for row in rows:
        person = row_of(state, row["participant_id"])
        if is_narrowed and not filters.is_eligible(state, person, selected):
            continue
        base = _base(Submission.of_row(row), row["reviewed_ms"])
        answers = {name: filters.answer(person, name) for name in names}
        table.append({**base, **_about(person), **answers})
    titles = [*_base_titles(), *names]
    return Csv.of(titles, ([row[title] for title in titles] for row in table))


def _base_titles() -> list[str]:
    return [
        *("Submission id", "Participant id", "Status", "Started at", "Completed at"),
        *("Reviewed at", "Time taken", "Completion code", "Total approvals", "Age"),
        *("Country of residence", "Language", "Nationality"),
        *_NEVER_ASKED,
    ]


def _base(submission: Submission, reviewed_ms: int | None) -> dict[str, object]:
    taken = submission.seconds
    return {
        "Submission id": submission.submission_id,
        "Participant id": submission.participant_id,
        "Status": submission.status,
        "Started at": iso(submission.started_ms),
        "Completed at": iso(submission.completed_ms) or "",
        "Reviewed at": iso(reviewed_ms) or "",
        "Time taken": "" if taken is None else round(taken),
        "Completion code": submission.entered_code or "",
    }


def _about(person: sqlite3.Row) -> dict[str, object]:
    answers = json.loads(person["answers"])
    return {
        "Total approvals": person["approvals"],
        "Age": person["age"],
        "Country of residence": filters.labels(filters.COUNTRY, answers) or _UNKNOWN,
        "Nationality": filters.labels("nationality", answers) or _UNKNOWN,
        "Language": filters.labels("first-language", answers) or _UNKNOWN,
        **dict.fromkeys(_NEVER_ASKED, _UNKNOWN),
    }


def _leaves(selected: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the ids of filters, also inside `and` and `or`."""
    for each in selected:
        if "selected_filters" in each:
            yield from _leaves(each["selected_filters"])
        else:
            yield each["filter_id"]


OPERATIONS = (
    Operation("export-study", "GET", "/studies/{id}/export/", export),
    Operation(
        "export-demographic-data", "POST", "/studies/{id}/demographic-export/", export_with_filters
    ),
    Operation(
        "get-demographic-export-history",
        "GET",
        "/studies/{id}/demographic-export-history/",
        history,
    ),
)
