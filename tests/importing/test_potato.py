"""Potato's files, in the shapes that Potato 2.12.1 was seen to write.

Its server was run with a page of a radio button, boxes, a scale, a text, a slider, a
number and spans, filled in by Chromium; `python -m potato.export` wrote the exports,
and the server itself the file of each user. Names and texts here are others.
"""

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from piecework.domain.errors import ConfigError
from piecework.importing.readers.recognise import Source, recognise
from piecework.importing.readers.rows import ImportedRow, NotSent, Read

LABELS = {
    "marks": {"comma": "comma", "quote": "quote"},
    "sure": {"slider": "1"},
    "why": {"text_box": "it is, wet\nand cold "},
    "words": {"number": "12"},
    "topic": {"none of these": "none of these"},
    "clear": {"4": "4"},
    "right": {"False": "False"},
    "lamp": {"off": "off"},
    "note": {"textbox": "off"},
}
SPAN = {"schema": "parts", "name": "thing", "title": "Thing", "start": 0, "end": 4}
SENT = {
    "marks": "comma|quote",
    "sure": "1",
    "why": "it is, wet\nand cold ",
    "words": "12",
    "topic": "none of these",
    "clear": "4",
    "right": "False",
    "lamp": "off",
    "note": "off",
}
SPANS = '[{"name": "thing", "start": 0, "end": 4, "text": "Rain"}]'


def exported(*, user: str = "u@x.example", instance: str = "i1") -> dict[str, Any]:
    """A line of `annotations.jsonl`."""
    return {
        "instance_id": instance,
        "user_id": user,
        "labels": LABELS,
        "spans": {"parts": [{**SPAN, "id": "parts_thing___0_4", "text": "Rain"}]},
        "links": {},
    }


def table() -> str:
    """The same as `annotations.csv`."""
    line = exported()
    cells = {"instance_id": line["instance_id"], "user_id": line["user_id"]}
    for scheme, labels in LABELS.items():
        cells |= {f"{scheme}.{label}": value for label, value in labels.items()}
    cells |= {"topic.rain": "", "parts._spans": json.dumps(line["spans"]["parts"])}
    file = io.StringIO()
    writer = csv.DictWriter(file, cells)
    writer.writeheader()
    writer.writerow(cells)
    return file.getvalue()


def kept(user: str = "u@x.example") -> dict[str, Any]:
    """What the server keeps of a user: two instances dealt, one annotated."""
    pairs = [
        [{"schema": scheme, "name": label}, value]
        for scheme, labels in LABELS.items()
        for label, value in labels.items()
    ]
    seen = {"session_start": 1555761597.5, "session_end": 1555761600.0}
    return {
        "user_id": user,
        "instance_id_ordering": ["i1", "i2"],
        "instance_id_to_behavioral_data": {
            "i1": {"instance_id": "i1", **seen, "total_time_ms": 4800},
            "i2": {"instance_id": "i2", "session_start": 1.0, "session_end": None},
        },
        "instance_id_to_label_to_value": {"i1": pairs},
        "instance_id_to_span_to_value": {"i1": [[SPAN, "Rain"]]},
    }


def source_of(path: Path, text: str) -> Source:
    """A file with this text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    (source,) = recognise([path])
    assert source.format_name == "Potato"
    return source


def only(rows: list[Read]) -> ImportedRow:
    """The one row there is, which could be read."""
    (row,) = rows
    assert isinstance(row, ImportedRow)
    return row


@pytest.mark.parametrize("form", ["lines", "table"])
def test_an_export(form: str, tmp_path: Path) -> None:
    """What was ticked, typed, slid and marked; a slider at 1 is no tick."""
    text = json.dumps(exported()) + "\n" if form == "lines" else table()
    row = only(list(source_of(tmp_path / "file", text).rows()))
    assert (row.worker_id, row.hit_id) == ("u@x.example", "i1")
    assert row.sent == {**SENT, "parts": SPANS}


def test_what_the_server_keeps_has_times(tmp_path: Path) -> None:
    """Pauses do not count as work; an instance that was only dealt is no answer."""
    source = source_of(tmp_path / "user_state.json", json.dumps(kept(), indent=2))
    row, dealt = source.rows()
    assert isinstance(row, ImportedRow)
    assert row.sent == {**SENT, "parts": SPANS.replace(', "text": "Rain"', "")}
    assert row.submitted_at == datetime(2019, 4, 20, 12, tzinfo=UTC)
    assert row.accepted_at == datetime(2019, 4, 20, 11, 59, 55, 200000, tzinfo=UTC)
    assert dealt == NotSent(line=2, why="not annotated")


def test_a_long_file_of_a_user_is_known_by_its_beginning(tmp_path: Path) -> None:
    """Mouse and keys fill megabytes before the first label."""
    state = kept()
    moves = [{"event_type": "click", "timestamp": n} for n in range(40_000)]
    state["instance_id_to_behavioral_data"]["i1"]["interactions"] = moves
    path = tmp_path / "user_state.json"
    rows = list(source_of(path, json.dumps(state)).rows())
    assert path.stat().st_size > 1 << 20
    assert [type(row) for row in rows] == [ImportedRow, NotSent]


def test_a_folder_of_users_with_its_items(tmp_path: Path) -> None:
    """Each user has a folder; texts come from the file of items that is given too."""
    for user in ("ann", "bob"):
        (tmp_path / "out" / user).mkdir(parents=True)
        file = tmp_path / "out" / user / "user_state.json"
        file.write_text(json.dumps(kept(user)))
    items = tmp_path / "items.jsonl"
    items.write_text('{"id": "i2", "text": "Sun"}\n{"id": "i1", "text": "Rain"}\n')
    (source,) = recognise([tmp_path / "out", items])
    rows = [row for row in source.rows() if isinstance(row, ImportedRow)]
    assert source.format_name == "Potato, joined to its items"
    assert [row.worker_id for row in rows] == ["ann", "bob"]
    assert {tuple(row.shown.items()) for row in rows} == {(("instance_id", "i1"), ("text", "Rain"))}


def test_items_of_something_else_are_refused(tmp_path: Path) -> None:
    """A table without a column of ids cannot say what was annotated."""
    source_of(tmp_path / "a.jsonl", json.dumps(exported()) + "\n")
    (tmp_path / "items.csv").write_text("id,text\nj1,Rain\n")
    (source,) = recognise([tmp_path / "a.jsonl", tmp_path / "items.csv"])
    with pytest.raises(ConfigError, match=r"items\.csv: no column"):
        list(source.rows())


def test_an_annotation_without_its_item_stays(tmp_path: Path) -> None:
    """Of attention checks there may be another file."""
    lines = [exported(), exported(instance="check")]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "items.csv").write_text("text,id\nRain,i1\n")
    (source,) = recognise([tmp_path / "a.jsonl", tmp_path / "items.csv"])
    shown = [dict(row.shown) for row in source.rows() if isinstance(row, ImportedRow)]
    assert shown == [{"instance_id": "i1", "text": "Rain"}, {"instance_id": "check"}]


def test_ratings_of_several_things_are_answers_of_their_own(tmp_path: Path) -> None:
    """What is no tick and no scheme's only input keeps its name."""
    line = exported()
    line["labels"] = {"rate": {"style": "5", "order": "3"}, "ok": {"yes": True, "off": False}}
    line["spans"] = {}
    text = json.dumps(line) + "\n"
    row = only(list(source_of(tmp_path / "a.jsonl", text).rows()))
    assert row.sent == {"rate.style": "5", "rate.order": "3", "ok": "yes"}


@pytest.mark.parametrize("form", ["lines", "table"])
def test_what_version_1_wrote(form: str, tmp_path: Path) -> None:
    """A label's value is its whole name, or the key by which it was chosen.

    Written after the source of version 1.
    """
    line = {
        "user_id": "u1",
        "instance_id": "i1",
        "displayed_text": "Rain",
        "label_annotations": {
            "mood": {"good": "mood:::good"},
            "tags": {"a": "1", "b": "2"},
            "how": {"scale_4": "4"},
            "why": {"text_box": "it is, wet"},
            "right": {"False": "right:::False"},
        },
    }
    columns = (
        "user\tinstance_id\tdisplayed_text\tmood:::good\tmood:::bad\ttags:::a\ttags:::b"
        "\thow:::scale_4\twhy:::text_box\tright:::False\n"
        "u1\ti1\tRain\tmood:::good\t\t1\t2\t4\tit is, wet\tright:::False\n"
    )
    text = json.dumps(line) if form == "lines" else columns
    row = only(list(source_of(tmp_path / "file", text).rows()))
    assert (row.worker_id, row.shown["text"]) == ("u1", "Rain")
    answers = {"mood": "good", "tags": "a|b", "how": "4", "why": "it is, wet", "right": "False"}
    assert row.sent == answers


@pytest.mark.parametrize(
    "damage",
    [
        {"instance_id_to_label_to_value": {"i1": 7}},
        {"instance_id_to_label_to_value": {"i1": [[1, 2], "x", [{}, None]]}},
        {"instance_id_to_label_to_value": [], "instance_id_ordering": {"i1": 1}},
        {"instance_id_ordering": [["i1"], None]},
        {"instance_id_to_span_to_value": {"i1": [[{"start": "x"}]]}},
        {"instance_id_to_behavioral_data": {"i1": {"session_end": "soon"}}},
        {"instance_id_to_behavioral_data": {"i1": {"total_time_ms": 1e300}}},
    ],
)
def test_damage_is_told_and_harms_no_other_row(damage: dict[str, object], tmp_path: Path) -> None:
    """What has another shape than Potato's is no answer, or a row kept aside."""
    lines = [json.dumps({**kept("ann"), **damage}), json.dumps(kept("bob"))]
    source = source_of(tmp_path / "user_state.json", "\n".join(lines))
    rows = list(source.rows())
    assert [row.worker_id for row in rows if isinstance(row, ImportedRow)][-1] == "bob"


def test_a_folder_of_nothing_known_is_refused(tmp_path: Path) -> None:
    """The sentence says what a folder may hold."""
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(ConfigError, match=r"assignments\.jsonl .* or user_"):
        recognise([tmp_path])
