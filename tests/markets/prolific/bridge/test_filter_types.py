"""Each of Prolific's filters is a qualification type of the marketplace."""

from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from piecework.markets.prolific.bridge.status import read_status
from tests.markets.prolific.bridge.town import Town, a_town

LANGUAGE, AGE = "PROLIFICFIRSTLANGUAGE", "PROLIFICAGE"


def asked(type_id: str, comparator: str, *values: int) -> dict[str, Any]:
    """A requirement, as boto3 takes it."""
    numbers = {"IntegerValues": list(values)} if values else {}
    return {"QualificationTypeId": type_id, "Comparator": comparator, **numbers}


def filters_of(town: Town, *requirements: dict[str, Any]) -> dict[str, Any]:
    """The filters of the study that is published for HITs with these requirements."""
    town.post(QualificationRequirements=list(requirements))
    town.settle()
    [study] = [each for each in town.studies() if each["status"] == "ACTIVE"]
    document = town.researcher.get(f"/studies/{study['id']}/")
    return {each["filter_id"]: each for each in document["filters"]}


def trouble(town: Town, *requirements: dict[str, Any]) -> str:
    """Why no study is published for such HITs."""
    town.post(QualificationRequirements=list(requirements))
    town.settle()
    assert town.studies() == []
    [row] = town.rows("SELECT trouble FROM studies")
    return str(row["trouble"])


def test_a_program_finds_the_filters_and_what_their_values_mean(town: Town) -> None:
    """By the operations that MTurk has."""
    town.settle()
    made = town.requester.get_qualification_type(QualificationTypeId=LANGUAGE)
    assert made["QualificationType"]["Name"] == "Prolific: First language"
    text = made["QualificationType"]["Description"]
    assert text == ("Prolific's filter first-language: 0 English, 1 German, 2 French, 3 Spanish")
    made = town.requester.get_qualification_type(QualificationTypeId=AGE)
    assert made["QualificationType"]["Description"].endswith("a number from 18 to 100")
    for apart in ("CUSTOMALLOWLIST", "PARTICIPANTGROUPALLOWLIST", "APPROVALRATE"):
        with pytest.raises(ClientError, match="does not exist"):
            town.requester.get_qualification_type(QualificationTypeId=f"PROLIFIC{apart}")


def test_requirements_become_filters_of_the_study(town: Town) -> None:
    """Choices, and a range from both ends; then people work as usual."""
    town.settle()
    filters = filters_of(
        town,
        asked(LANGUAGE, "In", 0, 1),
        asked(AGE, "GreaterThanOrEqualTo", 20),
        asked(AGE, "LessThan", 41),
    )
    assert filters["first-language"]["selected_values"] == ["0", "1"]
    assert filters["age"]["selected_range"] == {"lower": 20, "upper": 40}
    ann = town.visitor(age=30, answers={"first-language": ["1"]})
    ann.work(town.study())
    assert town.rows("SELECT status FROM assignments") == [{"status": "Submitted"}]


def test_all_but_some_choices(town: Town) -> None:
    """Prolific only knows which to let in, so the others are named."""
    town.settle()
    filters = filters_of(town, asked(LANGUAGE, "NotIn", 0))
    assert filters["first-language"]["selected_values"] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("requirements", "words"),
    [
        ([asked(LANGUAGE, "In", 0, 9)], "first-language has no choice 9"),
        ([asked(LANGUAGE, "GreaterThan", 1)], "choices without an order"),
        ([asked(LANGUAGE, "DoesNotExist")], "without an answer to first-language"),
        ([asked(AGE, "LessThan", 12)], "filter age is from 18 to 100, not 12"),
        (
            [asked(AGE, "GreaterThan", 50), asked(AGE, "LessThan", 30)],
            "no participant can meet age from 51 to 29",
        ),
    ],
)
def test_what_prolific_cannot_filter_is_said_and_nothing_is_published(
    town: Town, requirements: list[dict[str, Any]], words: str
) -> None:
    """The study's row has the sentence, which status and log show."""
    town.settle()
    assert words in trouble(town, *requirements)


def test_a_study_for_few_people_says_so(town: Town, caplog: pytest.LogCaptureFixture) -> None:
    """Prolific counts fewer than 25 as none; the study is published all the same."""
    town.settle()
    for _ in range(26):
        town.researcher.participant(answers={"first-language": ["1"]})
    town.post(QualificationRequirements=[asked(LANGUAGE, "In", 1)], Title="German")
    town.post(QualificationRequirements=[asked(LANGUAGE, "In", 2)], Title="French")
    town.post(Title="Anybody")
    town.settle()
    rows = town.rows(
        "SELECT title, eligible, stage, trouble FROM studies "
        "JOIN hit_types ON hit_types.id = studies.hit_type ORDER BY title"
    )
    assert [(row["title"], row["eligible"]) for row in rows] == [
        ("Anybody", None),
        ("French", 0),
        ("German", 26),
    ]
    assert {(row["stage"], row["trouble"]) for row in rows} == {("Published", "")}
    assert caplog.text.count("fewer than 25 participants") == 1
    with town.bridge.backend.transaction() as transaction:
        status = read_status(transaction)
    assert [study.eligible for study in status.of_hit_types].count(0) == 1


def test_a_filter_that_prolific_does_not_have_is_refused_at_once(town: Town) -> None:
    """As any unknown type."""
    town.settle()
    with pytest.raises(ClientError, match="PROLIFICZEBRA does not exist"):
        town.post(QualificationRequirements=[asked("PROLIFICZEBRA", "In", 1)])


def test_only_participants_of_prolific_hold_them(tmp_path: Path) -> None:
    """A worker of the marketplace's own is not let in."""
    with a_town(tmp_path) as town:
        town.settle()
        town.post(QualificationRequirements=[asked(LANGUAGE, "In", 0)])
        [row] = town.rows(
            "SELECT count(*) AS n FROM qualification_types WHERE outside_market = 'prolific'"
        )
        assert row["n"] > 3
        assert town.rows("SELECT count(*) AS n FROM qualifications") == [{"n": 0}]
