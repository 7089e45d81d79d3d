"""Batches: laid out, set up, done by participants, reported and synchronized."""

import csv
import io
from typing import Any

import httpx
import pytest

from offline_markets_tests.prolific.beyond.test_collections import CAPTION, COLOUR, DETAILS, PICTURE
from offline_markets_tests.prolific.beyond.test_datasets import _append, _bird, _create, _upload
from offline_markets_tests.prolific.people import STUDY, Participant, Refused, Researcher

BATCHES = "/data-collection/batches"
SCHEMA = {
    "strict": False,
    "fields": {
        "caption": {"type": "text"},
        "picture": {"type": "image_url"},
        "note": {"type": "metadata"},
    },
}
FIELD = {"type": "dataset_field", "field": "caption"}
ASKED = {key: value for key, value in CAPTION.items() if key != "order"}
CHOICE = {key: value for key, value in COLOUR.items() if key != "order"}


def _layout(*items: dict[str, Any]) -> list[dict[str, Any]]:
    """A page with a row with a column of these items."""
    return [{"rows": [{"columns": [{"items": list(items)}]}]}]


def _items(batch: dict[str, Any]) -> list[dict[str, Any]]:
    [page] = batch["batch_items"]
    items: list[dict[str, Any]] = page["rows"][0]["columns"][0]["items"]
    return items


def _batch(researcher: Researcher, **changes: object) -> Any:  # noqa: ANN401 - JSON
    return researcher.post(
        BATCHES,
        name="Birds",
        workspace_id=researcher.workspace_id(),
        task_details=DETAILS,
        **changes,
    )


def _ready(researcher: Researcher, rows: int, per_group: int = 1) -> str:
    """A batch of captions whose tasks are made; its id."""
    dataset_id = _create(researcher, schema=SCHEMA)
    _append(researcher, dataset_id, *map(_bird, range(rows)))
    batch = _batch(researcher, dataset_id=dataset_id, batch_items=_layout(FIELD, ASKED))
    path = f"{BATCHES}/{batch['id']}"
    assert researcher.post(f"{path}/setup", tasks_per_group=per_group) == {}
    assert researcher.get(f"{path}/status") == {"status": "READY"}
    return str(batch["id"])


def _study(researcher: Researcher, batch_id: str, **changes: object) -> str:
    return researcher.study(
        **{
            "external_study_url": "",
            "completion_codes": [],
            "total_available_places": 1,
            "data_collection_method": "AI_TASK_BUILDER_BATCH",
            "data_collection_id": batch_id,
            **changes,
        }
    )


def _do(someone: Participant, study_id: str, text: str) -> str:
    """Take a place and answer each task; the submission."""
    submission_id = someone.take(study_id)
    tasks = someone.ask("GET", f"/submissions/{submission_id}/tasks")["tasks"]
    answers = [
        {
            "task_id": task["task_id"],
            "instruction_id": question["id"],
            "answer": [{"value": f"{text} {task['datapoint']['caption']}"}],
        }
        for task in tasks
        for question in task["questions"]
    ]
    path = f"/submissions/{submission_id}/answers"
    done = someone.ask("POST", path, {"answers": answers})
    assert done["status"] == "AWAITING REVIEW"
    return submission_id


def test_a_batch_is_laid_out_and_read(researcher: Researcher) -> None:
    """Each part of its layout has an id, which an update keeps where it is sent."""
    dataset_id = _create(researcher, schema=SCHEMA)
    made = _batch(researcher, dataset_id=dataset_id, batch_items=_layout(FIELD, ASKED, PICTURE))
    assert made["status"] == "UNINITIALISED"
    assert (made["total_instruction_count"], made["total_task_count"]) == (1, 0)
    path = f"{BATCHES}/{made['id']}"
    read = researcher.get(path)
    assert read["batch_items"] == made["batch_items"]
    listed = researcher.get(BATCHES, workspace_id=researcher.workspace_id())
    assert (listed["results"], listed["meta"]["count"]) == ([read], 1)
    field, question, _ = _items(made)
    changed = researcher.ask(
        "PATCH",
        path,
        {"name": "More birds", "batch_items": _layout(question, {**CHOICE, "id": "unknown"})},
    )
    kept, added = _items(changed)
    assert kept == question
    assert added["id"] not in ("unknown", field["id"])
    assert (changed["name"], changed["total_instruction_count"]) == ("More birds", 2)
    with pytest.raises(Refused, match="No batch"):
        researcher.get(f"{BATCHES}/none")


def test_what_does_not_fit_is_reported_with_its_place(researcher: Researcher) -> None:
    """All of it at once, in the documented form (422)."""
    dataset_id = _create(researcher, schema=SCHEMA)
    metadata = {"type": "dataset_field", "field": "note"}
    wrong = [*_layout(FIELD, FIELD, metadata), *_layout(ASKED, {**CHOICE, "answer_limit": 9})]
    with pytest.raises(Refused) as refusal:
        _batch(researcher, dataset_id=dataset_id, batch_items=wrong)
    assert refusal.value.status == 422
    issues = refusal.value.document["issues"]
    assert [(each["page"], each["item"], each.get("field")) for each in issues] == [
        (0, 1, "caption"),
        (0, 2, "note"),
        (1, 1, None),
    ]
    assert "on this page already" in issues[0]["message"]
    with pytest.raises(Refused) as refusal:
        _batch(researcher, batch_items=_layout(FIELD))
    [issue] = refusal.value.document["issues"]
    assert issue["message"] == "No dataset with a schema is attached."
    column = {"items": [ASKED]}
    for rows in ([], [{"columns": [column, column, column]}]):
        with pytest.raises(Refused) as refusal:
            _batch(researcher, batch_items=[{"rows": rows}])
        assert refusal.value.status == 400


def test_a_batch_is_set_up_when_it_has_rows_and_questions(researcher: Researcher) -> None:
    """It is PROCESSING first; a second setup is refused."""
    batch = _batch(researcher)
    path = f"{BATCHES}/{batch['id']}"
    with pytest.raises(Refused, match="has no dataset"):
        researcher.post(f"{path}/setup")
    dataset_id = _create(researcher)
    with pytest.raises(Refused, match="not ready"):
        researcher.post(f"{path}/setup", dataset_id=dataset_id)
    _upload(researcher, dataset_id, "birds.csv", b"caption\na\nb\nc\n")
    with pytest.raises(Refused, match="asks nothing"):
        researcher.post(f"{path}/setup", dataset_id=dataset_id)
    researcher.post(f"{path}/instructions", instructions=[ASKED])
    researcher.control("PUT", "/switches", {"settling_seconds": 60})
    researcher.post(f"{path}/setup", dataset_id=dataset_id, tasks_per_group=2)
    assert researcher.get(f"{path}/status") == {"status": "PROCESSING"}
    with pytest.raises(Refused, match="PROCESSING already"):
        researcher.post(f"{path}/setup")
    with pytest.raises(Refused, match="The batch is PROCESSING"):
        _study(researcher, batch["id"])
    researcher.wait(minutes=1)
    read = researcher.get(path)
    assert (read["status"], read["total_task_count"]) == ("READY", 3)
    assert read["total_task_groups"] == 2
    assert read["datasets"] == [
        {"id": dataset_id, "total_datapoint_count": 3, "filename": "birds.csv"}
    ]
    with pytest.raises(Refused, match="made of the batch's dataset"):
        researcher.ask("PATCH", path, {"dataset_id": _create(researcher)})


def test_instructions_alone_are_kept_for_older_programs(researcher: Researcher) -> None:
    """With the headers that announce their end; a batch with a layout has none."""
    batch = _batch(researcher)
    path = f"{BATCHES}/{batch['id']}/instructions"
    first, second = researcher.post(path, instructions=[ASKED, CHOICE])
    assert (first["parent_id"], first["parent_type"]) == (batch["id"], "batch")
    with pytest.raises(Refused, match="replace them with PUT"):
        researcher.post(path, instructions=[ASKED])
    body = {"instructions": [{**CHOICE, "id": second["id"]}, ASKED]}
    kept, added = researcher.ask("PUT", path, body)
    assert (kept["id"], kept["created_at"]) == (second["id"], second["created_at"])
    assert added["id"] != first["id"]
    assert researcher.get(path)["results"] == [kept, added]
    headers = researcher.http.get(f"/api/v1{path}").headers
    assert headers["deprecation"] == "true"
    assert headers["sunset"] == "Tue, 01 Sep 2026 23:59:59 GMT"
    laid_out = _batch(researcher, batch_items=_layout(ASKED))
    with pytest.raises(Refused, match="has batch_items"):
        researcher.post(f"{BATCHES}/{laid_out['id']}/instructions", instructions=[ASKED])
    with pytest.raises(Refused, match="Instruction 0: image asks nothing"):
        researcher.ask("PUT", path, {"instructions": [PICTURE]})


def test_participants_do_each_group_as_often_as_wanted(researcher: Researcher) -> None:
    """Three tasks in groups of two, each by two people: four places."""
    study_id = _study(
        researcher,
        _ready(researcher, rows=3, per_group=2),
        data_collection_metadata={"annotators_per_task": 2},
    )
    assert researcher.get(f"/studies/{study_id}/")["total_available_places"] == 4
    people = [researcher.participant() for _ in range(2)]
    for someone in people:
        assert someone.studies() == [study_id]
        _do(someone, study_id, "I see")
    batch_id = researcher.get(f"/studies/{study_id}/")["data_collection_id"]
    rows = researcher.get(f"{BATCHES}/{batch_id}/responses")
    assert rows["meta"]["count"] == 3
    assert len({row["task_id"] for row in rows["results"]}) == 3
    for someone in (researcher.participant() for _ in range(2)):
        _do(someone, study_id, "There is")
    assert researcher.get(f"{BATCHES}/{batch_id}/responses")["meta"]["count"] == 6
    assert researcher.status(study_id) == "AWAITING REVIEW"
    researcher.books()


def test_a_participant_does_no_group_twice(researcher: Researcher) -> None:
    """However many submissions the study allows; a returned group is free again."""
    study_id = _study(
        researcher,
        _ready(researcher, rows=2),
        submissions_config={"max_submissions_per_participant": 5},
    )
    ann, eve = researcher.participant(), researcher.participant()
    ann.give_back(ann.take(study_id))
    _do(ann, study_id, "I see")
    assert ann.studies() == []
    with pytest.raises(Refused, match="No tasks of this batch are left"):
        ann.take(study_id)
    _do(eve, study_id, "I see")
    assert researcher.status(study_id) == "AWAITING REVIEW"


def test_more_annotators_open_a_study_again(researcher: Researcher) -> None:
    """Their number can be raised, and not be lowered."""
    study_id = _study(researcher, _ready(researcher, rows=2))
    for _ in range(2):
        _do(researcher.participant(), study_id, "I see")
    assert researcher.status(study_id) == "AWAITING REVIEW"
    path, name = f"/studies/{study_id}/", "data_collection_metadata"
    more = researcher.ask("PATCH", path, {name: {"annotators_per_task": 2}})
    assert (more["status"], more["total_available_places"]) == ("ACTIVE", 4)
    _do(researcher.participant(), study_id, "I see")
    with pytest.raises(Refused, match="It can only be raised"):
        researcher.ask("PATCH", path, {name: {"annotators_per_task": 1}})
    researcher.books()


def test_groups_come_from_the_data_if_it_has_some(researcher: Researcher) -> None:
    """Rows with the same label are one group; new rows expand it."""
    schema = {**SCHEMA, "fields": {**SCHEMA["fields"], "group": _GROUPING}}  # type: ignore[dict-item] # a nested one
    dataset_id = _create(researcher, schema=schema)
    _append(researcher, dataset_id, *map(_bird, range(5)))
    batch = _batch(researcher, dataset_id=dataset_id, batch_items=_layout(FIELD, ASKED))
    path = f"{BATCHES}/{batch['id']}"
    researcher.post(f"{path}/setup", tasks_per_group=1)
    assert researcher.get(path)["total_task_groups"] == 2
    _append(researcher, dataset_id, _bird(6), _bird(7, group="new"))
    begun = researcher.post(f"{path}/sync")
    assert begun["status"] == "queued"
    done = researcher.get(f"{path}/syncs/{begun['sync_id']}")
    assert done["status"] == "complete"
    assert (done["tasks_created"], done["datapoints_processed"]) == (2, 2)
    assert (done["groups_created"], done["groups_expanded"]) == (1, 1)
    assert researcher.get(path)["total_task_count"] == 7


_GROUPING = {"type": "task_group_id"}


def test_a_batch_may_take_new_rows_by_itself(researcher: Researcher) -> None:
    """Otherwise it waits for a sync."""
    batch_id = _ready(researcher, rows=1)
    path = f"{BATCHES}/{batch_id}"
    read = researcher.get(path)
    assert "auto_sync_enabled" not in read
    dataset_id = read["datasets"][0]["id"]
    _append(researcher, dataset_id, _bird(1))
    assert researcher.get(path)["total_task_count"] == 1
    changed = researcher.ask("PATCH", path, {"auto_sync_enabled": True})
    assert changed["auto_sync_enabled"] is True
    _append(researcher, dataset_id, _bird(2))
    assert researcher.get(path)["total_task_count"] == 3
    fresh = _batch(researcher, batch_items=_layout(ASKED))
    with pytest.raises(Refused, match="set it up first"):
        researcher.post(f"{BATCHES}/{fresh['id']}/sync")
    with pytest.raises(Refused, match="No sync"):
        researcher.get(f"{path}/syncs/none")


def test_the_report_has_the_rows_and_the_answers(researcher: Researcher) -> None:
    """A row without an answer is there, too; the export has the answers alone."""
    batch_id = _ready(researcher, rows=2)
    submission_id = _do(researcher.participant(), _study(researcher, batch_id), "I see")
    path = f"{BATCHES}/{batch_id}"
    report = researcher.get(f"{path}/report/")
    assert report["http_method"] == "GET"
    reply = httpx.get(report["url"])
    rows = list(csv.DictReader(io.StringIO(reply.text)))
    assert [row["caption"] for row in rows] == ["bird 0", "bird 1"]
    [answered] = [row for row in rows if row["submission_id"] == submission_id]
    assert answered["Describe it."] == f"I see {answered['caption']}"
    [empty] = [row for row in rows if row["submission_id"] == ""]
    assert (empty["participant_id"], empty["Describe it."]) == ("", "")
    begun = researcher.post(f"{path}/export")
    assert begun["status"] == "generating"
    ready = researcher.get(f"{path}/export/{begun['export_id']}")
    assert ready["status"] == "complete"
    assert httpx.get(ready["url"]).headers["content-type"] == "application/zip"
    assert httpx.get(report["url"].partition("?")[0]).status_code == 403


def test_a_copy_asks_the_same_and_has_no_tasks(researcher: Researcher) -> None:
    """It shares the dataset, or wants another."""
    batch_id = _ready(researcher, rows=2)
    path = f"{BATCHES}/{batch_id}/duplicate"
    read = researcher.get(f"{BATCHES}/{batch_id}")
    copy = researcher.post(path)
    assert (copy["name"], copy["status"]) == ("Birds (Copy)", "UNINITIALISED")
    assert [each["id"] for each in copy["datasets"]] == [read["datasets"][0]["id"]]
    assert copy["batch_items"] == read["batch_items"]
    bare = researcher.post(path, name="Other", upload_new_dataset=True)
    assert (bare["name"], bare["datasets"]) == ("Other", [])
    older = _batch(researcher)
    [asked] = researcher.post(f"{BATCHES}/{older['id']}/instructions", instructions=[ASKED])
    again = researcher.post(f"{BATCHES}/{older['id']}/duplicate")
    [copied] = researcher.get(f"{BATCHES}/{again['id']}/instructions")["results"]
    assert copied == {**asked, "parent_id": again["id"]}


def test_a_study_of_a_batch_needs_no_places(researcher: Researcher) -> None:
    """They follow from the batch."""
    fields = {key: value for key, value in STUDY.items() if "places" not in key}
    del fields["external_study_url"], fields["completion_codes"]
    made = researcher.http.post(
        "/api/v1/studies/",
        json={
            **fields,
            "data_collection_method": "AI_TASK_BUILDER_BATCH",
            "data_collection_id": _ready(researcher, rows=5, per_group=2),
        },
    )
    assert made.json()["total_available_places"] == 3
