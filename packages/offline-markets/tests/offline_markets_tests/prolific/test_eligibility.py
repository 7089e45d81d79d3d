"""Filters and participant groups: who sees a study."""

import json
from typing import Any

import pytest

from offline_markets.prolific.filters import approval_rate
from offline_markets.prolific.options import Options
from offline_markets.prolific.server import serve
from offline_markets_tests.prolific.people import START, Refused, Researcher
from offline_markets_tests.prolific.test_studies import REJECTION

COUNTRY = "current-country-of-residence"


def _select(filter_id: str, *values: str) -> dict[str, Any]:
    return {"filter_id": filter_id, "selected_values": list(values)}


def _range(filter_id: str, **ends: int) -> dict[str, Any]:
    return {"filter_id": filter_id, "selected_range": ends}


def _group(researcher: Researcher, *people: str) -> str:
    made = researcher.post(
        "/participant-groups/",
        workspace_id=researcher.workspace_id(),
        name="Those who may",
        participant_ids=list(people),
    )
    return str(made["id"])


@pytest.mark.parametrize(
    ("filters", "sees"),
    [
        ([], True),
        ([_select(COUNTRY, "0")], True),
        ([_select(COUNTRY, "1")], False),
        ([_select(COUNTRY, "1", "0")], True),
        ([_range("age", lower=30, upper=30)], True),
        ([_range("age", lower=31)], False),
        ([_range("approval_numbers", lower=90, upper=100)], True),
        ([_range("approval_numbers", upper=89)], False),
        # 90 of 100 may be as many as 94.5 %.
        ([_range("approval_rate", lower=94)], True),
        ([_range("approval_rate", lower=95)], False),
        ([_select("handedness", "0")], True),
        ([_select("handedness", "1", "2")], False),
        ([_select("first-language", "0")], False),
        ([_range("age", lower=30), _select(COUNTRY, "1")], False),
        (
            [
                {
                    "filter_id": "or",
                    "selected_filters": [
                        _select(COUNTRY, "1"),
                        {
                            "filter_id": "and",
                            "selected_filters": [
                                _range("age", upper=40),
                                _select("handedness", "0"),
                            ],
                        },
                    ],
                }
            ],
            True,
        ),
    ],
)
def test_a_filter_lets_through_whom_it_describes(
    researcher: Researcher, filters: list[dict[str, Any]], *, sees: bool
) -> None:
    """Somebody in the United Kingdom, 30, left-handed, 90 of 100 approved."""
    someone = researcher.participant(
        country="GB", age=30, approvals=90, rejections=10, answers={"handedness": ["0"]}
    )
    study_id = researcher.study(filters=filters)
    assert someone.studies() == ([study_id] if sees else [])
    if not sees:
        with pytest.raises(Refused):
            someone.take(study_id)


def test_the_approval_rate_is_the_upper_end_of_its_interval() -> None:
    """Wilson's, by a table: 8 of 10 are within 49.0 and 94.3 %; 0 of 10 below 27.8."""
    assert round(approval_rate(8, 2), 1) == 94.3
    assert round(approval_rate(0, 10), 1) == 27.8
    assert approval_rate(0, 0) == 100


def test_lists_of_people_let_in_and_keep_out(researcher: Researcher) -> None:
    """By their ids."""
    first, second = researcher.participant(), researcher.participant()
    only = researcher.study(filters=[_select("custom_allowlist", first.participant_id)])
    without = researcher.study(filters=[_select("custom_blocklist", first.participant_id)])
    assert first.studies() == [only]
    assert second.studies() == [without]


def test_an_earlier_study_lets_in_and_keeps_out(researcher: Researcher) -> None:
    """Who took part and did not return it."""
    earlier = researcher.study()
    did, returned = researcher.participant(), researcher.participant()
    did.do(earlier)
    returned.give_back(returned.take(earlier))
    researcher.move(earlier, "STOP")
    again = researcher.study(filters=[_select("previous_studies_allowlist", earlier)])
    fresh = researcher.study(filters=[_select("previous_studies_blocklist", earlier)])
    assert did.studies() == [again]
    assert returned.studies() == [fresh]


def test_a_group_changes_who_sees_a_running_study(researcher: Researcher) -> None:
    """Filters are locked, but the group that they name is not."""
    first, second = researcher.participant(), researcher.participant()
    allowed, blocked = _group(researcher, first.participant_id), _group(researcher)
    study_id = researcher.study(
        filters=[
            _select("participant_group_allowlist", allowed),
            _select("participant_group_blocklist", blocked),
        ]
    )
    assert (first.studies(), second.studies()) == ([study_id], [])
    path = f"/participant-groups/{allowed}/participants/"
    researcher.post(path, participant_ids=[second.participant_id])
    members = researcher.post(path, participant_ids=[second.participant_id])
    assert [member["participant_id"] for member in members["results"]] == [
        first.participant_id,
        second.participant_id,
    ]
    researcher.post(
        f"/participant-groups/{blocked}/participants/", participant_ids=[first.participant_id]
    )
    assert (first.studies(), second.studies()) == ([], [study_id])
    left = researcher.ask("DELETE", path, {"participant_ids": [second.participant_id]})
    assert [member["participant_id"] for member in left["results"]] == [first.participant_id]
    assert second.studies() == []


def test_several_groups_are_or_and_repeated_filters_are_and(researcher: Researcher) -> None:
    """As documented."""
    both, first_only = researcher.participant(), researcher.participant()
    first = _group(researcher, both.participant_id, first_only.participant_id)
    second = _group(researcher, both.participant_id)
    name = "participant_group_allowlist"
    any_of = researcher.study(filters=[_select(name, first, second)])
    all_of = researcher.study(filters=[_select(name, first), _select(name, second)])
    assert both.studies() == [any_of, all_of]
    assert first_only.studies() == [any_of]


def test_a_group_is_renamed_emptied_and_deleted(researcher: Researcher) -> None:
    """Deleting only marks it; lists can leave it out."""
    someone = researcher.participant()
    group_id = _group(researcher, someone.participant_id)
    path = f"/participant-groups/{group_id}/"
    changed = researcher.ask("PATCH", path, {"name": "Others", "participant_ids": []})
    assert (changed["name"], changed["participant_count"]) == ("Others", 0)
    researcher.ask("DELETE", path)
    assert researcher.get(path)["is_deleted"] is True
    asked = {"workspace_id": researcher.workspace_id()}
    listed = researcher.get("/participant-groups/", **asked)["results"]
    assert [group["id"] for group in listed] == [group_id]
    assert researcher.get("/participant-groups/", active="true", **asked)["results"] == ([])


def test_groups_are_listed_by_workspace_in_three_spellings(researcher: Researcher) -> None:
    """The document does not say how a query spells an object."""
    group_id, workspace_id = _group(researcher), researcher.workspace_id()
    [project] = researcher.get(f"/workspaces/{workspace_id}/")["projects"]
    for query in (
        {"workspace_id": workspace_id},
        {"project_id": project["id"]},
        {"filter[workspace_id]": workspace_id},
        {"filter": json.dumps({"workspace_id": workspace_id})},
    ):
        [group] = researcher.get("/participant-groups/", **query)["results"]
        assert group["id"] == group_id
    with pytest.raises(Refused):
        researcher.get("/participant-groups/")


def test_who_is_not_known_enters_no_group(researcher: Researcher) -> None:
    """And then nobody does."""
    someone, group_id = researcher.participant(), _group(researcher)
    path = f"/participant-groups/{group_id}/participants/"
    with pytest.raises(Refused) as caught:
        researcher.post(path, participant_ids=[someone.participant_id, "nobody"])
    assert "nobody" in str(caught.value.detail)
    assert researcher.get(path)["results"] == []


def test_a_code_puts_into_a_group_and_takes_out(researcher: Researcher) -> None:
    """The group tells which codes feed it."""
    group_id = _group(researcher)
    codes = [
        {
            "code": name,
            "code_type": "OTHER",
            "actions": [
                {"action": f"{name}_PARTICIPANT_GROUP", "participant_group": group_id},
                {"action": "MANUALLY_REVIEW"},
            ],
        }
        for name in ("ADD_TO", "REMOVE_FROM")
    ]
    config = {"max_submissions_per_participant": 2}
    study_id = researcher.study(completion_codes=codes, submissions_config=config)
    someone = researcher.participant()
    path = f"/participant-groups/{group_id}/"
    someone.do(study_id, "ADD_TO")
    assert researcher.get(path)["participant_count"] == 1
    someone.do(study_id, "REMOVE_FROM")
    group = researcher.get(path)
    assert group["participant_count"] == 0
    [feeder] = group["feeder_studies"]
    assert feeder["id"] == study_id
    assert [code["code"] for code in feeder["feeder_completion_codes"]] == ["ADD_TO", "REMOVE_FROM"]


@pytest.mark.parametrize(
    "wrong_filter",
    [
        {"filter_id": "shoe-size", "selected_values": ["0"]},
        {"filter_id": "age", "selected_values": ["30"]},
        {"filter_id": "age", "selected_range": {"lower": 12}},
        {"filter_id": "age", "selected_range": {}},
        {"filter_id": "age", "selected_range": {"lower": True}},
        {"filter_id": COUNTRY, "selected_values": ["GB"]},
        {"filter_id": COUNTRY},
        {"filter_id": "participant_group_allowlist", "selected_values": ["nobody"]},
        {"filter_id": "and", "selected_filters": []},
    ],
)
def test_a_filter_that_cannot_be_is_refused(
    researcher: Researcher, wrong_filter: dict[str, Any]
) -> None:
    """A study with it is not made, and nobody is counted for it."""
    for path, body in (
        ("/eligibility-count/", {"filters": [wrong_filter]}),
        ("/studies/", {"filters": [wrong_filter]}),
    ):
        with pytest.raises(Refused) as caught:
            researcher.post(path, **body)
        assert caught.value.status == 400
        assert "filters" in caught.value.detail or path == "/studies/"


def test_few_are_counted_as_none() -> None:
    """Of 200 drawn participants, a country's share; below 25 the count is 0."""
    options = Options(start=START, seed=3, participants=200)
    with serve(options) as url, Researcher(url) as researcher:
        people = researcher.control("GET", "/participants")["results"]
        british = sum(person["country"] == "GB" for person in people)
        assert 25 <= british < 200
        for filters, count in (
            ([], 200),
            ([_select(COUNTRY, "0")], british),
            ([_range("age", lower=100)], 0),
            ([_select("custom_allowlist", people[0]["id"])], 0),
        ):
            assert researcher.post("/eligibility-count/", filters=filters) == {"count": count}


def test_the_list_of_filters_names_what_can_be_chosen(researcher: Researcher) -> None:
    """Of a workspace, its groups and its studies too."""
    study_id, group_id = researcher.study(), _group(researcher)
    researcher.status(study_id)
    listed = researcher.get("/filters/", workspace_id=researcher.workspace_id())
    by_id = {entry["filter_id"]: entry for entry in listed["results"]}
    assert by_id[COUNTRY]["choices"]["1"] == "United States"
    assert list(by_id["participant_group_allowlist"]["choices"]) == [group_id]
    assert list(by_id["previous_studies_blocklist"]["choices"]) == [study_id]
    assert (by_id["approval_rate"]["min"], by_id["approval_rate"]["max"]) == (0, 100)


@pytest.mark.parametrize(
    "described",
    [
        {"country": "XX"},
        {"age": 12},
        {"approvals": -1},
        {"shoe_size": 43},
        {"answers": {"handedness": ["9"]}},
    ],
)
def test_a_participant_who_cannot_be_is_not_let_in(
    researcher: Researcher, described: dict[str, Any]
) -> None:
    """What is wrong is named."""
    with pytest.raises(Refused) as caught:
        researcher.participant(**described)
    assert list(caught.value.detail) == list(described)


def test_a_rejection_lowers_the_rate_that_filters_see(researcher: Researcher) -> None:
    """One of two: the interval ends at 90.5 %."""
    someone = researcher.participant(approvals=1, rejections=0)
    study_id = researcher.study()
    strict = researcher.study(filters=[_range("approval_rate", lower=95)])
    assert strict in someone.studies()
    researcher.judge(someone.do(study_id), "REJECT", **REJECTION)
    assert strict not in someone.studies()
