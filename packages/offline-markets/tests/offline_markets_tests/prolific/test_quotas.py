"""A study's places are divided by the weightings of a filter."""

from typing import Any

import pytest

from offline_markets_tests.prolific.people import Refused, Researcher

LANGUAGE = "first-language"


def _filter(*values: str, **weightings: object) -> dict[str, Any]:
    names = {name.removeprefix("v"): weight for name, weight in weightings.items()}
    return {"filter_id": LANGUAGE, "selected_values": list(values), "weightings": names}


@pytest.mark.parametrize(
    "wrong",
    [
        _filter("0", "1", v2=50),
        _filter("0", "1", v0=0, v1=1),
        _filter("0", "1", v0=True, v1=1),
        {"filter_id": LANGUAGE, "selected_values": ["0"], "weightings": [1]},
    ],
)
def test_weightings_that_fit_no_value_are_refused(
    researcher: Researcher, wrong: dict[str, Any]
) -> None:
    """Wherever filters are sent."""
    with pytest.raises(Refused, match="weightings"):
        researcher.post("/eligibility-count/", filters=[wrong])


def test_each_value_has_its_part_of_the_places(researcher: Researcher) -> None:
    """Of four places one for English; who returns a place gives it back."""
    study = researcher.study(filters=[_filter("0", "1", v0=1, v1=3)], total_available_places=4)
    ann, bob = (researcher.participant(answers={LANGUAGE: ["0"]}) for _ in range(2))
    both = researcher.participant(answers={LANGUAGE: ["0", "1"]})
    other = researcher.participant(answers={LANGUAGE: ["2"]})
    place = ann.take(study)
    people = (bob, both, other)
    assert [study in each.studies() for each in people] == [False, True, False]
    ann.give_back(place)
    assert study in bob.studies()


def test_a_value_without_a_weighting_may_have_all_places(researcher: Researcher) -> None:
    """Only the stated ones are limited."""
    study = researcher.study(filters=[_filter("0", "1", v0=1)], total_available_places=2)
    for _ in range(2):
        researcher.participant(answers={LANGUAGE: ["1"]}).take(study)
