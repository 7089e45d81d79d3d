"""Studies with several pages: who is sent where."""

import pytest

from offline_markets_tests.prolific.people import STUDY, Refused, Researcher

FIRST, SECOND = "https://work.example/1?id={{%SESSION_ID%}}", "https://work.example/2"


def _pages(first: int, second: int) -> list[dict[str, object]]:
    return [
        {"external_url": FIRST, "total_allocation": first},
        {"external_url": SECOND, "total_allocation": second},
    ]


def _study(researcher: Researcher, **changes: object) -> str:
    return researcher.study(
        external_study_url="",
        **{"access_details": _pages(2, 1), "total_available_places": 3, **changes},
    )


def _progress(researcher: Researcher, study_id: str) -> list[tuple[int, int, int]]:
    """For each page how many it wants, has, and got beyond that."""
    read = researcher.get(f"/studies/{study_id}/access-details-progress/")
    assert [page["external_url"] for page in read["progress"]] == [FIRST, SECOND]
    names = ("total_allocation", "allocated", "capacity_increments")
    return [tuple(page[name] for name in names) for page in read["progress"]]


def test_participants_are_spread_over_the_pages(researcher: Researcher) -> None:
    """The placeholders of each page are filled in; a returned place is free again."""
    study_id = _study(researcher)
    people = [researcher.participant() for _ in range(3)]
    taken = [each.ask("POST", f"/studies/{study_id}", {}) for each in people]
    first = f"https://work.example/1?id={taken[0]['submission_id']}"
    assert taken[0]["url"] == first
    assert taken[1]["url"] == SECOND
    assert taken[2]["url"] == f"https://work.example/1?id={taken[2]['submission_id']}"
    assert _progress(researcher, study_id) == [(2, 2, 0), (1, 1, 0)]
    people[1].give_back(taken[1]["submission_id"])
    assert _progress(researcher, study_id) == [(2, 2, 0), (1, 0, 0)]
    [mine] = people[0].ask("GET", "/submissions")["results"]
    assert mine["url"] == first


def test_a_participant_sees_each_page_once(researcher: Researcher) -> None:
    """However many submissions the study allows."""
    study_id = _study(researcher, submissions_config={"max_submissions_per_participant": 3})
    someone = researcher.participant()
    someone.do(study_id)
    someone.do(study_id)
    assert _progress(researcher, study_id) == [(2, 1, 0), (1, 1, 0)]
    assert someone.studies() == []
    with pytest.raises(Refused, match="No page of this study has a place"):
        someone.take(study_id)


def test_a_screened_out_participant_is_replaced_at_the_same_page(researcher: Researcher) -> None:
    """The capacity of the page grows by one."""
    screened_out = {
        "code": "SCREENED",
        "code_type": "FIXED_SCREENOUT",
        "actions": [
            {"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 20, "slots": 5}
        ],
    }
    study_id = _study(
        researcher,
        completion_codes=[*STUDY["completion_codes"], screened_out],
        access_details=_pages(1, 1),
        total_available_places=2,
    )
    researcher.participant().do(study_id, "SCREENED")
    researcher.participant().do(study_id)
    assert _progress(researcher, study_id) == [(1, 1, 1), (1, 1, 0)]
    last = researcher.participant()
    submission_id = last.take(study_id)
    [mine] = last.ask("GET", "/submissions")["results"]
    assert mine["url"] == f"https://work.example/1?id={submission_id}"
    assert _progress(researcher, study_id) == [(1, 2, 1), (1, 1, 0)]


def test_allocations_of_a_published_study_grow(researcher: Researcher) -> None:
    """With its places; none is taken away."""
    study_id = _study(researcher)
    path = f"/studies/{study_id}/"
    more = {"access_details": _pages(2, 4), "total_available_places": 6}
    changed = researcher.ask("PATCH", path, more)
    assert changed["total_available_places"] == 6
    assert _progress(researcher, study_id) == [(2, 0, 0), (4, 0, 0)]
    with pytest.raises(Refused, match="can only be added and raised"):
        researcher.ask("PATCH", path, {"access_details": _pages(3, 3)})
    researcher.books()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"external_study_url": "https://work.example/"}, "not both"),
        ({"access_details": []}, "This field is required"),
        ({"total_available_places": 4}, "3 are allocated"),
        ({"access_details": [*_pages(1, 1), *_pages(1, 1)]}, "named once"),
        ({"access_details": [{"external_url": "x", "total_allocation": 3}]}, "pattern"),
    ],
)
def test_what_does_not_fit_is_refused(
    researcher: Researcher, changes: dict[str, object], sentence: str
) -> None:
    """The sentence says what."""
    fields = {
        "external_study_url": "",
        "access_details": _pages(2, 1),
        "total_available_places": 3,
        **changes,
    }
    with pytest.raises(Refused, match=sentence):
        researcher.draft(**fields)


def test_a_study_with_one_page_has_no_progress(researcher: Researcher) -> None:
    """404, as documented."""
    study_id = researcher.study()
    with pytest.raises(Refused, match="has no access details") as refusal:
        researcher.get(f"/studies/{study_id}/access-details-progress/")
    assert refusal.value.status == 404
