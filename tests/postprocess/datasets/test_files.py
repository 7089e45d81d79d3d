"""A dataset's files load with common tools, lose nothing and repeat to the byte."""

import io
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest

from piecework.domain.campaign import OutputFormat
from piecework.domain.dataset import LICENCES, SPLITS, Publication
from piecework.domain.edit import Edit
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.postprocess.answers import set_aside_reasons
from piecework.postprocess.datasets.facts import DatasetFacts
from piecework.postprocess.datasets.file_table import ROWS_AT_ONCE, plain
from piecework.postprocess.datasets.files import CARD, CROISSANT
from piecework.postprocess.datasets.layouts import COLUMNS
from piecework.postprocess.datasets.pictures import picture_columns
from tests.postprocess.made_tables import SPLIT_OF, captions_table, contents

MakeRow = Callable[..., Mapping[str, object]]
FORMATS: tuple[OutputFormat, ...] = ("csv", "parquet", "vizwiz_json")
HOSTILE = (
    '=HYPERLINK("http://evil.example","click")',
    "+1",
    "-2",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "'=1",
    "two\nlines\r\nand a third",
    'she said "hi", then left',
    "\U0001f600 \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u4e00",
    "nul\x00inside",
    "]]></caption><script>alert(1)</script>",
    "null",
    "NaN",
    "1e5",
    "x" * 200_000,
    "",
)
EDIT = Edit(start=2, end=5, before="dgo", after="dog", rule="spelling", reason="slip")


@pytest.fixture
def rows(row: MakeRow) -> list[Mapping[str, object]]:
    """Hostile captions about three images, one of each kind that is set aside."""
    about = [row(f"a{n:02d}", f"img-{n % 3 + 1}", text=text) for n, text in enumerate(HOSTILE)]
    return [
        *about,
        row("b1", clean_text="a dog", text="a dgo", edits=(EDIT,)),
        row("c1", is_rejected=True, rejected_because="=spam"),
        row("c2", is_canned=True),
        row("c3", is_surplus=True),
    ]


def _novel(answers: pd.DataFrame) -> pd.DataFrame:
    return answers[set_aside_reasons(answers) == ""]


def _json(document: bytes) -> Any:  # noqa: ANN401 - JSON is what it is
    return json.loads(document)


def test_the_same_dataset_gives_the_same_bytes(
    rows: list[Mapping[str, object]], items: list[Item], facts: DatasetFacts
) -> None:
    """In any order of rows, so that a dataset can be made again and compared."""
    first = contents(captions_table(rows), items, facts, FORMATS)
    again = contents(captions_table(reversed(rows)), items, facts, FORMATS)
    assert first == again


def test_what_no_decision_dropped_is_not_called_rejected(
    row: MakeRow, items: list[Item], facts: DatasetFacts
) -> None:
    """A proposal settles nothing, and a value outside the options is no answer."""
    rows = [
        row("a", is_rejected=True, rejected_because="shouts"),
        row("b", is_rejected=True, is_provisional=True, text_detected="perhaps"),
        row("c", text_detected="yes"),
    ]
    made = contents(captions_table(rows), items, facts, ("parquet",))
    tables = [
        pd.read_parquet(io.BytesIO(made[f"{name}.parquet"])) for name in ("captions", "set_aside")
    ]
    whole = pd.concat(tables).set_index("answer_id")
    assert whole["is_rejected"].to_dict() == {"a": True, "b": False, "c": False}
    assert whole.loc[["b", "c"], "text_detected"].tolist() == ["", "yes"]


def test_csv_and_parquet_hold_the_same_captions(
    rows: list[Mapping[str, object]], items: list[Item], facts: DatasetFacts
) -> None:
    """Pandas reads both; the bare text of Parquet is what the frame holds."""
    frame = captions_table(rows)
    made = contents(frame, items, facts, FORMATS)
    parquet = pd.read_parquet(io.BytesIO(made["captions.parquet"]))
    loaded = pd.read_csv(io.BytesIO(made["captions.csv"]), dtype=str, keep_default_na=False)
    expected = _novel(frame)
    assert parquet["caption"].tolist() == expected["clean_text"].tolist()
    assert parquet["answer_id"].tolist() == expected.index.tolist()
    assert loaded["caption"].map(plain).tolist() == [
        text.replace("\x00", "\u2400") for text in expected["clean_text"]
    ]
    assert list(loaded.columns) == list(parquet.columns) == [*COLUMNS]


def test_a_plain_read_csv_gives_every_row(
    rows: list[Mapping[str, object]], items: list[Item], facts: DatasetFacts
) -> None:
    """Even without the options that the card advises."""
    frame = captions_table(rows)
    made = contents(frame, items, facts, FORMATS)
    assert len(pd.read_csv(io.BytesIO(made["captions.csv"]))) == len(_novel(frame))


def test_parquet_keeps_types(
    rows: list[Mapping[str, object]], items: list[Item], facts: DatasetFacts
) -> None:
    """Times are times in UTC, flaws are lists, edits are JSON."""
    made = contents(captions_table(rows), items, facts, FORMATS)
    loaded = pd.read_parquet(io.BytesIO(made["captions.parquet"]))
    assert str(loaded["submitted_at"].dtype) == "datetime64[us, UTC]"
    assert str(loaded["shown_seconds"].dtype) == "float64"
    assert loaded["is_surplus"].dtype == bool
    assert list(loaded["flaws"].iloc[0]) == ["none"]
    edited = loaded.set_index("answer_id").loc["b1"]
    assert json.loads(str(edited["edits"])) == [
        {
            "start": 2,
            "end": 5,
            "before": "dgo",
            "after": "dog",
            "rule": "spelling",
            "reason": "slip",
            "probability": 1.0,
        }
    ]


def test_what_is_set_aside_is_kept_with_its_reason(
    rows: list[Mapping[str, object]], items: list[Item], facts: DatasetFacts
) -> None:
    """Every answer is in one of both files, in every format."""
    frame = captions_table(rows)
    made = contents(frame, items, facts, FORMATS)
    reasons = {"c1": "dropped", "c2": "canned", "c3": "surplus"}
    table = pd.read_csv(io.BytesIO(made["set_aside.csv"]), dtype=str)
    assert dict(zip(table["answer_id"], table["set_aside"], strict=True)) == reasons
    assert table.loc[0, "rejected_because"] == "'=spam"
    loaded = pd.read_parquet(io.BytesIO(made["set_aside.parquet"]))
    assert dict(zip(loaded["answer_id"], loaded["set_aside"], strict=True)) == reasons
    document = _json(made["set_aside.json"])
    written = {each["answer_id"]: each["set_aside"] for each in document["annotations"]}
    assert written == reasons
    assert len(_novel(frame)) + len(reasons) == len(rows)


def test_vizwiz_json_has_the_known_form(
    rows: list[Mapping[str, object]], items: list[Item], facts: DatasetFacts
) -> None:
    """Integer ids that fit together, VizWiz's fields, bare text."""
    frame = captions_table(rows)
    whole = _json(contents(frame, items, facts, FORMATS)["captions.json"])
    assert set(whole) == {"info", "licenses", "images", "annotations"}
    assert [image["id"] for image in whole["images"]] == [1, 2, 3, 4]
    assert whole["images"][0]["file_name"] == "img-1.jpg"
    assert whole["images"][0]["item_id"] == "img-1"
    captions = {each["answer_id"]: each for each in whole["annotations"]}
    assert captions.keys() == set(_novel(frame).index)
    assert {answer_id: each["caption"] for answer_id, each in captions.items()} == _novel(frame)[
        "clean_text"
    ].to_dict()
    first = captions["a00"]
    assert (first["image_id"], first["is_rejected"], first["is_precanned"]) == (1, False, False)
    assert first["text_detected"] is False
    ids = [each["id"] for each in whole["annotations"]]
    assert sorted(set(ids)) == ids
    assert whole["info"]["date_created"] == "2026-03-01"


def test_annotation_ids_are_unique_over_all_files(
    rows: list[Mapping[str, object]], items: list[Item], facts: DatasetFacts
) -> None:
    """What is set aside can be put back without a clash."""
    made = contents(captions_table(rows), items, facts, FORMATS)
    ids = [
        each["id"]
        for name in ("captions.json", "set_aside.json")
        for each in _json(made[name])["annotations"]
    ]
    assert sorted(ids) == list(range(1, len(rows) + 1))


def test_items_added_at_the_end_change_no_image_id(
    rows: list[Mapping[str, object]], items: list[Item], facts: DatasetFacts
) -> None:
    """Numbers follow the items file."""
    more = [*items, Item(item_id=ItemId("aaa"), columns={"url": "aaa.jpg"})]
    frame = captions_table(rows)
    before, after = (
        {
            image["item_id"]: image["id"]
            for image in _json(contents(frame, some, facts, FORMATS)["captions.json"])["images"]
        }
        for some in (items, more)
    )
    assert before.items() < after.items()
    assert after["aaa"] == 5


def test_split_files_share_out_the_whole(
    rows: list[Mapping[str, object]], items: list[Item], facts: DatasetFacts
) -> None:
    """Each image and each caption is in exactly one split, the image's own."""
    made = contents(captions_table(rows), items, facts, FORMATS)
    whole = _json(made["captions.json"])
    parts = {split: _json(made[f"captions_{split}.json"]) for split in SPLITS}
    for kind in ("images", "annotations"):
        ids = [each["id"] for part in parts.values() for each in part[kind]]
        assert sorted(ids) == [each["id"] for each in whole[kind]]
    for split, part in parts.items():
        assert {SPLIT_OF[image["item_id"]] for image in part["images"]} <= {split}
        images = {image["id"] for image in part["images"]}
        assert {each["image_id"] for each in part["annotations"]} <= images


@pytest.mark.parametrize("about", [0, 4])
def test_an_empty_dataset_loads(about: int, items: list[Item], facts: DatasetFacts) -> None:
    """No answers, with items or without: headers, types and documents all the same."""
    made = contents(captions_table([]), items[:about], facts, FORMATS)
    for name in ("captions", "set_aside"):
        assert len(pd.read_csv(io.BytesIO(made[f"{name}.csv"]))) == 0
        loaded = pd.read_parquet(io.BytesIO(made[f"{name}.parquet"]))
        assert len(loaded) == 0
        assert str(loaded["submitted_at"].dtype) == "datetime64[us, UTC]"
    assert len(pd.read_parquet(io.BytesIO(made["items.parquet"]))) == about
    whole = _json(made["captions.json"])
    assert (len(whole["images"]), whole["annotations"]) == (about, [])


def test_items_have_their_votes(row: MakeRow, items: list[Item], facts: DatasetFacts) -> None:
    """One row an item, with answers or without."""
    frame = captions_table([row("a", flaws=("blur",)), row("b", is_canned=True)])
    made = contents(frame, items, facts, ("parquet",))
    table = pd.read_parquet(io.BytesIO(made["items.parquet"])).set_index("item_id")
    assert table.loc["img-1", "difficulty"] == "medium"
    assert table.loc["img-1", "votes_blur"] == 1
    assert table.loc["img-4", "answers"] == 0
    assert table.loc["img-4", "split"] == SPLIT_OF["img-4"]


@pytest.mark.parametrize(
    ("formats", "suffixes"),
    [
        ((), {"md", "json"}),
        (("csv",), {"md", "json", "csv"}),
        (("parquet",), {"md", "json", "parquet"}),
        (("vizwiz_json",), {"md", "json"}),
    ],
)
def test_only_the_formats_asked_for_are_made(
    formats: tuple[OutputFormat, ...], suffixes: set[str], items: list[Item], facts: DatasetFacts
) -> None:
    """And always Croissant and the card, which speak of those alone."""
    made = contents(captions_table([]), items, facts, formats)
    assert {name.rsplit(".", 1)[1] for name in made} == suffixes
    text = made[CARD].decode()
    assert ("captions.csv" in text) == ("csv" in formats)
    assert ("captions.parquet" in text) == ("parquet" in formats)
    assert ("captions.json" in text) == ("vizwiz_json" in formats)
    described = _json(made["croissant.json"]).get("distribution", [])
    assert {each["name"] for each in described} == made.keys() - {CARD, CROISSANT}


def test_a_rehearsal_says_so_in_every_format(
    row: MakeRow, items: list[Item], facts: DatasetFacts
) -> None:
    """Nobody may take simulated captions for people's."""
    made = contents(captions_table([row("a")]), items, replace(facts, is_rehearsal=True), FORMATS)
    assert "REHEARSAL" in made[CARD].decode()
    assert _json(made["captions_train.json"])["info"]["is_rehearsal"] is True
    assert "simulated" in _json(made["captions.json"])["info"]["description"]
    metadata = pq.read_schema(io.BytesIO(made["captions.parquet"])).metadata
    assert b"simulated" in metadata[b"warning"]


def test_no_file_holds_columns_beyond_the_documented_ones(
    row: MakeRow, items: list[Item], facts: DatasetFacts
) -> None:
    """What a report needs besides stays inside."""
    frame = captions_table([row("a", assignment_id="AS1SECRET", hit_id="AS1SECRET")])
    made = contents(frame, items, facts, FORMATS)
    assert not [name for name, content in made.items() if b"AS1SECRET" in content]


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"split": "val"}, "is in split 'val', but must be in"),
        ({"item_id": "img-9"}, "item img-9 is in split"),
    ],
)
def test_answers_that_do_not_fit_the_items_are_refused(
    values: Mapping[str, object], fault: str, row: MakeRow, items: list[Item], facts: DatasetFacts
) -> None:
    """A wrong split or an unknown item would spoil every file."""
    assert SPLIT_OF["img-1"] != "val"
    with pytest.raises(ValueError, match=re.escape(fault)):
        contents(captions_table([{**row("a"), **values}]), items, facts, FORMATS)


def test_items_that_occur_twice_are_refused(items: list[Item], facts: DatasetFacts) -> None:
    """Two images of one id could not be told apart."""
    with pytest.raises(ValueError, match="occurs twice"):
        contents(captions_table([]), [*items, items[0]], facts, FORMATS)


def test_every_column_is_explained_in_card_and_docs(
    rows: list[Mapping[str, object]], items: list[Item], facts: DatasetFacts
) -> None:
    """A field that nobody explains is a field that nobody can trust."""
    made = contents(captions_table(rows), items, facts, FORMATS)
    docs = Path(__file__).resolve().parents[3] / "docs/reference/dataset.md"
    for text in (made[CARD].decode(), docs.read_text(encoding="utf-8")):
        assert not [name for name in COLUMNS if name not in text]


@pytest.mark.full
def test_more_rows_than_a_batch_are_all_written_in_their_order(
    row: MakeRow, items: list[Item], facts: DatasetFacts
) -> None:
    """Batches leave no seam: every row once, and the JSON is that of the encoder."""
    count = ROWS_AT_ONCE + 1
    answers = captions_table([row(f"{n:05d}", flaws=()) for n in range(count)])
    made = contents(answers, items, facts, FORMATS)
    expected = [f"{n:05d}" for n in range(count)]
    loaded = pd.read_csv(io.BytesIO(made["captions.csv"]), dtype=str)
    assert loaded["answer_id"].tolist() == expected
    parquet = pd.read_parquet(io.BytesIO(made["captions.parquet"]))
    assert parquet["answer_id"].tolist() == expected
    whole = _json(made["captions.json"])
    assert [each["answer_id"] for each in whole["annotations"]] == expected
    encoded = json.dumps(whole, ensure_ascii=False, indent=1) + "\n"
    assert made["captions.json"] == encoded.encode()


def test_images_have_size_and_licence_or_say_that_none_is_known(
    items: list[Item], facts: DatasetFacts
) -> None:
    """Sizes from the pictures, or from the items' own columns, which stand above."""
    own = {**items[1].columns, "width": "30", "height": "20"}
    known = [items[0], replace(items[1], columns=own), *items[2:]]
    sized = replace(
        facts,
        sizes={"img-1": (640, 480), "img-2": (1, 1)},
        publication=Publication(items_licence=LICENCES["CC-BY-4.0"]),
    )
    made = contents(captions_table([]), known, sized, FORMATS)
    whole = _json(made["captions.json"])
    assert [(image["width"], image["height"]) for image in whole["images"]] == [
        (640, 480),
        (30, 20),
        (None, None),
        (None, None),
    ]
    assert {image["license"] for image in whole["images"]} == {1}
    (licence,) = whole["licenses"]
    assert (licence["id"], licence["name"]) == (1, "CC-BY-4.0")
    table = pd.read_csv(io.BytesIO(made["items.csv"]))
    assert table["width"].tolist()[:2] == [640, 30]
    assert table["width"].isna().tolist() == [False, False, True, True]


def test_pictures_of_one_name_are_told_apart(items: list[Item], facts: DatasetFacts) -> None:
    """Two hosts may call two pictures the same; one picture has one name."""
    urls = ("https://a.example/1.jpg", "https://b.example/1.jpg", "", "/pictures/x/1.jpg")
    known = [replace(item, columns={"url": url}) for item, url in zip(items, urls, strict=True)]
    images = _json(contents(captions_table([]), known, facts, FORMATS)["captions.json"])
    assert [image["file_name"] for image in images["images"]] == [
        "1.jpg",
        "img-2_1.jpg",
        "img-3",
        "x/1.jpg",
    ]


@pytest.mark.parametrize(
    ("urls", "names"),
    [
        # A prefixed name is the own name of another picture.
        (("//a/1.jpg", "//b/3_1.jpg", "//c/1.jpg"), ("1.jpg", "3_1.jpg", "3_3_1.jpg")),
        # The second picture again: it keeps the name it got.
        (("//a/1.jpg", "//b/1.jpg", "//b/1.jpg"), ("1.jpg", "2_1.jpg", "2_1.jpg")),
        # The last one is copied under its own name.
        (("//a/1.jpg", "//b/1.jpg", "/pictures/1.jpg"), ("1_1.jpg", "2_1.jpg", "1.jpg")),
        (("/pictures/1.jpg", "1.jpg", "//a/1.jpg"), ("1.jpg", "1.jpg", "3_1.jpg")),
    ],
)
def test_a_file_name_is_of_one_picture(urls: tuple[str, ...], names: tuple[str, ...]) -> None:
    """And a picture has one file name, whatever others are called."""
    known = [
        Item(item_id=ItemId(f"{n}"), columns={"url": url}) for n, url in enumerate(urls, start=1)
    ]
    assert picture_columns(known, {})["file_name"].tolist() == [*names]
