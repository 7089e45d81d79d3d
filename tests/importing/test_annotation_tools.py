"""Figure Eight's reports and Label Studio's exports, by hand-written samples."""

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from piecework.importing.readers.recognise import recognise
from piecework.importing.readers.rows import ImportedRow, NotSent, Unreadable
from tests.importing.test_guessing import kinds, otherwise, understood
from tests.importing.test_importing import answers, done, piecework


def table(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    """A CSV file with these rows."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    return path


def judgment(number: int, **answer: str) -> dict[str, object]:
    """A row of a full report: four contributors to a unit; all units hold the same."""
    unit = number // 4
    return {
        "_unit_id": f"90{unit}",
        "_created_at": "7/12/2014 01:55:49",
        "_golden": "true" if unit == 0 else "false",
        "_id": f"13{number}",
        "_started_at": "7/12/2014 01:55:25",
        "_tainted": "true" if number % 4 == 3 else "false",
        "_channel": "neodev",
        "_trust": "0.83",
        "_worker_id": f"36{number % 4}",
        "_country": "GBR",
        "_ip": "192.0.2.7",
        "a_colour": answer.get("a_colour", "blue\nred" if number % 2 else "blue"),
        "b_sure": "yes",
        "c_why": f"because {number}",
        "sentence": "-",
        "a_colour_gold": "blue" if unit == 0 else "",
        "a_colour_gold_reason": "it is" if unit == 0 else "",
    }


def test_a_full_report_is_judgments_about_units(tmp_path: Path) -> None:
    """Equal units stay apart; what stands between answers is one of them."""
    source = table(tmp_path / "f123.csv", [judgment(n) for n in range(16)])
    document = understood(source)
    assert (document["answers"], document["items"]) == (16, 4)
    assert kinds(document) == {"a_colour": "choices", "b_sure": "text", "c_why": "text"}
    assert any(line.startswith("answers = ") for line in otherwise(document))
    campaign = tmp_path / "c.toml"
    done("data", "import", source, "--as", campaign)
    assert 'a_colour = "a_colour_gold"' in campaign.with_name("c.columns.toml").read_text(
        encoding="utf-8"
    )
    read = answers(campaign)
    assert set(read["item_id"]) == {"900", "901", "902", "903"}
    assert set(read["value.a_colour"]) == {("blue",), ("blue", "red")}
    assert set(read["problems"]) == {()}
    assert set(read["submitted_at"]) == {datetime(2014, 7, 12, 1, 55, 49, tzinfo=UTC)}
    assert set(read["market_seconds"]) == {24}


def test_nothing_about_a_contributor_leaves_the_store(tmp_path: Path) -> None:
    """Neither the id, nor the address, nor what the platform thought of them."""
    source = table(tmp_path / "f123.csv", [judgment(n) for n in range(16)])
    campaign = tmp_path / "c.toml"
    done("data", "import", source, "--as", campaign)
    done("data", "assess", campaign)
    done("export", campaign)
    for path in (tmp_path / "out/c").rglob("*.csv"):
        text = path.read_text(encoding="utf-8")
        assert not [word for word in ("192.0.2.7", "GBR", "neodev", "0.83") if word in text]
        # As a word: pseudonyms are keyed by chance, and may contain it.
        assert not re.search(r"\b362\b", text)


def test_stated_answers_of_a_report_are_the_answers(tmp_path: Path) -> None:
    """The rest is of the unit."""
    source = table(tmp_path / "f123.csv", [judgment(n) for n in range(16)])
    columns = tmp_path / "columns.toml"
    columns.write_text('answers = { why = "c_why" }\n', encoding="utf-8")
    assert set(kinds(understood(source, "--columns", columns))) == {"why"}


def test_a_judgment_without_a_unit_is_set_aside(tmp_path: Path) -> None:
    """And so is a time that cannot be read; the others are imported."""
    rows = [judgment(n) for n in range(16)]
    rows[3]["_unit_id"] = ""
    rows[5]["_started_at"] = "soon"
    campaign = tmp_path / "c.toml"
    printed = done("data", "import", table(tmp_path / "f.csv", rows), "--as", campaign)
    assert "imported: 14 assignments; 2 rows kept aside" in printed


def test_an_aggregated_report_is_refused_in_a_sentence(tmp_path: Path) -> None:
    """It holds nobody's answer."""
    row = {"_unit_id": "1", "_unit_state": "finalized", "_trusted_judgments": "3"}
    source = table(tmp_path / "a123.csv", [row | {"x": "yes", "x:confidence": "0.9"}])
    refused = piecework("data", "import", source, "--dry-run")
    assert refused.exit_code
    assert "download the full report" in " ".join(refused.output.split())


RESULTS: dict[str, tuple[dict[str, object], str]] = {
    "choice": ({"choices": ["Positive"]}, "Positive"),
    "choices": ({"choices": ["Positive", "Sure"]}, "Positive|Sure"),
    "text": ({"text": ["a dog"]}, "a dog"),
    "texts": ({"text": ["a dog", "a cat"]}, "a dog\na cat"),
    "old text": ({"text": "a dog"}, "a dog"),
    "rating": ({"rating": 4}, "4"),
    "number": ({"number": 2.5}, "2.5"),
    "pairwise": ({"selected": "left"}, "left"),
    "taxonomy": ({"taxonomy": [["Animal", "Dog"], ["Animal", "Cat"]]}, "Animal > Dog|Animal > Cat"),
    "date": ({"datetime": "2024-01-02"}, "2024-01-02"),
    "region": ({"x": 1, "rectanglelabels": ["Car"]}, '{"x": 1, "rectanglelabels": ["Car"]}'),
    "span": (
        {"start": 0, "end": 3, "text": "dog", "labels": ["A"]},
        '{"entities": [{"endOffset": 3, "label": "A", "startOffset": 0}]}',
    ),
}


def annotation(number: int, *results: tuple[str, object], **more: object) -> object:
    """An annotation of a task."""
    return {
        "id": number,
        "completed_by": number % 3 + 1,
        "result": [
            {"from_name": name, "to_name": "img", "id": f"r{number}", "value": value}
            for name, value in results
        ],
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": "2024-03-09T22:16:08.728353Z",
        "lead_time": 4.0,
        **more,
    }


def task(number: int, *annotations: object) -> dict[str, object]:
    """A task with its annotations, and a prediction, which is no answer."""
    return {
        "id": number,
        "data": {"image": f"http://127.0.0.1/{number}.jpg"},
        "annotations": list(annotations),
        "predictions": [{"result": [{"from_name": "kind", "value": {"choices": ["x"]}}]}],
    }


def rows_of(path: Path, document: object) -> list[object]:
    """The rows of an export."""
    path.write_text(json.dumps(document), encoding="utf-8")
    (source,) = recognise([path])
    assert source.format_name == "Label Studio"
    return list(source.rows())


@pytest.mark.parametrize(("value", "text"), RESULTS.values(), ids=RESULTS)
def test_each_kind_of_result_is_read(value: dict[str, object], text: str, tmp_path: Path) -> None:
    """A region that is no mark of crowd elements stays JSON."""
    (row,) = rows_of(tmp_path / "p.json", [task(7, annotation(1, ("kind", value)))])
    assert isinstance(row, ImportedRow)
    assert row.sent == {"kind": text}
    assert (row.hit_id, row.assignment_id, row.worker_id) == ("7", "annotation_1", "2")
    assert row.submitted_at is not None
    assert row.accepted_at is not None
    assert (row.submitted_at - row.accepted_at).total_seconds() == 4


def test_cancelled_and_broken_annotations_are_no_answers(tmp_path: Path) -> None:
    """They never stop the others; who annotated may be an object, or unknown."""
    ok = ("kind", {"choices": ["cat"]})
    rows = rows_of(
        tmp_path / "p.json",
        [
            task(1, annotation(1, ok, was_cancelled=True), "nonsense", annotation(2, ok)),
            task(2, annotation(3, ok, completed_by={"id": 9, "email": "a@b.org"})),
            task(3, annotation(4, ok, completed_by=None, lead_time=None)),
            task(4, annotation(5, ok, lead_time="slow"), annotation(6, result="none")),
            {"id": 5, "data": {}, "annotations": None},
            "not a task",
        ],
    )
    assert [type(row) for row in rows] == [
        *(NotSent, Unreadable, ImportedRow, ImportedRow, ImportedRow),
        *(Unreadable, Unreadable, Unreadable, Unreadable),
    ]
    workers = [row.worker_id for row in rows if isinstance(row, ImportedRow)]
    assert workers == ["3", "a@b.org", ""]


def flat(number: int) -> dict[str, object]:
    """A row of JSON-MIN: three annotations of a task, which all say what they see."""
    of_task = number // 3
    return {
        "image": f"http://127.0.0.1/{of_task}.jpg",
        "id": of_task,
        "kind": ["cat", "dog"][number % 2],
        "flaws": {"choices": ["blur", "dark"]} if number % 2 else "blur",
        "stars": [{"rating": number % 5 + 1}],
        "annotator": number % 3,
        "annotation_id": number,
        "created_at": "2024-03-09T22:16:08.728353Z",
        "updated_at": "2024-03-09T22:16:08.728353Z",
        "lead_time": 4.0,
    }


@pytest.mark.parametrize("form", ["json", "csv"])
def test_flat_exports_tell_answers_by_what_differs(form: str, tmp_path: Path) -> None:
    """In JSON-MIN and CSV, whose columns are sorted; the guess is shown."""
    rows = [flat(number) for number in range(15)]
    path = tmp_path / f"export.{form}"
    if form == "json":
        path.write_text(json.dumps(rows), encoding="utf-8")
    else:
        cells = [
            {
                name: cell if isinstance(cell, str) else json.dumps(cell)
                for name, cell in sorted(row.items())
            }
            for row in rows
        ]
        table(path, cells)
    document = understood(path)
    assert (document["answers"], document["items"]) == (15, 5)
    assert kinds(document) == {"kind": "choice", "flaws": "choices", "stars": "number"}
    assert any(line.startswith("answers = ") for line in otherwise(document))
    campaign = tmp_path / "c.toml"
    done("data", "import", path, "--as", campaign)
    read = answers(campaign)
    assert [*read["value.stars"]][:5] == [1, 2, 3, 4, 5]
    assert [*read["value.flaws"]][:2] == [("blur",), ("blur", "dark")]
    assert set(read["problems"]) == {()}
    assert set(read["market_seconds"]) == {4}
