"""Studies with several pages: which participant was sent to which (Taskflow).

A participant gets the page that the fewest were sent to, among those with a place and
without an earlier visit by them. That order is a guess. A screened-out participant
leaves a place for another at the same page, as documented.
"""

import uuid
from collections import Counter
from collections.abc import Mapping
from typing import Any

from offline_markets.core.errors import ApiError
from offline_markets.prolific.call import Call
from offline_markets.prolific.operation import Operation
from offline_markets.prolific.state import State
from offline_markets.prolific.study import OPEN, PAID, Study

_SCREENED_OUT = "SCREENED OUT"


def progress(call: Call) -> dict[str, Any]:
    """Return how many participants are at each page of a study."""
    study = Study.find(call.state, call.path["id"])
    wanted = of_fields(study.fields)
    if not wanted:
        raise ApiError(404, f"The study {study.study_id} has no access details.")
    taken, screened_out = _counts(call.state, study)
    return {
        "id": str(uuid.uuid5(uuid.NAMESPACE_OID, study.study_id)),
        "progress": [
            {
                "external_url": url,
                "total_allocation": count,
                "allocated": taken[url],
                "capacity_increments": screened_out[url],
            }
            for url, count in wanted.items()
        ],
        "_links": {"self": {"href": f"{call.origin}{call.address}"}},
    }


def of_fields(fields: Mapping[str, Any]) -> dict[str, int]:
    """Return how many places each page of a study has; none if it has one page."""
    return {
        detail["external_url"]: detail["total_allocation"]
        for detail in fields.get("access_details") or ()
    }


def has_page(state: State, study: Study, participant_id: str) -> bool:
    """Return whether a participant could be sent to a page of the study."""
    return not of_fields(study.fields) or bool(_open(state, study, participant_id))


def allocate(state: State, study: Study, submission_id: str, participant_id: str) -> None:
    """Choose the page of a new submission, if its study has several."""
    if not of_fields(study.fields):
        return
    state.conn.execute(
        "INSERT INTO allocation (submission_id, url) VALUES (?, ?)",
        (submission_id, _open(state, study, participant_id)[0]),
    )


def page_of(state: State, submission_id: str) -> str:
    """Return the page that a submission was sent to."""
    [row] = state.rows("SELECT url FROM allocation WHERE submission_id = ?", (submission_id,))
    return str(row["url"])


def _open(state: State, study: Study, participant_id: str) -> list[str]:
    """Return the pages with a place for a participant, the emptiest first."""
    taken, screened_out = _counts(state, study)
    seen = {
        row["url"]
        for row in state.rows(
            "SELECT url FROM allocation JOIN submission ON id = submission_id "
            "WHERE study_id = ? AND participant_id = ?",
            (study.study_id, participant_id),
        )
    }
    free = [
        url
        for url, count in of_fields(study.fields).items()
        if url not in seen and taken[url] < count + screened_out[url]
    ]
    return sorted(free, key=lambda url: taken[url])


def _counts(state: State, study: Study) -> tuple[Counter[str], Counter[str]]:
    """Return who is at each page, and who of them was screened out."""
    taken, screened_out = Counter[str](), Counter[str]()
    for row in state.rows(
        "SELECT url, status FROM allocation JOIN submission ON id = submission_id "
        "WHERE study_id = ?",
        (study.study_id,),
    ):
        taken[row["url"]] += row["status"] in (*OPEN, *PAID, _SCREENED_OUT)
        screened_out[row["url"]] += row["status"] == _SCREENED_OUT
    return taken, screened_out


OPERATIONS = (
    Operation(
        "get-study-access-details-progress",
        "GET",
        "/studies/{id}/access-details-progress/",
        progress,
    ),
)
