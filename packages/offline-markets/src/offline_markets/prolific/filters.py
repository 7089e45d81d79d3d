"""The known filters, and which participants meet them.

Lists of people, groups and earlier studies, approvals and ages are evaluated as
Prolific describes them; other filters use the participant's own answers. Prolific's own
list of filters is long and changes. Of the choice ids here, only "0" (United Kingdom)
and "1" (United States) were seen in Prolific's API.
"""

import json
import math
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from offline_markets.core.errors import wrong
from offline_markets.prolific.call import Call
from offline_markets.prolific.state import State
from offline_markets.prolific.workspaces import workspace_row

COUNTRY = "current-country-of-residence"
_FEWEST = 25
"""Counts below this are reported as 0."""
_DEEPEST = 5


@dataclass(frozen=True, slots=True)
class Filter:
    """One filter that a study may name.

    Attributes:
        filter_id: its id.
        title: its title for people.
        data_type: the type of the selected values or of the range's ends.
        choices: the options by id; only for ChoiceID.
        most: the upper end of the range; None for filters that select.
    """

    filter_id: str
    title: str
    data_type: str
    choices: dict[str, str] = field(default_factory=dict)
    least: int = 0
    most: int | None = None

    def document(self) -> dict[str, Any]:
        """Return the filter as the API shows it."""
        shared = {
            "filter_id": self.filter_id,
            "title": self.title,
            "description": self.title,
            "question": self.title,
            "data_type": self.data_type,
        }
        if self.most is None:
            return {**shared, "type": "select", "choices": self.choices}
        return {
            **shared,
            "type": "range",
            "min": self.least,
            "max": self.most,
            "min_max": self.most,
            "max_min": self.least,
        }


COUNTRIES = {
    "GB": ("0", "United Kingdom"),
    "US": ("1", "United States"),
    "IE": ("2", "Ireland"),
    "DE": ("3", "Germany"),
    "FR": ("4", "France"),
    "ES": ("5", "Spain"),
    "PL": ("6", "Poland"),
    "PT": ("7", "Portugal"),
    "ZA": ("8", "South Africa"),
    "CA": ("9", "Canada"),
    "IN": ("10", "India"),
    "PH": ("11", "Philippines"),
}
"""By ISO code: the choice's id and its label."""

_LANGUAGES = {"0": "English", "1": "German", "2": "French", "3": "Spanish"}

KNOWN = {
    kind.filter_id: kind
    for kind in (
        Filter("custom_allowlist", "Custom allowlist", "ParticipantID"),
        Filter("custom_blocklist", "Custom blocklist", "ParticipantID"),
        Filter("participant_group_allowlist", "Group allowlist", "ParticipantGroupID"),
        Filter("participant_group_blocklist", "Group blocklist", "ParticipantGroupID"),
        Filter("previous_studies_allowlist", "Previous studies", "StudyID"),
        Filter("previous_studies_blocklist", "Exclude studies", "StudyID"),
        Filter("approval_rate", "Approval rate", "integer", most=100),
        Filter("approval_numbers", "Approvals", "integer", most=100_000),
        Filter("age", "Age", "integer", least=18, most=100),
        Filter(COUNTRY, "Country of residence", "ChoiceID", dict(COUNTRIES.values())),
        Filter("nationality", "Nationality", "ChoiceID", dict(COUNTRIES.values())),
        Filter(
            "vision", "Normal or corrected-to-normal vision", "ChoiceID", {"0": "Yes", "1": "No"}
        ),
        Filter("fluent-languages", "Fluent languages", "ChoiceID", _LANGUAGES),
        Filter("first-language", "First language", "ChoiceID", _LANGUAGES),
        Filter("handedness", "Handedness", "ChoiceID", {"0": "Left", "1": "Right", "2": "Either"}),
    )
}

_TABLES = {
    "ParticipantID": "participant",
    "ParticipantGroupID": "participant_group",
    "StudyID": "study",
}
_MEETS = {
    "participant_group_allowlist": (
        "SELECT count(*) FROM membership JOIN participant_group "
        "ON participant_group.id = group_id WHERE participant_id = ? AND group_id = ?"
    ),
    "previous_studies_allowlist": (
        "SELECT count(*) FROM submission WHERE participant_id = ? AND study_id = ? "
        "AND status NOT IN ('RETURNED', 'TIMED-OUT')"
    ),
}
for _allow in tuple(_MEETS):
    _MEETS[_allow.replace("allowlist", "blocklist")] = _MEETS[_allow]


def list_filters(call: Call) -> dict[str, Any]:
    """List all filters, with a workspace's groups and studies if one is named."""
    workspace_id = call.query.get("workspace_id")
    documents = [known.document() for known in KNOWN.values()]
    if workspace_id is not None:
        workspace_row(call.state, workspace_id)
        for document in documents:
            if document["data_type"] in ("StudyID", "ParticipantGroupID"):
                document["choices"] = _choices(call.state, document["data_type"], workspace_id)
    return {"results": documents, "_links": {}, "meta": {"count": len(documents)}}


def count_eligible(call: Call) -> dict[str, Any]:
    """Return how many participants meet the filters; small counts become 0."""
    call.only("filters", "workspace_id", "organisation_id")
    asked = call.body.get("filters")
    if not isinstance(asked, list):
        raise wrong("filters", "This field is required.")
    check(call.state, asked)
    return {"count": eligible_count(call.state, asked)}


def eligible_count(state: State, asked: Sequence[dict[str, Any]]) -> int:
    """Return how many participants meet all filters; small counts become 0."""
    people = state.rows("SELECT * FROM participant")
    count = sum(is_eligible(state, person, asked) for person in people)
    return count if count >= _FEWEST else 0


def check(state: State, asked: Sequence[object], *, depth: int = 0) -> None:
    """Refuse filters that do not exist or are invalid.

    Raises:
        ApiError: a filter is wrong; the message names it.
    """
    if depth > _DEEPEST:
        raise wrong("filters", f"At most {_DEEPEST} levels.")
    for selection in asked:
        if not isinstance(selection, dict):
            raise wrong("filters", "A filter is an object.")
        if selection.get("filter_id") in ("and", "or"):
            inner = selection.get("selected_filters")
            if not isinstance(inner, list) or not inner:
                raise wrong("filters", "and, or: selected_filters is a list.")
            check(state, inner, depth=depth + 1)
        else:
            _check_one(state, selection)


def is_eligible(state: State, person: sqlite3.Row, asked: Sequence[dict[str, Any]]) -> bool:
    """Return whether a participant meets all filters."""
    return all(_lets_through(state, person, selection) for selection in asked)


def approval_rate(approvals: int, rejections: int) -> float:
    """Return the upper end of the 95 % interval of an approval rate, in percent.

    This is Wilson's interval; Prolific does not document which one it uses. A
    participant without decided submissions has 100.

    >>> round(approval_rate(90, 10), 1)
    94.5
    """
    total = approvals + rejections
    if not total:
        return 100.0
    z = 1.959964
    rate = approvals / total
    middle = rate + z * z / (2 * total)
    half = z * math.sqrt(rate * (1 - rate) / total + z * z / (4 * total * total))
    return 100 * (middle + half) / (1 + z * z / total)


def labels(filter_id: str, answers: Mapping[str, Sequence[str]]) -> str:
    """Return the labels of the choices in a participant's answers to a filter."""
    choices = KNOWN[filter_id].choices
    return "; ".join(choices[choice] for choice in answers.get(filter_id, ()))


def answer(person: sqlite3.Row, filter_id: str) -> object:
    """Return what an export shows of a participant for a filter.

    Lists of people, groups and studies cannot be answered, so nothing is shown.
    """
    known = KNOWN[filter_id]
    if known.most is not None:
        return round(_measured(person, filter_id), 2)
    return labels(filter_id, json.loads(person["answers"]))


def _check_one(state: State, selection: dict[str, Any]) -> None:
    known = KNOWN.get(str(selection.get("filter_id")))
    if known is None:
        raise wrong("filters", f"Unknown filter: {selection.get('filter_id')}.")
    if known.most is not None:
        _check_range(known, selection.get("selected_range"))
        return
    values = selection.get("selected_values")
    if not isinstance(values, list) or not all(isinstance(v, str) for v in values):
        raise wrong("filters", f"{known.filter_id}: selected_values is a list of ids.")
    unknown = [value for value in values if not _exists(state, known, value)]
    if unknown:
        raise wrong("filters", f"{known.filter_id}: unknown {', '.join(unknown)}.")
    _check_weightings(known.filter_id, values, selection.get("weightings"))


def _check_weightings(filter_id: str, values: Sequence[str], weightings: object) -> None:
    """Refuse weightings that do not fit the selected values.

    Raises:
        ApiError: a weighting is not of a selected value, or not above zero.
    """
    if weightings is None:
        return
    if not isinstance(weightings, dict) or not set(weightings) <= set(values):
        raise wrong("filters", f"{filter_id}: weightings is of selected values.")
    if not all(
        isinstance(each, int | float) and not isinstance(each, bool) and each > 0
        for each in weightings.values()
    ):
        raise wrong("filters", f"{filter_id}: weightings are numbers above zero.")


def _check_range(known: Filter, asked: object) -> None:
    ends = asked.items() if isinstance(asked, dict) else ()
    is_good = bool(ends) and all(
        name in ("lower", "upper")
        and isinstance(value, int | float)
        and known.least <= value <= (known.most or 0)
        for name, value in ends
    )
    if not is_good:
        raise wrong(
            "filters",
            f"{known.filter_id}: selected_range has lower or upper, each from "
            f"{known.least} to {known.most}.",
        )


def _exists(state: State, known: Filter, value: str) -> bool:
    if known.data_type == "ChoiceID":
        return value in known.choices
    table = _TABLES[known.data_type]
    return bool(state.number(f"SELECT count(*) FROM {table} WHERE id = ?", (value,)))


def _lets_through(state: State, person: sqlite3.Row, selection: dict[str, Any]) -> bool:
    name = selection["filter_id"]
    if name in ("and", "or"):
        several = [_lets_through(state, person, inner) for inner in selection["selected_filters"]]
        return all(several) if name == "and" else any(several)
    if KNOWN[name].most is not None:
        value = _measured(person, name)
        ends = selection["selected_range"]
        return bool(ends.get("lower", value) <= value <= ends.get("upper", value))
    is_met = _is_met(state, person, name, selection["selected_values"])
    return not is_met if name.endswith("blocklist") else is_met


def _measured(person: sqlite3.Row, name: str) -> float:
    if name == "approval_rate":
        return approval_rate(person["approvals"], person["rejections"])
    return int(person["approvals" if name == "approval_numbers" else "age"])


def _is_met(state: State, person: sqlite3.Row, name: str, values: Sequence[str]) -> bool:
    if name in ("custom_allowlist", "custom_blocklist"):
        return person["id"] in values
    query = _MEETS.get(name)
    if query is None:
        return not set(json.loads(person["answers"]).get(name, [])).isdisjoint(values)
    return any(state.number(query, (person["id"], value)) for value in values)


def _choices(state: State, data_type: str, workspace_id: str) -> dict[str, str]:
    if data_type == "StudyID":
        rows = state.rows(
            "SELECT id, json_extract(fields, '$.name') AS name FROM study "
            "WHERE workspace_id = ? AND published_ms IS NOT NULL ORDER BY number",
            (workspace_id,),
        )
    else:
        rows = state.rows(
            "SELECT id, name FROM participant_group "
            "WHERE workspace_id = ? AND NOT is_deleted ORDER BY number",
            (workspace_id,),
        )
    return {row["id"]: row["name"] for row in rows}
