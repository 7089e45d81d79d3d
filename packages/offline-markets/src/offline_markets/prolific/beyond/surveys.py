"""Surveys that Prolific itself can show, and the responses to them.

A survey has sections with questions, or questions alone. Nothing shows a survey to the
participants of the emulator: programs create its responses.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import AfterValidator, model_validator

from offline_markets.core.clock import iso
from offline_markets.core.errors import ApiError, not_found, wrong
from offline_markets.prolific.body import Closed, Text, as_sent, read
from offline_markets.prolific.call import Call
from offline_markets.prolific.operation import Operation
from offline_markets.prolific.pages import listing
from offline_markets.prolific.state import State
from offline_markets.prolific.submission import Submission

_PAGE_SIZE = 100


def _uuid(text: str) -> str:
    return str(UUID(text))


Uuid = Annotated[str, AfterValidator(_uuid)]


class _Answer(Closed):
    id: Uuid | None = None
    value: Text


class _Question(Closed):
    id: Uuid | None = None
    title: Text
    type: Literal["single", "multiple"]
    answers: list[_Answer]


class _Section(Closed):
    id: Uuid | None = None
    title: Text
    questions: list[_Question]


class _Survey(Closed):
    researcher_id: Text
    title: Text
    sections: list[_Section] | None = None
    questions: list[_Question] | None = None

    @model_validator(mode="after")
    def _has_sections_or_questions(self) -> Self:
        if not self.sections and not self.questions:
            raise ValueError("questions: sections or questions are needed")
        if self.sections and self.questions:
            raise ValueError("questions: give sections or questions, not both")
        return self


class _Chosen(Closed):
    answer_id: Uuid
    value: str


class _Answered(Closed):
    question_id: Uuid
    question_title: str
    answers: list[_Chosen]


class _AnsweredSection(Closed):
    section_id: Uuid
    questions: list[_Answered]


class _Response(Closed):
    participant_id: Text
    submission_id: Text
    sections: list[_AnsweredSection] | None = None
    questions: list[_Answered] | None = None

    @model_validator(mode="after")
    def _has_answers(self) -> Self:
        if not self.sections and not self.questions:
            raise ValueError("questions: sections or questions are needed")
        return self


def list_surveys(call: Call) -> dict[str, Any]:
    """List a researcher's surveys."""
    researcher_id = call.query.get("researcher_id")
    if not researcher_id:
        raise wrong("researcher_id", "This field is required.")
    return listing(
        call,
        "survey WHERE researcher_id = ?",
        [researcher_id],
        render=_document,
        page_size=_PAGE_SIZE,
    )


def create(call: Call) -> dict[str, Any]:
    """Create a survey; its parts get ids unless they have some."""
    survey = read(_Survey, call)
    if call.state.is_strict and survey.researcher_id != call.state.user_id:
        raise wrong("researcher_id", "Not the id of this account.")
    content = as_sent(survey)
    ids = [_identify(call.state, part) for part in _parts(content)]
    if len(set(ids)) < len(ids):
        raise wrong("questions", "Each id must be unique in its survey.")
    survey_id = call.state.new_id()
    call.state.conn.execute(
        "INSERT INTO survey (id, researcher_id, content, created_ms) VALUES (?, ?, ?, ?)",
        (survey_id, survey.researcher_id, json.dumps(content), call.state.now_ms),
    )
    return _document(_row(call.state, survey_id))


def get(call: Call) -> dict[str, Any]:
    """Return one survey."""
    return _document(_row(call.state, call.path["survey_id"]))


def delete(call: Call) -> dict[str, Any]:
    """Delete a survey and its responses."""
    row = _row(call.state, call.path["survey_id"])
    call.state.conn.execute("DELETE FROM survey WHERE id = ?", (row["id"],))
    return {}


def list_responses(call: Call) -> dict[str, Any]:
    """List the responses to a survey."""
    return listing(
        call,
        "survey_response WHERE survey_id = ?",
        [_row(call.state, call.path["survey_id"])["id"]],
        render=_document,
    )


def create_response(call: Call) -> dict[str, Any]:
    """Store a response, whose questions and answers must be the survey's."""
    survey = _row(call.state, call.path["survey_id"])
    response = read(_Response, call)
    if call.state.is_strict:
        _check_people(call.state, response)
    content = as_sent(response)
    _check_answers(json.loads(survey["content"]), content)
    response_id = call.state.new_id()
    call.state.conn.execute(
        "INSERT INTO survey_response (id, survey_id, content, created_ms) VALUES (?, ?, ?, ?)",
        (response_id, survey["id"], json.dumps(content), call.state.now_ms),
    )
    return _document(_response_row(call.state, survey["id"], response_id))


def delete_responses(call: Call) -> dict[str, Any]:
    """Delete all responses to a survey."""
    survey_id = _row(call.state, call.path["survey_id"])["id"]
    call.state.conn.execute("DELETE FROM survey_response WHERE survey_id = ?", (survey_id,))
    return {}


def get_response(call: Call) -> dict[str, Any]:
    """Return one response."""
    return _document(_asked_response(call))


def delete_response(call: Call) -> dict[str, Any]:
    """Delete one response."""
    call.state.conn.execute(
        "DELETE FROM survey_response WHERE id = ?", (_asked_response(call)["id"],)
    )
    return {}


def summarize(call: Call) -> dict[str, Any]:
    """Count how many responses answer each question, and how often each answer."""
    survey = _row(call.state, call.path["survey_id"])
    answered, chosen = Counter[str](), Counter[str]()
    for row in call.state.rows(
        "SELECT content FROM survey_response WHERE survey_id = ?", (survey["id"],)
    ):
        for question in _questions(json.loads(row["content"])):
            answered[question["question_id"]] += bool(question["answers"])
            chosen.update(each["answer_id"] for each in question["answers"])
    return {
        "survey_id": survey["id"],
        "questions": [
            {
                "question_id": question["id"],
                "question": question["title"],
                "total_answers": answered[question["id"]],
                "answers": [
                    {
                        "answer_id": answer["id"],
                        "answer": answer["value"],
                        "count": chosen[answer["id"]],
                    }
                    for answer in question["answers"]
                ],
            }
            for question in _questions(json.loads(survey["content"]))
        ],
    }


def _parts(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the sections, questions and answers of a survey."""
    yield from content.get("sections", ())
    for question in _questions(content):
        yield question
        yield from question["answers"]


def _questions(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the questions of a survey or of a response, in order."""
    inner = [
        question for section in content.get("sections", ()) for question in section["questions"]
    ]
    return [*inner, *content.get("questions", ())]


def _identify(state: State, part: dict[str, Any]) -> str:
    part.setdefault("id", state.new_uuid())
    return str(part["id"])


def _check_people(state: State, response: _Response) -> None:
    submission = Submission.find(state, response.submission_id)
    if submission.participant_id != response.participant_id:
        raise wrong("participant_id", "The submission is another participant's.")


def _check_answers(survey: dict[str, Any], response: dict[str, Any]) -> None:
    sections = {section["id"] for section in survey.get("sections", ())}
    for section in response.get("sections", ()):
        if section["section_id"] not in sections:
            raise wrong("sections", f"No section {section['section_id']}.")
    questions = {question["id"]: question for question in _questions(survey)}
    for answered in _questions(response):
        question = questions.get(answered["question_id"])
        if question is None:
            raise wrong("questions", f"No question {answered['question_id']}.")
        known = {answer["id"] for answer in question["answers"]}
        chosen = [answer["answer_id"] for answer in answered["answers"]]
        if not known.issuperset(chosen):
            raise wrong("questions", f"Not an answer to {question['title']}.")
        if question["type"] == "single" and len(chosen) > 1:
            raise wrong("questions", f"{question['title']} has one answer.")


def _row(state: State, survey_id: str) -> sqlite3.Row:
    row = state.row("SELECT * FROM survey WHERE id = ?", (survey_id,))
    if row is None:
        raise not_found("survey", survey_id)
    return row


def _asked_response(call: Call) -> sqlite3.Row:
    survey_id = _row(call.state, call.path["survey_id"])["id"]
    return _response_row(call.state, survey_id, call.path["response_id"])


def _response_row(state: State, survey_id: str, response_id: str) -> sqlite3.Row:
    row = state.row(
        "SELECT * FROM survey_response WHERE survey_id = ? AND id = ?", (survey_id, response_id)
    )
    if row is None:
        raise ApiError(404, f"No response {response_id} was found.")
    return row


def _document(row: sqlite3.Row) -> dict[str, Any]:
    return {
        "_id": row["id"],
        # Nothing changes a survey or a response.
        "date_created": iso(row["created_ms"]),
        "date_modified": iso(row["created_ms"]),
        **json.loads(row["content"]),
    }


_SURVEY = "/surveys/{survey_id}"
_RESPONSES = f"{_SURVEY}/responses/"

OPERATIONS = (
    Operation("get-surveys", "GET", "/surveys/", list_surveys),
    Operation("create-survey", "POST", "/surveys/", create, 201),
    Operation("get-survey", "GET", _SURVEY, get),
    Operation("delete-survey", "DELETE", _SURVEY, delete),
    Operation("get-responses", "GET", _RESPONSES, list_responses),
    Operation("create-response", "POST", _RESPONSES, create_response, 201),
    Operation("delete-responses", "DELETE", _RESPONSES, delete_responses),
    Operation("get-summary", "GET", f"{_RESPONSES}summary/", summarize),
    Operation("get-response", "GET", f"{_RESPONSES}{{response_id}}", get_response),
    Operation("delete-response", "DELETE", f"{_RESPONSES}{{response_id}}", delete_response),
)
