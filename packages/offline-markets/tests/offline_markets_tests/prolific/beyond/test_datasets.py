"""Datasets: made, filled by files and by records, and fitted to another schema."""

import io
import json
import zipfile
from typing import Any

import httpx
import pytest

from offline_markets_tests.prolific.people import Refused, Researcher

DATASETS = "/data-collection/datasets"
SCHEMA = {
    "strict": True,
    "fields": {
        "caption": {"type": "text", "label": "Caption"},
        "picture": {"type": "image_url"},
        "group": {"type": "task_group_id"},
    },
}


def _create(researcher: Researcher, **more: object) -> str:
    made = researcher.post(DATASETS, name="Birds", workspace_id=researcher.workspace_id(), **more)
    return str(made["id"])


def _upload(
    researcher: Researcher, dataset_id: str, filename: str, content: bytes
) -> dict[str, Any]:
    """Upload a file; what was answered when its address was asked for."""
    made: dict[str, Any] = researcher.get(f"{DATASETS}/{dataset_id}/upload-url/{filename}")
    reply = httpx.put(
        made["upload_url"], content=content, headers={"content-type": made["content_type"]}
    )
    assert reply.status_code == 200
    return made


def _append(researcher: Researcher, dataset_id: str, *lines: object) -> Any:  # noqa: ANN401 - JSON
    """Append records; lines that are texts are sent as they are."""
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    response = researcher.http.post(
        f"/api/v1{DATASETS}/{dataset_id}/datapoints",
        content="\n".join(texts).encode(),
        headers={"content-type": "application/x-ndjson"},
    )
    if not response.is_success:
        raise Refused(response)
    return response.json()


def _bird(number: int, **changes: object) -> dict[str, object]:
    return {
        "caption": f"bird {number}",
        "picture": f"https://x.example/{number}.png",
        "group": f"g{number % 2}",
        **changes,
    }


def test_a_table_fills_a_dataset_of_version_3(researcher: Researcher) -> None:
    """Its status follows the file; a second file replaces the first."""
    dataset_id = _create(researcher)
    path = f"{DATASETS}/{dataset_id}"
    assert researcher.get(path)["status"] == "UNINITIALISED"
    researcher.control("PUT", "/switches", {"settling_seconds": 60})
    made = _upload(researcher, dataset_id, "birds.csv", b"caption\nred\nblue\ngreen\n")
    assert "import_id" not in made
    assert made["content_type"] == "text/csv"
    assert researcher.get(f"{path}/status") == {"status": "PROCESSING"}
    researcher.wait(minutes=1)
    ready = researcher.get(path)
    assert (ready["status"], ready["filename"]) == ("READY", "birds.csv")
    assert (ready["total_datapoint_count"], ready["schema_version"]) == (3, "3")
    assert ready["has_predetermined_grouping_id"] is False
    grouped = b"caption,META_TASK_GROUP_ID\nred,a\nblue,b\n"
    _upload(researcher, dataset_id, "grouped.csv", grouped)
    researcher.wait(minutes=1)
    again = researcher.get(path)
    assert again["total_datapoint_count"] == 2
    assert again["has_predetermined_grouping_id"] is True


def test_a_table_may_come_in_an_archive(researcher: Researcher) -> None:
    """What cannot be read makes an error of the dataset, until another file comes."""
    dataset_id = _create(researcher)
    path = f"{DATASETS}/{dataset_id}/status"
    for content in (b"not a zip", _zipped(a="x"), _zipped(**{"a.csv": "", "b.csv": ""})):
        _upload(researcher, dataset_id, "birds.zip", content)
        assert researcher.get(path) == {"status": "ERROR"}
    _upload(researcher, dataset_id, "birds.zip", _zipped(**{"b.csv": "caption\nred\n"}))
    assert researcher.get(path) == {"status": "READY"}
    with pytest.raises(Refused, match="datasets with a schema"):
        _append(researcher, dataset_id, _bird(1))
    with pytest.raises(Refused, match="no schema"):
        researcher.ask("PATCH", f"{DATASETS}/{dataset_id}", {"schema": SCHEMA})


def _zipped(**files: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


@pytest.mark.parametrize("content", [b"", b"a,b\n1\n", b"a,a\n1,2\n", b"a\n\xff\n"])
def test_a_file_that_is_no_table_is_an_error(researcher: Researcher, content: bytes) -> None:
    """Without rows, with rows of other lengths, with equal titles, or not UTF-8."""
    dataset_id = _create(researcher)
    _upload(researcher, dataset_id, "birds.csv", content)
    assert researcher.get(f"{DATASETS}/{dataset_id}")["status"] == "ERROR"


def test_lines_fill_a_dataset_of_version_4(researcher: Researcher) -> None:
    """Each file is an import, which says what was wrong with which record."""
    dataset_id = _create(researcher, schema=SCHEMA)
    path = f"{DATASETS}/{dataset_id}"
    assert researcher.get(path)["imports"] == []
    waiting = researcher.get(f"{path}/upload-url/later.jsonl")
    assert waiting["content_type"] == "application/x-ndjson"
    lines = [
        json.dumps(_bird(1)),
        "",
        "{",
        json.dumps(_bird(2, picture="2.png")),
        json.dumps(_bird(3, group=None)),
    ]
    made = _upload(researcher, dataset_id, "birds.jsonl", "\n".join(lines).encode())
    done = researcher.get(f"{path}/imports/{made['import_id']}")
    assert (done["status"], done["accepted_count"]) == ("partial", 1)
    assert done["rejected_count"] == 3
    assert [(each["record_index"], each["field"]) for each in done["errors"]] == [
        (1, "_raw"),
        (2, "picture"),
        (3, "group"),
    ]
    again = _upload(researcher, dataset_id, "birds.jsonl", json.dumps(_bird(4)).encode())
    read = researcher.get(path)
    assert (read["total_datapoint_count"], read["schema_version"]) == (2, "4")
    assert [each["import_id"] for each in read["imports"]] == [
        again["import_id"],
        made["import_id"],
        waiting["import_id"],
    ]
    assert [each["status"] for each in read["imports"]] == ["complete", "partial", "uninitialised"]
    with pytest.raises(Refused, match="No import"):
        researcher.get(f"{path}/imports/none")


def test_a_file_without_a_good_record_fails(researcher: Researcher) -> None:
    """A table, too; the rows of an earlier file stay."""
    dataset_id = _create(researcher, schema=SCHEMA)
    good = b"caption,picture,group\nred,https://x.example/r.png,a\n"
    _upload(researcher, dataset_id, "birds.csv", good)
    bad = _upload(researcher, dataset_id, "birds.csv", b"caption\nblue\n")
    path = f"{DATASETS}/{dataset_id}"
    failed = researcher.get(f"{path}/imports/{bad['import_id']}")
    assert failed["status"] == "failed"
    assert "missing" in failed["reason"]
    assert researcher.get(path)["total_datapoint_count"] == 1
    assert researcher.get(f"{path}/status") == {"status": "READY"}


def test_records_are_appended_and_refused_each_by_itself(researcher: Researcher) -> None:
    """A record that is there already counts as accepted, and is not stored twice."""
    dataset_id = _create(researcher, schema=SCHEMA)
    done = _append(researcher, dataset_id, _bird(1), "", _bird(2, caption=[]), "oops")
    assert (done["accepted"], done["rejected"]) == (1, 2)
    assert [(each["record_index"], each["field"]) for each in done["errors"]] == [
        (2, "caption"),
        (3, "_raw"),
    ]
    more = _append(researcher, dataset_id, _bird(3), _bird(1))
    assert more == {"accepted": 2, "rejected": 0, "errors": []}
    path = f"{DATASETS}/{dataset_id}"
    assert researcher.get(path)["total_datapoint_count"] == 2
    with pytest.raises(Refused, match="At most 1000"):
        _append(researcher, dataset_id, *[_bird(1)] * 1001)


def test_nothing_is_appended_during_an_import(researcher: Researcher) -> None:
    """409, until it is over."""
    dataset_id = _create(researcher, schema=SCHEMA)
    researcher.control("PUT", "/switches", {"settling_seconds": 60})
    _upload(researcher, dataset_id, "birds.jsonl", json.dumps(_bird(1)).encode())
    with pytest.raises(Refused, match="in progress") as refusal:
        _append(researcher, dataset_id, _bird(2))
    assert refusal.value.status == 409
    researcher.wait(minutes=1)
    assert _append(researcher, dataset_id, _bird(2))["accepted"] == 1


def test_another_schema_fits_the_rows_to_it(researcher: Researcher) -> None:
    """A migration says which fields became null; a third schema finds them again."""
    dataset_id = _create(
        researcher, schema={"strict": False, "fields": {"caption": {"type": "text"}}}
    )
    path = f"{DATASETS}/{dataset_id}"
    _append(researcher, dataset_id, {"caption": "a", "picture": "a.png"}, {"x": 1})
    pictured = {"strict": False, "fields": {"picture": {"type": "image_url"}}}
    changed = researcher.ask("PATCH", path, {"schema": pictured})
    assert changed["schema"] == pictured
    job = researcher.get(f"{path}/schema-migrations/{changed['migration_job_id']}")
    assert (job["status"], job["schema_version"]) == ("partial", 2)
    assert (job["reprocessed_count"], job["failed_count"]) == (2, 1)
    [fault] = job["errors"]
    assert fault["field"] == "picture"
    texts = {"strict": False, "fields": {"picture": {"type": "metadata"}}}
    changed = researcher.ask("PATCH", path, {"schema": texts})
    job = researcher.get(f"{path}/schema-migrations/{changed['migration_job_id']}")
    assert (job["status"], job["schema_version"]) == ("complete", 3)
    grouped = {"strict": False, "fields": {"picture": {"type": "task_group_id"}}}
    with pytest.raises(Refused, match="task_group_id cannot change"):
        researcher.ask("PATCH", path, {"schema": grouped})
    with pytest.raises(Refused, match="No migration"):
        researcher.get(f"{path}/schema-migrations/none")


@pytest.mark.parametrize(
    "schema",
    [
        {"strict": True, "fields": {}},
        {"strict": True, "fields": {"": {"type": "text"}}},
        {"strict": True, "fields": {"k" * 129: {"type": "text"}}},
        {"strict": True, "fields": {"a": {"type": "number"}}},
        {"strict": True, "fields": {"a": {"type": "text", "label": "l" * 256}}},
        {"fields": {"a": {"type": "text"}}},
        {"strict": True, "fields": {f"f{n}": {"type": "text"} for n in range(201)}},
        {"strict": True, "fields": {key: {"type": "task_group_id"} for key in ("a", "b")}},
    ],
)
def test_what_is_no_schema_is_refused(researcher: Researcher, schema: dict[str, object]) -> None:
    """The limits are documented."""
    with pytest.raises(Refused) as refusal:
        _create(researcher, schema=schema)
    assert list(refusal.value.detail) == ["schema"]


@pytest.mark.parametrize(("schema", "filename"), [(None, "birds.jsonl"), (SCHEMA, "birds.zip")])
def test_each_version_takes_its_own_files(
    researcher: Researcher, schema: object, filename: str
) -> None:
    """CSV is taken by both."""
    dataset_id = _create(researcher, **({} if schema is None else {"schema": schema}))
    with pytest.raises(Refused, match="A file ends in"):
        researcher.get(f"{DATASETS}/{dataset_id}/upload-url/{filename}")
