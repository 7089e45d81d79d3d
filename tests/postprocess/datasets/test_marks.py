"""Merged boxes and spans in the formats of other programs."""

import io
import json
import re
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from piecework.analyses.regions import MOST
from piecework.domain.campaign import formats_of
from piecework.domain.field import Aggregate, Field
from tests.postprocess.answers_by_hand import ITEMS, TASK, rows
from tests.postprocess.datasets.test_fields_layout import FACTS
from tests.postprocess.made_tables import contents

SPANS = Field(name="spans", kind="text", label="Spans", regions="entities")
BOXES = Field(name="boxes", kind="text", label="Boxes", regions="boundingBoxes")
MARKED = replace(
    TASK,
    fields=(BOXES, SPANS, *TASK.fields),
    aggregates=(Aggregate(field="boxes", kind="boxes"), Aggregate(field="spans", kind="spans")),
)
TEXT = "😀 Ada met  Bob-Jones\nin New\nYork, 東京!"


def _unit(text: str, word: str) -> tuple[int, int]:
    start = text.index(word)
    before, own = text[:start], word
    first, length = (len(part.encode("utf-16-le")) // 2 for part in (before, own))
    return first, first + length


def _sent(*spans: tuple[str, int, int]) -> str:
    names = ("label", "startOffset", "endOffset")
    return json.dumps({"entities": [dict(zip(names, span, strict=True)) for span in spans]})


def _marked(text: str, *words: tuple[str, str]) -> str:
    return _sent(*((label, *_unit(text, word)) for label, word in words))


def _files(answers: Sequence[str], texts: Sequence[str]) -> dict[str, bytes]:
    """The files of answers about i1, i2 and i3, with their texts."""
    items = [str(item.item_id) for item in ITEMS]
    known = {("spans", item): text for item, text in zip(items, texts, strict=False)}
    facts = replace(FACTS, task=MARKED, marked_texts=known)
    table = rows(
        [("a", item, {"spans": text}) for item, text in zip(items, answers, strict=False)], MARKED
    )
    return contents(table, ITEMS, facts, formats_of(MARKED))


def _sentences(content: bytes) -> list[tuple[list[str], list[tuple[str, str]]]]:
    """The comments and the tokens of each item, as another program reads them."""
    read = []
    for block in content.decode().removesuffix("\n\n").split("\n\n"):
        lines = block.split("\n")
        comments = [line for line in lines if line.startswith("# ")]
        pairs = [tuple(line.split("\t")) for line in lines if not line.startswith("# ")]
        read.append((comments, [(token, tag) for token, tag in pairs]))
    return read


def test_spans_are_tags_of_tokens() -> None:
    """Words, signs and Chinese letters; a part of a word tags the word."""
    sent = _marked(
        TEXT, ("Person", "Ada"), ("Person", "Jones"), ("a place", "New\nYork"), ("", "京")
    )
    made = _files([sent, _sent()], [TEXT, "# 1\u00a0\u200b #"])
    (first, tokens), (second, others) = _sentences(made["spans.conll"])
    assert first == ["# item_id = i1"]
    assert tokens == [
        *[("😀", "O"), ("Ada", "B-Person"), ("met", "O"), ("Bob", "O"), ("-", "O")],
        *[("Jones", "B-Person"), ("in", "O"), ("New", "B-a_place"), ("York", "I-a_place")],
        *[(",", "O"), ("東", "O"), ("京", "B-span"), ("!", "O")],
    ]
    assert (second, others) == (["# item_id = i2"], [("#", "O"), ("1", "O"), ("#", "O")])
    parts = [made[f"spans_{split}.conll"] for split in ("train", "val", "test")]
    assert sorted(b"".join(parts)) == sorted(made["spans.conll"])
    assert b"spans.conll" in made["README.md"]


def test_of_spans_that_overlap_the_longest_is_tagged_and_the_others_are_counted() -> None:
    """Also one beyond the text, one of a space, and half of an emoji, which is the whole."""
    text = "New York City 😀 ok"
    sent = _sent(("a", 0, 8), ("b", 0, 13), ("c", 4, 8), ("d", 14, 15), ("e", 8, 9), ("f", 90, 99))
    ((comments, tokens),) = _sentences(_files([sent], [text])["spans.conll"])
    assert comments == ["# item_id = i1", "# spans left out = 4"]
    assert [tag for _, tag in tokens] == ["B-b", "I-b", "I-b", "B-d", "O"]


def test_brat_gets_texts_and_offsets_of_characters() -> None:
    """All spans, also those that overlap; over lines in pieces; equal bytes each time."""
    sent = _marked(TEXT, ("Person", "Ada met"), ("Person", "Ada"), ("a place", "New\nYork"))
    answers, texts = [sent, _sent()], [TEXT, "nothing"]
    content = _files(answers, texts)["spans_brat.zip"]
    assert content == _files(answers, texts)["spans_brat.zip"]
    archive = zipfile.ZipFile(io.BytesIO(content))
    names = ["000001_i1.txt", "000001_i1.ann", "000002_i2.txt", "000002_i2.ann"]
    assert archive.namelist() == ["annotation.conf", *names]
    assert archive.read("annotation.conf").decode().startswith("[entities]\nPerson\na_place\n")
    text = archive.read("000001_i1.txt").decode()
    assert text == TEXT
    read = re.findall(r"(T\d)\t(\w+) ([\d ;]+)\t(.*)\n", archive.read("000001_i1.ann").decode())
    assert [(number, label, words) for number, label, _, words in read] == [
        ("T1", "Person", "Ada"),
        ("T2", "Person", "Ada met"),
        ("T3", "a_place", "New York"),
    ]
    for _, _, offsets, words in read:
        pieces = [tuple(map(int, piece.split())) for piece in offsets.split(";")]
        assert " ".join(text[low:high] for low, high in pieces) == words
    assert archive.read("000002_i2.ann") == b""


def test_no_two_labels_get_one_name() -> None:
    """C++ and C# differ in brat, "A B" and "A_B" in CoNLL; a comment says which is which."""
    labels = ["C++", "C#", "C_2", "A B", "A_B", "", "span"]
    words = [f"w{n}" for n in range(len(labels))]
    text = " ".join(words)
    sent = _marked(text, *zip(labels, words, strict=True))
    made = _files([sent], [text])
    archive = zipfile.ZipFile(io.BytesIO(made["spans_brat.zip"]))
    lines = archive.read("000001_i1.ann").decode().splitlines()
    types = [line.split("\t")[1].split(" ")[0] for line in lines]
    assert types == ["C_3", "C_", "C_2", "A_B_2", "A_B", "span_2", "span"]
    about = archive.read("annotation.conf").decode().split("\n\n")[0].splitlines()
    assert about == [
        *["[entities]", "# A_B = A_B", "# A_B_2 = A B", "# C_ = C#", "# C_3 = C++"],
        *["# span = span", "# span_2 = ", *sorted(types)],
    ]
    ((comments, tokens),) = _sentences(made["spans.conll"])
    tags = ["C++", "C#", "C_2", "A_B_2", "A_B", "span_2", "span"]
    assert [tag for _, tag in tokens] == [f"B-{tag}" for tag in tags]
    notes = ["# tag A_B = A_B", "# tag A_B_2 = A B", "# tag span = span", "# tag span_2 = "]
    assert comments == [*notes, "# item_id = i1"]


def test_a_text_that_is_not_known_has_no_spans_to_write() -> None:
    """An imported file may have spans only; without any answer the files are empty."""
    made = _files([_sent(("a", 0, 3))], [])
    assert made["spans.conll"] == b""
    assert zipfile.ZipFile(io.BytesIO(made["spans_brat.zip"])).namelist() == ["annotation.conf"]


def test_no_text_is_left_out_because_two_workers_marked_much() -> None:
    """Each mark of both counts, also more of them than an answer may have."""
    text = "ab " * MOST
    starts = range(0, 3 * MOST, 3)
    answers = [_sent(*((label, n, n + 1) for n in starts)) for label in ("X", "Y")]
    facts = replace(FACTS, task=MARKED, marked_texts={("spans", "i1"): text})
    table = rows(
        [(worker, "i1", {"spans": each}) for worker, each in zip("ab", answers, strict=True)],
        MARKED,
    )
    made = contents(table, ITEMS, facts, formats_of(MARKED))
    ((_, pairs),) = _sentences(made["spans.conll"])
    assert sum(tag != "O" for _, tag in pairs) == MOST


def _drawn(*boxes: tuple[str, float, float, float, float]) -> str:
    names = ("label", "left", "top", "width", "height")
    entries = [dict(zip(names, box, strict=True)) for box in boxes]
    size = {"height": 480, "width": 640}
    return json.dumps({"boundingBoxes": entries, "inputImageProperties": size})


def test_boxes_are_objects_of_an_imagefolder() -> None:
    """With the page's labels numbered as in COCO's file; empty pictures have no objects."""
    facts = replace(
        FACTS,
        task=MARKED,
        labels={"boxes": ("Dog", "Cat")},
        publication=replace(FACTS.publication, pictures="files"),
    )
    answers = {"i1": _drawn(("Cat", 1, 2, 30, 40.5), ("Ant", 100, 2, 3, 4)), "i2": _drawn()}
    table = rows([("a", item, {"boxes": text}) for item, text in answers.items()], MARKED)
    made = contents(table, ITEMS, facts, formats_of(MARKED))
    lines = [json.loads(line) for line in made["images/metadata.jsonl"].splitlines()]
    assert [(line["item_id"], line["file_name"]) for line in lines] == [("i1", "i1"), ("i2", "i2")]
    assert lines[0]["objects"] == {
        "bbox": [[1, 2, 30, 40.5], [100, 2, 3, 4]],
        "category": ["Cat", "Ant"],
        "category_id": [2, 3],
    }
    assert lines[1]["objects"] == {"bbox": [], "category": [], "category_id": []}
    coco = json.loads(made["boxes_coco.json"])
    assert [entry["name"] for entry in coco["categories"]] == ["Dog", "Cat", "Ant"]
    facts = replace(facts, publication=replace(facts.publication, pictures="addresses"))
    assert "images/metadata.jsonl" not in contents(table, ITEMS, facts, formats_of(MARKED))


def test_a_picture_of_several_items_has_the_boxes_of_all() -> None:
    """Two questions about one picture: no box is lost, and each says whose it is."""
    facts = replace(FACTS, task=MARKED, publication=replace(FACTS.publication, pictures="files"))
    items = [replace(each, columns={**each.columns, "url": "/pictures/a.png"}) for each in ITEMS]
    answers = {"i1": _drawn(("Cat", 1, 2, 30, 40)), "i2": _drawn(("Dog", 5, 6, 7, 8))}
    table = rows([("a", item, {"boxes": text}) for item, text in answers.items()], MARKED)
    made = contents(table, items, facts, formats_of(MARKED))
    (line,) = map(json.loads, made["images/metadata.jsonl"].splitlines())
    assert line["item_id"] == "i1"
    assert line["objects"] == {
        "bbox": [[1, 2, 30, 40], [5, 6, 7, 8]],
        "category": ["Cat", "Dog"],
        "category_id": [1, 2],
        "item_id": ["i1", "i2"],
    }


def test_a_new_answer_renumbers_no_box_of_other_pictures() -> None:
    """Neither a box more in the first picture nor a new label changes the second."""

    def numbers(first: str) -> list[Any]:
        facts = replace(FACTS, task=MARKED, labels={"boxes": ("Dog", "Cat")})
        answers = {"i1": first, "i2": _drawn(("Cat", 1, 2, 30, 40))}
        table = rows([("a", item, {"boxes": text}) for item, text in answers.items()], MARKED)
        coco = json.loads(contents(table, ITEMS, facts, formats_of(MARKED))["boxes_coco.json"])
        return [each for each in coco["annotations"] if each["image_id"] == 2]

    more = _drawn(("Dog", 1, 2, 30, 40), ("Ant", 100, 2, 30, 40))
    assert numbers(_drawn()) == numbers(more) != []


def test_formats_of_marks_fit_tasks_with_marks_only() -> None:
    """And are then written without being named."""
    assert {"coco_json", "imagefolder", "conll", "brat"} < {*formats_of(MARKED)}
    assert {*formats_of(TASK)} == {"csv", "parquet"}
