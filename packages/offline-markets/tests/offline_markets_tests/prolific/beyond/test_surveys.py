"""Surveys, their responses, and the summary of these."""

from typing import Any

import pytest

from offline_markets_tests.prolific.people import Refused, Researcher

COLOURS = {
    "title": "Which colour is the bird?",
    "type": "single",
    "answers": [{"value": "red"}, {"value": "blue"}],
}
PLACES = {
    "title": "Where does it sit?",
    "type": "multiple",
    "answers": [{"value": "wire"}, {"value": "tree"}, {"value": "roof"}],
}


def _survey(researcher: Researcher, **content: object) -> Any:  # noqa: ANN401 - JSON
    me = researcher.get("/users/me/")["id"]
    return researcher.post(
        "/surveys/", researcher_id=me, title="Birds", **(content or _IN_SECTIONS)
    )


_IN_SECTIONS: dict[str, object] = {
    "sections": [{"title": "The picture", "questions": [COLOURS, PLACES]}]
}


def _questions(survey: dict[str, Any]) -> list[dict[str, Any]]:
    [section] = survey["sections"]
    questions: list[dict[str, Any]] = section["questions"]
    return questions


def _answered(question: dict[str, Any], *numbers: int) -> dict[str, Any]:
    """The answers of these numbers, as a response holds them."""
    chosen = [question["answers"][number] for number in numbers]
    return {
        "question_id": question["id"],
        "question_title": question["title"],
        "answers": [{"answer_id": answer["id"], "value": answer["value"]} for answer in chosen],
    }


def _respond(researcher: Researcher, survey: dict[str, Any], *chosen: tuple[int, ...]) -> Any:  # noqa: ANN401 - JSON
    """A participant's response, with the numbers of the answers to each question."""
    someone = researcher.participant()
    submission_id = someone.take(researcher.study())
    answered = [
        _answered(question, *numbers)
        for question, numbers in zip(_questions(survey), chosen, strict=True)
    ]
    return researcher.post(
        f"/surveys/{survey['_id']}/responses/",
        participant_id=someone.participant_id,
        submission_id=submission_id,
        sections=[{"section_id": survey["sections"][0]["id"], "questions": answered}],
    )


def test_a_survey_is_listed_read_and_deleted(researcher: Researcher) -> None:
    """Each part of it gets an id of its own."""
    me = researcher.get("/users/me/")["id"]
    first, second = _survey(researcher), _survey(researcher, questions=[COLOURS])
    listed = researcher.get("/surveys/", researcher_id=me)
    assert listed["results"] == [first, second]
    assert researcher.get(f"/surveys/{second['_id']}") == second
    assert second["questions"][0]["answers"][1]["value"] == "blue"
    parts = [*_questions(first), *_questions(first)[0]["answers"]]
    assert len({part["id"] for part in parts}) == len(parts)
    assert researcher.get("/surveys/", researcher_id="another")["results"] == []
    researcher.ask("DELETE", f"/surveys/{first['_id']}")
    with pytest.raises(Refused, match="No survey"):
        researcher.get(f"/surveys/{first['_id']}")
    assert researcher.get("/surveys/", researcher_id=me)["results"] == [second]


def test_ids_that_were_sent_are_kept(researcher: Researcher) -> None:
    """They are UUIDs, each once."""
    known = "6f9619ff-8b86-4011-b42d-00c04fc964ff"
    question = {**COLOURS, "id": known}
    assert _survey(researcher, questions=[question])["questions"][0]["id"] == known
    with pytest.raises(Refused, match="unique"):
        _survey(researcher, questions=[question, question])
    with pytest.raises(Refused, match="hexadecimal"):
        _survey(researcher, questions=[{**COLOURS, "id": "first"}])


@pytest.mark.parametrize(
    "content",
    [
        {"questions": []},
        {**_IN_SECTIONS, "questions": [COLOURS]},
        {"questions": [{**COLOURS, "type": "open"}]},
        {"questions": [{**COLOURS, "answers": [{"value": ""}]}]},
        {"questions": [COLOURS], "tittle": "Birds"},
    ],
)
def test_what_is_no_survey_is_refused(researcher: Researcher, content: dict[str, object]) -> None:
    """Without questions, with two lists of them, or with a wrong part."""
    with pytest.raises(Refused) as refusal:
        _survey(researcher, **content)
    assert refusal.value.status == 400


def test_responses_are_counted_by_question_and_answer(researcher: Researcher) -> None:
    """red, red and blue; wire and tree, then roof, then no answer."""
    survey = _survey(researcher)
    path = f"/surveys/{survey['_id']}/responses/"
    first = _respond(researcher, survey, (0,), (0, 1))
    _respond(researcher, survey, (0,), (2,))
    last = _respond(researcher, survey, (1,), ())
    assert researcher.get(f"{path}{first['_id']}") == first
    assert len(researcher.get(path)["results"]) == 3
    assert _summary(researcher, survey) == [(3, [2, 1]), (2, [1, 1, 1])]
    researcher.ask("DELETE", f"{path}{last['_id']}")
    assert _summary(researcher, survey) == [(2, [2, 0]), (2, [1, 1, 1])]
    with pytest.raises(Refused, match="No response"):
        researcher.get(f"{path}{last['_id']}")
    researcher.ask("DELETE", path)
    assert researcher.get(path)["results"] == []
    assert _summary(researcher, survey) == [(0, [0, 0]), (0, [0, 0, 0])]


def _summary(researcher: Researcher, survey: dict[str, Any]) -> list[tuple[int, list[int]]]:
    """For each question how often it was answered, and each answer."""
    summary = researcher.get(f"/surveys/{survey['_id']}/responses/summary/")
    assert summary["survey_id"] == survey["_id"]
    return [
        (question["total_answers"], [each["count"] for each in question["answers"]])
        for question in summary["questions"]
    ]


def test_a_response_answers_the_survey_that_it_names(researcher: Researcher) -> None:
    """Other questions, other answers, and two answers to a single question do not."""
    survey, other = _survey(researcher), _survey(researcher)
    with pytest.raises(Refused, match="has one answer"):
        _respond(researcher, survey, (0, 1), (0,))
    with pytest.raises(Refused, match="No section"):
        _respond(researcher, {**other, "_id": survey["_id"]}, (0,), (0,))
    mixed = [{**_questions(survey)[0], "answers": COLOURS["answers"]}]
    mixed[0]["answers"] = _questions(survey)[1]["answers"]
    [section] = survey["sections"]
    with pytest.raises(Refused, match="Not an answer"):
        _respond(researcher, {**survey, "sections": [{**section, "questions": mixed}]}, (0,))


def test_a_response_is_of_a_participant_with_that_submission(researcher: Researcher) -> None:
    """Only a strict emulator holds programs to it."""
    survey = _survey(researcher)
    ann, eve = researcher.participant(), researcher.participant()
    submission_id = ann.take(researcher.study())
    with pytest.raises(Refused, match="another participant"):
        researcher.post(
            f"/surveys/{survey['_id']}/responses/",
            participant_id=eve.participant_id,
            submission_id=submission_id,
            questions=[_answered(_questions(survey)[0], 0)],
        )
