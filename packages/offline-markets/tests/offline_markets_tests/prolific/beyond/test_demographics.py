"""Exports of who took part, and their limits."""

import csv
import io
from typing import Any

import pytest

from offline_markets_tests.prolific.people import CODE, Participant, Refused, Researcher

OLDER = {"filter_id": "age", "selected_range": {"lower": 40}}
LEFT = {"filter_id": "handedness", "selected_values": ["0"]}


def _table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def _export(
    researcher: Researcher, study_id: str, *filters: dict[str, Any]
) -> list[dict[str, str]]:
    path = f"/studies/{study_id}/demographic-export/"
    return _table(researcher.ask("POST", path, {"filters": list(filters)}))


def _taken_part(researcher: Researcher) -> tuple[str, list[Participant]]:
    """A study, and the young and the old person who took part in it."""
    study_id = researcher.study()
    people = [
        researcher.participant(age=age, country=country, answers=answers)
        for age, country, answers in (
            (22, "GB", {"handedness": ["0"], "first-language": ["1"]}),
            (67, "US", {"handedness": ["1"]}),
        )
    ]
    for someone in people:
        submission_id = someone.take(study_id)
        researcher.wait(minutes=5)
        someone.complete(submission_id)
    return study_id, people


def test_an_export_has_a_row_for_each_submission(researcher: Researcher) -> None:
    """With times in UTC, the seconds taken and what the participant answered."""
    study_id, [young, old] = _taken_part(researcher)
    [mine] = young.ask("GET", "/submissions")["results"]
    researcher.judge(mine["id"], "APPROVE")
    first, second = _export(researcher, study_id)
    assert first["Submission id"] == mine["id"]
    assert first["Participant id"] == young.participant_id
    assert (first["Status"], first["Time taken"]) == ("APPROVED", "300")
    assert first["Started at"] == "2026-01-05T09:00:00.000000Z"
    assert first["Completed at"] == "2026-01-05T09:05:00.000000Z"
    assert first["Reviewed at"] == "2026-01-05T09:10:00.000000Z"
    assert (first["Age"], first["Completion code"]) == ("22", CODE)
    assert first["Total approvals"] == "101"
    assert (first["Country of residence"], first["Language"]) == ("United Kingdom", "German")
    assert second["Participant id"] == old.participant_id
    assert (second["Status"], second["Reviewed at"]) == ("AWAITING REVIEW", "")
    assert (second["Language"], second["Sex"]) == ("DATA_EXPIRED", "DATA_EXPIRED")


def test_filters_add_columns_and_choose_rows(researcher: Researcher) -> None:
    """Also inside a group of filters."""
    study_id, [young, old] = _taken_part(researcher)
    [row] = _export(researcher, study_id, OLDER)
    assert (row["Participant id"], row["age"]) == (old.participant_id, "67")
    either = {"filter_id": "or", "selected_filters": [OLDER, LEFT]}
    rows = _export(researcher, study_id, either)
    assert [row["Participant id"] for row in rows] == [young.participant_id, old.participant_id]
    assert [row["handedness"] for row in rows] == ["Left", "Right"]


def test_two_selections_of_filters_are_exported_as_often_as_wanted(researcher: Researcher) -> None:
    """A third is refused; exports without filters do not count."""
    study_id, _ = _taken_part(researcher)
    path = f"/studies/{study_id}/demographic-export-history/"
    assert researcher.get(path) == {"count": 0, "filters": []}
    for selected in ([OLDER], [OLDER], [], [LEFT], [OLDER]):
        _export(researcher, study_id, *selected)
    assert researcher.get(path) == {"count": 2, "filters": [OLDER]}
    with pytest.raises(Refused, match="2 selections already"):
        _export(researcher, study_id, OLDER, LEFT)
    assert researcher.get(path)["count"] == 2
    assert len(_export(researcher, study_id)) == 2


def test_an_export_has_at_most_fifteen_known_filters(researcher: Researcher) -> None:
    """Those inside groups count."""
    study_id = researcher.study()
    group = {"filter_id": "and", "selected_filters": [OLDER] * 15}
    assert _export(researcher, study_id, group) == []
    with pytest.raises(Refused, match="At most 15"):
        _export(researcher, study_id, group, LEFT)
    with pytest.raises(Refused, match="Unknown filter"):
        _export(researcher, study_id, {**OLDER, "filter_id": "height"})


def test_the_older_export_shows_the_filters_of_the_study(researcher: Researcher) -> None:
    """All participants are in it."""
    study_id = researcher.study(filters=[LEFT])
    someone = researcher.participant(answers={"handedness": ["0"]})
    someone.do(study_id)
    [row] = _table(researcher.get(f"/studies/{study_id}/export/"))
    assert (row["Participant id"], row["handedness"]) == (someone.participant_id, "Left")


def test_a_draft_that_was_exported_can_be_deleted(researcher: Researcher) -> None:
    """Its history goes with it."""
    draft = researcher.draft()
    assert _export(researcher, draft, OLDER) == []
    researcher.ask("DELETE", f"/studies/{draft}/")
    with pytest.raises(Refused, match="No study"):
        researcher.get(f"/studies/{draft}/demographic-export-history/")
