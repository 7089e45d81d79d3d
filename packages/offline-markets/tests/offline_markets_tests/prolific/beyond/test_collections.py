"""Collections: pages that Prolific shows, studies of them, answers and exports."""

import csv
import io
import json
import zipfile
from typing import Any

import httpx
import pytest

from offline_markets.prolific.call import Csv
from offline_markets_tests.prolific.people import Participant, Refused, Researcher

DETAILS = {"task_name": "Birds", "task_introduction": "<p>Look.</p>", "task_steps": "<ol></ol>"}
COLOUR = {
    "type": "multiple_choice",
    "description": "Which colours?",
    "order": 1,
    "answer_limit": 2,
    "options": [
        {"label": "Red", "value": "red"},
        {"label": "Blue", "value": "blue"},
        {"label": "None", "value": "none", "exclusive": True},
    ],
}
LENGTH = {
    "type": "free_text_with_unit",
    "description": "How long is it?",
    "order": 2,
    "unit_position": "suffix",
    "default_unit": "cm",
    "unit_options": [
        {"label": "cm", "value": "cm", "validation": {"type": "number", "min": 1}},
        {"label": "inches", "value": "in"},
    ],
}
CAPTION = {
    "type": "free_text",
    "description": "Describe it.",
    "order": 3,
    "validation": {"type": "string", "min": 5, "max": 40},
}
PICTURE = {"type": "image", "url": "https://x.example/b.png", "alt_text": "A bird"}
TEXT = {"type": "rich_text", "content": "**Look** at <it>", "content_format": "markdown"}


def _content(*pages: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "name": "Birds",
        "task_details": DETAILS,
        "collection_items": [{"page_items": page} for page in pages],
    }


def _create(researcher: Researcher, *pages: list[dict[str, Any]]) -> Any:  # noqa: ANN401 - JSON
    return researcher.post(
        "/data-collection/collections", workspace_id=researcher.workspace_id(), **_content(*pages)
    )


def _questions(collection: dict[str, Any]) -> list[str]:
    """The ids of all questions."""
    return [
        item["id"]
        for page in collection["collection_items"]
        for item in page["page_items"]
        if "description" in item
    ]


def _study(researcher: Researcher, collection: dict[str, Any], **changes: object) -> str:
    return researcher.study(
        **{
            "external_study_url": "",
            "completion_codes": [],
            "data_collection_method": "AI_TASK_BUILDER_COLLECTION",
            "data_collection_id": collection["id"],
            **changes,
        }
    )


def _answer(someone: Participant, submission_id: str, answers: dict[str, list[object]]) -> Any:  # noqa: ANN401 - JSON
    return someone.ask(
        "POST",
        f"/submissions/{submission_id}/answers",
        {
            "answers": [
                {
                    "task_id": None,
                    "instruction_id": question,
                    "answer": [{"value": value} for value in values],
                }
                for question, values in answers.items()
            ]
        },
    )


def test_a_collection_is_listed_and_read_as_it_was_made(researcher: Researcher) -> None:
    """Each page and item says when it was made; Markdown has become HTML."""
    made = _create(researcher, [TEXT, PICTURE, COLOUR], [LENGTH])
    path = "/data-collection/collections"
    assert researcher.get(f"{path}/{made['id']}") == made
    listed = researcher.get(path, workspace_id=researcher.workspace_id())
    assert (listed["results"], listed["meta"]["count"]) == ([made], 1)
    first, second = made["collection_items"]
    text, picture, colour = first["page_items"]
    assert text["content"] == "<p><strong>Look</strong> at &lt;it&gt;</p>"
    assert (text["parent_id"], picture["parent_id"]) == (first["id"], first["id"])
    assert (colour["parent_id"], colour["parent_type"]) == (made["id"], "collection")
    assert second["page_items"][0]["unit_options"] == LENGTH["unit_options"]
    with pytest.raises(Refused, match="No workspace"):
        researcher.get(path, workspace_id="none")


def test_an_update_keeps_what_is_sent_with_its_id(researcher: Researcher) -> None:
    """All else is new or gone."""
    made = _create(researcher, [COLOUR, CAPTION])
    [page] = made["collection_items"]
    colour, caption = page["page_items"]
    researcher.wait(hours=1)
    changed = researcher.ask(
        "PUT",
        f"/data-collection/collections/{made['id']}",
        {
            **_content([]),
            "name": "More birds",
            "collection_items": [
                {
                    "id": page["id"],
                    "page_items": [{**COLOUR, "id": colour["id"], "description": "Which?"}, LENGTH],
                }
            ],
        },
    )
    [new_page] = changed["collection_items"]
    kept, added = new_page["page_items"]
    assert (new_page["id"], kept["id"]) == (page["id"], colour["id"])
    assert (kept["description"], kept["created_at"]) == ("Which?", colour["created_at"])
    assert added["id"] not in (colour["id"], caption["id"])
    assert added["created_at"] == "2026-01-05T10:00:00.000000Z"
    assert (changed["name"], changed["created_at"]) == ("More birds", made["created_at"])
    assert changed["last_modified_at"] == "2026-01-05T10:00:00.000000Z"


@pytest.mark.parametrize(
    ("item", "sentence"),
    [
        ({**COLOUR, "answer_limit": 4}, "answer_limit"),
        ({**COLOUR, "answer_limit": 1}, "exclusive"),
        ({**COLOUR, "options": []}, "at least 1 item"),
        ({**COLOUR, "type": "multiple_choice_with_free_text"}, "required"),
        ({**LENGTH, "default_unit": "mm"}, "default_unit"),
        ({**CAPTION, "validation": {"type": "number", "min": 2, "max": 1}}, "min is"),
        ({**CAPTION, "validation": {"type": "string", "min": 1.5}}, "whole"),
        ({"type": "file_upload", "description": "F", "min_file_count": 11}, "at most"),
        ({**PICTURE, "url": "http://x.example/b.png"}, "pattern"),
        ({"type": "dataset_field", "field": "text"}, "tag"),
        ({"type": "essay", "description": "Write."}, "tag"),
    ],
)
def test_an_item_that_does_not_fit_is_refused(
    researcher: Researcher, item: dict[str, Any], sentence: str
) -> None:
    """The sentence says which and why."""
    with pytest.raises(Refused, match=f"Item 1 of a page: .*{sentence}"):
        _create(researcher, [CAPTION, item])


def test_a_participant_answers_and_is_paid(researcher: Researcher) -> None:
    """The last answer ends the submission with the code that Prolific chose."""
    made = _create(researcher, [COLOUR, LENGTH], [CAPTION])
    study_id = _study(researcher, made)
    someone = researcher.participant()
    taken = someone.ask("POST", f"/studies/{study_id}", {})
    submission_id = taken["submission_id"]
    shown = httpx.get(taken["url"]).json()
    [task] = shown["tasks"]
    assert [each["id"] for each in task["questions"]] == _questions(made)
    colour, length, caption = _questions(made)
    half = _answer(someone, submission_id, {colour: ["red"], length: ["12", "cm"]})
    assert half["status"] == "ACTIVE"
    _answer(someone, submission_id, {colour: ["red", "blue"]})
    whole = _answer(someone, submission_id, {caption: ["A red bird."]})
    [code] = researcher.get(f"/studies/{study_id}/")["completion_codes"]
    assert (whole["status"], whole["entered_code"]) == ("AWAITING REVIEW", code["code"])
    with pytest.raises(Refused, match="AWAITING REVIEW is not open"):
        _answer(someone, submission_id, {caption: ["Another."]})
    path = f"/data-collection/collections/{made['id']}/responses"
    rows = researcher.get(path)
    assert rows["meta"]["count"] == 3
    answers = {
        row["response"]["instruction_id"]: [part["value"] for part in row["response"]["answer"]]
        for row in rows["results"]
    }
    assert answers == {colour: ["red", "blue"], length: ["12", "cm"], caption: ["A red bird."]}
    assert {row["submission_id"] for row in rows["results"]} == {submission_id}
    assert researcher.judge(submission_id, "APPROVE") == "APPROVED"
    researcher.books()


@pytest.mark.parametrize(
    ("number", "values", "sentence"),
    [
        (0, ["green"], "Not one of the options"),
        (0, ["red", "none"], "exclusive"),
        (0, ["red", "red"], "At most 2 different"),
        (1, ["12"], "one of the units"),
        (1, ["0", "cm"], "outside of the limits"),
        (1, ["long", "cm"], "A number is wanted"),
        (2, ["Red."], "outside of the limits"),
        (2, ["A bird.", "A cat."], "One value"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused(
    researcher: Researcher, number: int, values: list[object], sentence: str
) -> None:
    """And nothing of that call is stored."""
    made = _create(researcher, [COLOUR, LENGTH, CAPTION])
    someone = researcher.participant()
    submission_id = someone.take(_study(researcher, made))
    questions = _questions(made)
    good: dict[str, list[object]] = {questions[0]: ["red"], questions[2]: ["A bird."]}
    with pytest.raises(Refused, match=sentence):
        _answer(someone, submission_id, {**good, questions[number]: values})
    path = f"/data-collection/collections/{made['id']}/responses"
    assert researcher.get(path)["results"] == []


def test_work_on_another_page_is_not_answered_here(researcher: Researcher) -> None:
    """Nor another participant's, nor another question."""
    made = _create(researcher, [CAPTION])
    ann, eve = researcher.participant(), researcher.participant()
    outside = ann.take(researcher.study())
    with pytest.raises(Refused, match="the requester's own page"):
        ann.ask("GET", f"/submissions/{outside}/tasks")
    inside = ann.take(_study(researcher, made))
    with pytest.raises(Refused, match="another participant"):
        _answer(eve, inside, {_questions(made)[0]: ["A bird."]})
    with pytest.raises(Refused, match="Nothing is asked"):
        _answer(ann, inside, {made["id"]: ["A bird."]})


def test_an_export_is_generated_fetched_and_kept_for_an_hour(researcher: Researcher) -> None:
    """202 while it is made, then 200; a second request begins none."""
    made = _create(researcher, [CAPTION])
    someone = researcher.participant()
    submission_id = someone.take(_study(researcher, made))
    _answer(someone, submission_id, {_questions(made)[0]: ["A red bird."]})
    researcher.control("PUT", "/switches", {"settling_seconds": 60})
    path = f"/data-collection/collections/{made['id']}/export"
    begun = researcher.post(path)
    assert begun["status"] == "generating"
    assert researcher.post(path) == begun
    assert researcher.get(f"{path}/{begun['export_id']}") == begun
    researcher.wait(minutes=1)
    ready = researcher.get(f"{path}/{begun['export_id']}")
    assert ready["status"] == "complete"
    assert researcher.post(path) == ready
    with zipfile.ZipFile(io.BytesIO(httpx.get(ready["url"]).content)) as archive:
        text = archive.read("responses.csv").decode()
    [row] = csv.DictReader(io.StringIO(text))
    assert (row["submission_id"], json.loads(row["answer"])) == (submission_id, ["A red bird."])
    researcher.wait(hours=1)
    assert httpx.get(ready["url"]).status_code == 403
    fresh = researcher.get(f"{path}/{begun['export_id']}")
    assert httpx.get(fresh["url"]).status_code == 200
    assert researcher.post(path)["export_id"] != begun["export_id"]
    other = _create(researcher, [CAPTION])
    with pytest.raises(Refused, match="No export"):
        researcher.get(f"/data-collection/collections/{other['id']}/export/{begun['export_id']}")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"data_collection_id": None}, "This field is required"),
        ({"data_collection_id": "none"}, "Unknown data collection"),
        ({"external_study_url": "https://x.example/"}, "not both"),
        (
            {"completion_codes": [{"code": "X", "code_type": "OTHER", "actions": []}]},
            "of the type COMPLETED",
        ),
    ],
)
def test_a_study_of_a_collection_is_whole(
    researcher: Researcher, changes: dict[str, object], sentence: str
) -> None:
    """It names a collection of its workspace, no other page, and one fitting code."""
    made = _create(researcher, [CAPTION])
    with pytest.raises(Refused, match=sentence):
        _study(researcher, made, **changes)


def test_a_study_with_its_own_code_approves_at_once(researcher: Researcher) -> None:
    """As its code says."""
    made = _create(researcher, [CAPTION])
    approving = {
        "code": "DONE",
        "code_type": "COMPLETED",
        "actions": [{"action": "AUTOMATICALLY_APPROVE"}],
    }
    someone = researcher.participant()
    submission_id = someone.take(_study(researcher, made, completion_codes=[approving]))
    done = _answer(someone, submission_id, {_questions(made)[0]: ["A bird."]})
    assert (done["status"], done["entered_code"]) == ("APPROVED", "DONE")


def test_a_table_quotes_every_line_break() -> None:
    """A participant may have typed one that ends no row."""
    table = Csv.of(["answer"], [["a\rb"], ["a\nb"], ["a\r\n"], ["a, b"], ["ab"]])
    assert table.text == 'answer\n"a\rb"\n"a\nb"\n"a\r\n"\n"a, b"\nab\n'
