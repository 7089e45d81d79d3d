"""Campaigns whose question, options and examples are in the campaign file."""

import csv
import json
import re
import shutil
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pandas as pd
import pytest
from click.testing import CliRunner
from PIL import Image

from piecework.analyses.transcripts import likeness, words_in
from piecework.campaign.assembling import load_campaign
from piecework.campaign.binding import bind_store
from piecework.campaign.pricing import price
from piecework.campaign.questions import faults_of_row, item_on_page
from piecework.campaign.shown_media import media_of
from piecework.campaign.warnings import campaign_warnings
from piecework.cli.main import main
from piecework.domain.errors import ConfigError, StoreError
from piecework.domain.field import is_graded
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.hit_templates.messages import FOLDER
from piecework.hit_templates.page_compression import decompress
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.rules import check
from piecework.platforms.clocks import START
from piecework.results.export import export
from piecework.results.table import answers_table
from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.checking import check_campaign
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through
from piecework.store.database import open_store
from tests.small_campaign import heuristics_off

CAMPAIGN = f"""
name = "own"
description = "A question of one's own."
%s
answers = 3
reward = "0.10"
budget = "50.00"
hourly_wage = "5.00"
formats = ["csv"]
[items]
file = "items.csv"
[posting]
max_rounds = 1
[heuristics]
{heuristics_off("straight_line", "low_agreement", "same_sentence", "rule_violation")}[decisions]
by = "policy"
[[decisions.rule]]
on = "answer"
any_of = ["rule_violation"]
then = "drop"
because = "Not what the page asks for."
[rehearsal.crowd]
diligent = 4
"""
DESCRIBE = """task = "describe"
[text]
min_words = 3
max_words = 60
max_characters = 400
max_capitals_percent = 50
one_sentence = true
banned_beginnings = ["There is", "It's"]
canned = "I cannot see anything at all."
[[examples]]
text = "Cold soup."
answer = "The soup was served cold."
because = "It says <i>what</i> was served."
"""
CHOOSE = """task = "choose"
question = "Is it about <b>food</b>?"
instructions = ["Read it.", "Then choose."]
options = ["yes", "no", { value = "unsure", label = "I am not sure" }]
"""
SEVERAL = """task = "choose"
question = "What is it about?"
options = ["food", "the service", "price"]
several = true
"""
COMPARE = """task = "compare"
question = "Which logo is clearer?"
options = ["left", "right", "the same"]
"""
RATE = """task = "rate"
question = "How good is it?"
scale = ["1 bad", "5 good"]
"""
GRADES = """task = "rate"
question = "How good is it?"
options = ["bad", "fair", "very good"]
"""
TEXTS = [{"text": f"Review number {n} says something"} for n in range(10)]
PAIRS = [
    {"pair_id": f"p{n}", "left": f"https://e.org/{n}a.png", "right": f"https://e.org/{n}b.png"}
    for n in range(10)
]
KINDS = {
    "describe": (DESCRIBE, TEXTS),
    "choose": (CHOOSE, TEXTS),
    "several": (SEVERAL, TEXTS),
    "compare": (COMPARE, PAIRS),
    "rate": (RATE, TEXTS),
    "grades": (GRADES, TEXTS),
}


LABELS: dict[str, tuple[set[object], str]] = {
    "choose": ({"yes", "no", "unsure"}, "answer"),
    "several": ({"food", "the service", "price"}, "answer_share_food"),
    "compare": ({"left", "right", "the same"}, "answer"),
    "rate": ({1.0, 2.0, 3.0, 4.0, 5.0}, "answer_mean"),
    "grades": ({"1", "2", "3"}, "answer_mean"),
}
"""What a worker may choose, and the column of an item's label."""


def written(folder: Path, stated: str, rows: Sequence[Mapping[str, str]] = TEXTS) -> Path:
    """The campaign with its items."""
    with (folder / "items.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    head = stated.partition("\n[")
    tables = f"[{head[2]}" if head[2] else ""
    path = folder / "own.toml"
    path.write_text((CAMPAIGN % head[0]) + tables, encoding="utf-8")
    return path


def page_of(path: Path) -> str:
    """The page of the first HIT."""
    campaign = load_campaign(path)
    items = [item_on_page(campaign, item) for item in campaign.items]
    return decompress(render_hit(campaign.task, items[: campaign.task.items_per_hit]))


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_rehearsed_to_labels_and_a_report(tmp_path: Path, kind: str) -> None:
    """What the page accepts breaks no rule, and reaches dataset, labels and report."""
    stated, rows = KINDS[kind]
    path = written(tmp_path, stated, rows)
    with rehearsal_of(prepare(path)) as (run, crowd):
        work_through(run, crowd)
        table = answers_table(run)
        export(run)
    assert len(table) >= 3 * len(rows)
    assert table["problems"].map(len).sum() == 0
    items = pd.read_csv(tmp_path / "out/own/dataset/items.csv")
    assert len(items) == len(rows)
    dataset = tmp_path / "out/own/dataset"
    assess = CliRunner().invoke(main, ["data", "assess", str(dataset)])
    assert "is a dataset of piecework; its answers are in answers.csv" in assess.output
    describe = CliRunner().invoke(main, ["data", "describe", str(dataset)])
    if kind == "describe":
        assert table["value.answer"].str.split().map(len).min() >= 3
        assert "Note: The column answer holds the texts, item_id the items." in describe.output
        assert f"{dataset / 'answers.csv'} --text answer --item item_id" in assess.output
        return
    assert f"next: piecework data analyse {dataset / 'answers.csv'}" in describe.output
    allowed, label = LABELS[kind]
    sent = set(table["value.answer"].explode())
    assert sent <= allowed
    assert len(sent) > 1
    assert items[label].notna().all()
    assert f"input_{list(rows[0])[-1]}" in items
    report = (tmp_path / "out/own/report.html").read_text("utf-8")
    assert load_campaign(path).task.fields[0].label in unescape(report)


def test_the_texts_of_the_file_are_no_markup(tmp_path: Path) -> None:
    """Question, instructions, options and examples are shown as they are written."""
    page = page_of(written(tmp_path, CHOOSE))
    assert "Is it about &lt;b&gt;food&lt;/b&gt;?" in page
    assert "<li>Read it.</li>" in page
    assert "<span>I am not sure</span>" in page
    page = page_of(written(tmp_path, DESCRIBE))
    assert "It says &lt;i&gt;what&lt;/i&gt; was served." in page
    assert 'data-text="I cannot see anything at all."' in page


def test_a_scale_has_words_at_its_ends(tmp_path: Path) -> None:
    """They stand below the numbers; a long scale is a slider."""
    page = page_of(written(tmp_path, RATE))
    assert '<p class="ends" aria-hidden="true"><span>bad</span><span>good</span></p>' in page
    assert page.count('type="radio" name="answer.1"') == 5
    assert 'type="range"' in page_of(written(tmp_path, RATE.replace("5 good", "99 good")))


def test_numbers_to_choose_from_are_no_grades(tmp_path: Path) -> None:
    """Quality control and the report put only the options of "rate" in order."""
    asked = 'task = "choose"\nquestion = "How many people?"\noptions = ["1", "2", "3"]\n'
    fields = {}
    for kind, stated in (("choose", asked), ("rate", GRADES)):
        (tmp_path / kind).mkdir()
        (fields[kind],) = load_campaign(written(tmp_path / kind, stated)).task.fields
    for field in fields.values():
        assert [option.value for option in field.options] == ["1", "2", "3"]
    assert (is_graded(fields["choose"]), is_graded(fields["rate"])) == (False, True)


@pytest.mark.parametrize("values", [["0", "1", "2", "3"], ["5", "4", "3"], ["-1", "0", "1"]])
def test_steps_that_are_numbers_keep_them(tmp_path: Path, values: list[str]) -> None:
    """Only words are counted from 1 on; a number that would become another one is refused."""
    stated = f'task = "rate"\nquestion = "How good is it?"\noptions = {json.dumps(values)}\n'
    (field,) = load_campaign(written(tmp_path, stated)).task.fields
    assert [(option.value, option.label) for option in field.options] == [
        (value, value) for value in values
    ]
    mixed = stated.replace(f'"{values[-1]}"', '"not sure"')
    with pytest.raises(ConfigError, match=f"{values[0]!r} among words would count as 1, its place"):
        load_campaign(written(tmp_path, mixed))


def test_a_text_keeps_the_rules_of_the_file(tmp_path: Path) -> None:
    """Its words, its length, its sentences and its beginning; a canned text obeys them too."""
    task = load_campaign(written(tmp_path, DESCRIBE)).task
    tried = {
        "Too short": "min_words",
        "word " * 61: "max_words",
        "long-" * 90 + "word is here": "max_length",
        "A BOWL of soup": "",
        "A BIG BOWL of soup": "max_capitals",
        "It was hot. It was cold.": "one_sentence",
        "There is a dog here": "banned_prefixes",
        "It\u2019s a dog, I think": "banned_prefixes",
    }
    for text, rule in tried.items():
        broken = [each.kind for each in check(task, {"answer": text})]
        assert broken == [rule] * bool(rule), text
    assert check(task, {"answer": "Dr. Lee met a dog."}) == ()
    assert check(task, {"answer": task.canned_text}) == ()


ANY = {
    "review_id": "r1",
    "note": "",
    "photo": "https://e.org/a.JPG?x=1",
    "picture": "https://e.org/photo/17",
    "sound": "https://e.org/a.mp3",
    "film": "https://e.org/a.mp4",
    "page": "https://e.org/about",
    "text": "See https://e.org/a.png",
    "truth.answer": "yes",
    "gold.answer": "",
    "practice": "",
    "split": "train",
}


def test_cells_decide_how_a_column_is_shown(tmp_path: Path) -> None:
    """In the file's order, without ids, truths and what only piecework reads."""
    rows = [ANY, {**ANY, "review_id": "r2", "note": "only here"}]
    path = written(tmp_path, CHOOSE, rows)
    path.write_text(path.read_text() + '[dataset]\nsplits = "split"\n')
    task = load_campaign(path).task
    assert task.columns[0] == "review_id"
    assert [(part.column, part.kind) for part in task.parts] == [
        ("note", "text"),
        ("photo", "picture"),
        ("picture", "picture"),
        ("sound", "audio"),
        ("film", "video"),
        ("page", "link"),
        ("text", "text"),
    ]
    assert [part.column for part in task.parts if part.may_lack] == ["note"]
    page = page_of(path)
    assert page.count("only here") == 1
    assert 'href="https://e.org/about"' in page
    assert "truth" not in page


def test_texts_that_differ_by_a_letter_or_blank_can_be_compared(tmp_path: Path) -> None:
    """Two equal texts are refused; a line's indentation or a capital is a difference."""
    pairs = [("Paris", "paris"), ("if x:\n  y", "if x:\n    y"), ("4", "4 "), ("x" * 99, "x" * 99)]
    rows = [{"id": f"p{n}", "left": left, "right": right} for n, (left, right) in enumerate(pairs)]
    with pytest.raises(ConfigError) as raised:
        load_campaign(written(tmp_path, COMPARE, rows))
    what = "no answer could tell them apart, so change the row or leave it out"
    assert [fault.partition("own.toml: ")[2] for fault in raised.value.faults] == [
        f"item 'p2': answer offers '4' 2 times; {what}",
        f"item 'p3': answer offers '{'x' * 60}…' 2 times; {what}",
    ]


def test_a_column_of_answers_that_workers_see_is_named(tmp_path: Path) -> None:
    """Workers who see the right answer need not look; a column without a name is ignored."""
    rows = [{"": "0", "kind": "yes", "text": "A"}, {"": "1", "kind": "no", "text": "yes"}]
    checked = check_campaign(written(tmp_path, CHOOSE, rows), on=START.date())
    assert [part.column for part in checked.campaign.task.parts] == ["kind", "text"]
    (warning,) = [text for text in checked.warnings if "truth.answer" in text]
    assert "'kind'" in warning


def test_a_folder_of_the_same_name_is_a_task_of_its_own(tmp_path: Path) -> None:
    """It has its own question, so the file cannot state one."""
    shutil.copytree(FOLDER / "_starters" / "choice", tmp_path / "choose")
    rows = [{"item_id": "a", "text": "A"}]
    assert not load_campaign(written(tmp_path, 'task = "./choose"', rows)).task.is_generic
    path = written(tmp_path, 'task = "./choose"\nquestion = "Q"', rows)
    with pytest.raises(ConfigError, match=r"own\.toml:5: question: goes with task"):
        load_campaign(path)


def test_a_folder_of_pictures_is_described(tmp_path: Path) -> None:
    """Without a question, workers describe each picture."""
    path = written(tmp_path, 'task = "describe"')
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos/a b.jpg").write_bytes(b"\xff\xd8\xff")
    path.write_text(path.read_text().replace('[items]\nfile = "items.csv"', 'pictures = "photos"'))
    page = page_of(path)
    assert 'src="/pictures/a%20b.jpg"' in page
    assert "Describe this picture in one or two sentences" in page


NAMES = ["Robin #3.jpg", "What?.jpg", "/pictures/C#/50%.jpg", "/pictures/a%20b.jpg"]
"""Names of files with what ends the path of an address, or stands for another sign."""


@pytest.mark.parametrize("stated", [CHOOSE, 'task = "hit.html"'])
def test_a_picture_s_file_may_have_any_name(tmp_path: Path, stated: str) -> None:
    """The page loads each, also where the cell begins as the marketplace serves it."""
    html = "<form><img src='${photo}'><input name='kind' required></form>"
    (tmp_path / "hit.html").write_text(html)
    path = written(tmp_path, stated, [{"photo": name} for name in NAMES])
    path.write_text('pictures = "photos"\n' + path.read_text())
    for name in NAMES:
        file = tmp_path / "photos" / name.removeprefix("/pictures/")
        file.parent.mkdir(exist_ok=True, parents=True)
        Image.new("RGB", (9, 9)).save(file, "JPEG")
    campaign = check_campaign(path, on=START.date(), reach=True).campaign
    addresses = [medium.address for medium in media_of(campaign, campaign.items)]
    assert [unquote(address) for address in addresses] == [
        f"/pictures/{name.removeprefix('/pictures/')}" for name in NAMES
    ]
    assert [urlsplit(address).path for address in addresses] == addresses
    page = page_of(path)
    assert all(address in page for address in addresses[: campaign.task.items_per_hit])


def test_items_that_grow_show_the_columns_of_the_first_rows(tmp_path: Path) -> None:
    """A later row may lack any of them."""
    rows = [{"item_id": f"r{n}", **row} for n, row in enumerate(TEXTS)]
    path = written(tmp_path, CHOOSE, rows)
    path.write_text(path.read_text().replace("[posting]", "[grows]\n[posting]"))
    campaign = load_campaign(path)
    assert [(part.column, part.may_lack) for part in campaign.task.parts] == [("text", True)]


@pytest.mark.parametrize("name", ["id", "ID"])
def test_items_that_grow_may_call_their_id_so(tmp_path: Path, name: str) -> None:
    """As those that do not grow; a header without any id is shown with what to write."""
    path = written(tmp_path, CHOOSE, [{name: f"r{n}", **row} for n, row in enumerate(TEXTS)])
    text = path.read_text().replace("[posting]", "[grows]\n[posting]")
    path.write_text(text)
    checked = check_campaign(path, on=START.date())
    assert checked.campaign.task.columns[0] == name
    assert checked.campaign.items[0].item_id == "r0"
    written(tmp_path, CHOOSE, [{"key": "a", "text": "A"}])
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"no column item_id.*; the columns are key, text"):
        load_campaign(path)


def test_a_later_row_is_no_link_to_anything_but_a_page(tmp_path: Path) -> None:
    """A source may be written by others; the first rows said that the cells are addresses."""
    first = [{"item_id": "a", "page": "https://example.org/1", "sound": "https://a.org/1.mp3"}]
    path = written(tmp_path, CHOOSE, first)
    path.write_text(path.read_text().replace("[posting]", "[grows]\n[posting]"))
    campaign = load_campaign(path)
    assert [part.kind for part in campaign.task.parts] == ["link", "audio"]
    for cell in ("javascript:alert(1)", " javascript:alert(1)", "data:text/html,x", "/x", "a b"):
        for column in ("page", "sound"):
            later = Item(item_id=ItemId("b"), columns={**first[0], column: cell})
            (fault,) = faults_of_row(campaign, later)
            assert fault.startswith(f"{column} is ")
    fine = Item(item_id=ItemId("b"), columns={"item_id": "b", "page": "http://b.org/x"})
    assert not [*faults_of_row(campaign, fine)]


def test_a_store_is_bound_to_the_texts_of_the_file(tmp_path: Path) -> None:
    """Answers to another question would not be comparable; a title may change."""
    path = written(tmp_path, CHOOSE)
    store = open_store(tmp_path / "piecework.db", create=True)
    bind_store(store, load_campaign(path), "here")
    text = path.read_text()
    path.write_text(text.replace("[posting]", '[posting]\ntitle = "Reviews"'))
    bind_store(store, load_campaign(path), "here")
    path.write_text(text.replace("Then choose.", "Choose."))
    with pytest.raises(StoreError, match=r"changed: instructions in .*own\.toml"):
        bind_store(store, load_campaign(path), "here")
    store.close()


@pytest.mark.parametrize("language", ["en", "he", "zh-Hant"])
def test_the_page_around_a_question_speaks_three_languages(tmp_path: Path, language: str) -> None:
    """The texts of the file stay as they are."""
    for stated, rows in KINDS.values():
        path = written(tmp_path, f'language = "{language}"\n{stated}', rows)
        assert f'lang="{language}"' in page_of(path)


_FIFTY_ONE = ", ".join(f'"o{n}"' for n in range(51))
TAGS = """task = "tag"
question = "Mark <b>each</b> ${name} in {{ the text }}."
options = ["person", "a $5 {place}"]
instructions = ["Mark whole names."]
"""


@pytest.mark.parametrize(
    ("stated", "rows"),
    [
        (RATE, [{"text": "Good."}, {"text": "Bad."}, {"text": "Good."}]),
        (
            TAGS,
            [{"id": "1", "text": "Good."}, {"id": "2", "text": "Bad."}, {"id": "1", "text": "No"}],
        ),
    ],
)
def test_repeated_rows_are_counted_before_workers_are_paid_for_them(
    tmp_path: Path, stated: str, rows: list[dict[str, str]]
) -> None:
    """Rows without ids of their own are numbered, also where an export has some of them twice."""
    campaign = load_campaign(written(tmp_path, stated, rows))
    for items, is_repeated in ((campaign.items, True), (campaign.items[:2], False)):
        warned = campaign_warnings(replace(campaign, items=items), price(campaign, on=START.date()))
        assert any("repeated in 1 row, first row_3" in each for each in warned) == is_repeated


def test_an_id_of_a_document_is_no_repeated_row(tmp_path: Path) -> None:
    """Where rows have ids of their own, a column called `id` may say the same of several."""
    rows = [{"item_id": f"{n}", "id": "doc7", "text": f"Sentence {n}"} for n in range(3)]
    campaign = load_campaign(written(tmp_path, RATE, rows))
    warned = campaign_warnings(campaign, price(campaign, on=START.date()))
    assert not [each for each in warned if "repeated" in each]


@pytest.mark.parametrize("shown", ["text", "picture"])
def test_tags_are_rehearsed_to_merged_regions(tmp_path: Path, shown: str) -> None:
    """Spans of a text, or boxes in a picture; workers read the other texts."""
    rows = [{"about": "Names", "text": "Ada met Bob."}, {"about": "Towns", "text": "To Rome!"}]
    if shown == "picture":
        rows = [{"about": row["about"], "photo": "https://e.org/a.png"} for row in rows]
    path = written(tmp_path, TAGS, rows)
    other = 'conll", "brat' if shown == "text" else "coco_json"
    path.write_text(path.read_text().replace('formats = ["csv"', f'formats = ["csv", "{other}"'))
    with rehearsal_of(prepare(path)) as (run, crowd):
        work_through(run, crowd)
        export(run)
    dataset = tmp_path / "out/own/dataset"
    items = pd.read_csv(dataset / "items.csv")
    part = "entities" if shown == "text" else "boundingBoxes"
    merged = [region for cell in items["answer_merged"] for region in json.loads(cell)[part]]
    assert {region["label"] for region in merged} <= {"person", "a $5 {place}"}
    assert merged
    assert items["input_about"].tolist() == ["Names", "Towns"]
    if shown == "picture":
        coco = json.loads((dataset / "answer_coco.json").read_bytes())
        assert [each["name"] for each in coco["categories"]] == ["person", "a $5 {place}"]
        return
    archive = zipfile.ZipFile(dataset / "answer_brat.zip")
    texts = [archive.read(name).decode() for name in archive.namelist() if name.endswith(".txt")]
    assert texts == ["Ada met Bob.", "To Rome!"]
    lines = (dataset / "answer.conll").read_text().splitlines()
    tags = [line.split("\t")[1] for line in lines if "\t" in line]
    # Of two workers all spans stay, so they may overlap.
    left_out = [int(line.rpartition(" ")[2]) for line in lines if line.startswith("# spans left")]
    assert sum(tag.startswith("B-") for tag in tags) + sum(left_out) == len(merged)


@pytest.mark.parametrize(
    ("column", "cells", "asked"),
    [
        ("recording", ["https://e.org/a.mp3", "https://e.org/b.mp3"], "what you hear"),
        ("sign", ["https://e.org/a.png", "https://e.org/b.png"], "in this picture"),
    ],
)
def test_transcripts_are_rehearsed_to_a_merged_text(
    tmp_path: Path, column: str, cells: list[str], asked: str
) -> None:
    """Of what simulated workers hear, most words are right; the page plays nothing by itself.

    Line breaks and spaces stay as they were written.
    """
    truth = "the last train\nfollows my  neighbour in the morning"
    rows = [{column: cell, "truth.answer": truth} for cell in cells]
    path = written(tmp_path, 'task = "transcribe"', rows)
    page = page_of(path)
    assert asked in page
    assert "autoplay" not in page
    with rehearsal_of(prepare(path)) as (run, crowd):
        work_through(run, crowd)
        export(run)
    answers = pd.read_csv(tmp_path / "out/own/dataset/answers.csv")
    assert answers["answer"].tolist() == answers["answer_original"].tolist()
    assert answers["answer"].str.contains("\n").any()
    assert "What cleaning changed" not in (tmp_path / "out/own/report.html").read_text()
    items = pd.read_csv(tmp_path / "out/own/dataset/items.csv")
    assert all(likeness(words_in(text), words_in(truth)) >= 0.5 for text in items["answer_merged"])
    assert items["answer_agreement"].between(0, 1).all()


def test_boxes_of_a_rehearsal_are_in_their_pictures(tmp_path: Path) -> None:
    """Pictures of 40 by 20 and of 3 by 900 pixels; a worker states the picture's size."""
    (tmp_path / "photos").mkdir()
    sizes = {"a.png": (40, 20), "b.png": (3, 900)}
    for name, size in sizes.items():
        Image.new("RGB", size).save(tmp_path / "photos" / name)
    path = written(tmp_path, TAGS)
    text = path.read_text().replace('[items]\nfile = "items.csv"\n', "")
    path.write_text(f'items = "photos"\n{text}')
    with rehearsal_of(prepare(path)) as (run, crowd):
        work_through(run, crowd)
        table = answers_table(run)
    for item_id, answer in zip(table["item_id"], table["value.answer"], strict=True):
        wide, high = sizes[item_id]
        document = json.loads(answer)
        assert document["inputImageProperties"] == {"width": wide, "height": high}
        for box in document["boundingBoxes"]:
            assert box["left"] + box["width"] / 2 <= wide
            assert box["top"] + box["height"] / 2 <= high


def test_the_texts_of_a_tagging_task_are_no_markup_and_no_gaps(tmp_path: Path) -> None:
    """The page shows them as they are written, and its only gaps are the items' columns."""
    path = written(tmp_path, TAGS)
    task = load_campaign(path).task
    assert {*task.columns, *task.optional_columns} == {"item_id", "text"}
    page = page_of(path)
    element = re.search(r'<h1>([^<]*)</h1>.* labels="([^"]*)"', page)
    assert element is not None
    question, labels = map(unescape, element.groups())
    assert question == "Mark <b>each</b> ${name} in {{ the text }}."
    assert json.loads(labels) == [{"label": "person"}, {"label": "a $5 {place}"}]
    assert "<p>Mark whole names.</p>" in page
    store = open_store(tmp_path / "piecework.db", create=True)
    bind_store(store, load_campaign(path), "here")
    path.write_text(path.read_text().replace("whole names", "names"))
    with pytest.raises(StoreError, match="changed: instructions"):
        bind_store(store, load_campaign(path), "here")
    store.close()


def test_a_column_that_is_no_gap_of_a_page_is_named_otherwise(tmp_path: Path) -> None:
    """The sentence has the line to write, and with it the text is shown as it is."""
    path = written(tmp_path, TAGS, [{"text (EN)": "Ada & <b>Bob</b> ${x}"}])
    with pytest.raises(ConfigError, match=r'otherwise: columns = \{ text = "text \(EN\)" \}'):
        load_campaign(path)
    path = written(tmp_path, TAGS, [{"text (EN)": "Ada & <b>Bob</b> ${x}"}])
    text = path.read_text().replace("[items]", '[items]\ncolumns = { text = "text (EN)" }')
    path.write_text(text)
    assert "Ada &amp; &lt;b&gt;Bob&lt;/b&gt; ${x}" in page_of(path)


def test_trials_that_the_page_would_not_show_are_refused(tmp_path: Path) -> None:
    """A rating shows them first; tags have no place for them."""
    rows = [{"text": "Ada met Bob.", "practice": trial} for trial in ("yes", "")]
    assert len(load_campaign(written(tmp_path, RATE, rows)).practice) == 1
    with pytest.raises(ConfigError, match=r"practice is set for 1 item, first .* no trials"):
        load_campaign(written(tmp_path, TAGS, rows))


def test_tags_of_items_that_grow_are_asked_about_the_first_rows(tmp_path: Path) -> None:
    """Without a row the columns are not known; with one, the page shows them."""
    path = written(tmp_path, TAGS, [{"item_id": "a", "text": "Ada met Bob."}])
    finite = path.read_text()
    growing = finite.replace("[items]", "[grows]\nbatch = 5\n[items]")
    path.write_text(growing)
    assert "text" in load_campaign(path).task.columns
    (tmp_path / "items.csv").write_text("item_id,text\n")
    for stated, fault in ((growing, "no row can be used yet"), (finite, "has no items")):
        path.write_text(stated)
        with pytest.raises(ConfigError, match=fault):
            load_campaign(path)


def test_a_night_without_rows_is_no_fault_of_the_ids(tmp_path: Path) -> None:
    """A generic task also takes `id`, in a header as in a first row that cannot be used."""
    path = written(tmp_path, RATE)
    growing = path.read_text().replace("[items]", "[grows]\n[items]")
    for name, text in (("items.csv", "id,text\n"), ("items.jsonl", '{"id": "7.0", "text": "A"}\n')):
        (tmp_path / name).write_text(text)
        path.write_text(growing.replace("items.csv", name))
        with pytest.raises(ConfigError, match="no row can be used yet") as refused:
            load_campaign(path)
        assert "item_id" not in str(refused.value)


def test_rows_without_the_id_say_which_columns_they_have(tmp_path: Path) -> None:
    """A growing source knows its ids by a column; the user learns its name and what to write."""
    path = written(tmp_path, TAGS, [{"text": "Ada met Bob."}])
    path.write_text(
        path.read_text().replace("[items]", "[grows]\n[items]").replace(".csv", ".jsonl")
    )
    for row, fault, step in (
        ('{"sku": "1", "text": "A"}\n', "item_id is missing.*columns are sku, text", "columns = "),
        ('{"item_id": "1", "text": ["A"]}\n', "'text' is a list", "correct the row"),
        ('{"item_id": "1", "text": "A"}', "no line break yet", "to its end"),
    ):
        (tmp_path / "items.jsonl").write_text(row)
        with pytest.raises(ConfigError, match=fault) as refused:
            load_campaign(path)
        assert step in refused.value.next_step


@pytest.mark.parametrize(
    ("stated", "kind", "cell"),
    [
        (TAGS, "text", "To Rome!"),
        (TAGS, "photo", "https://e.org/b.png"),
        ('task = "transcribe"', "sound", "https://e.org/b.mp3"),
    ],
)
def test_a_later_row_with_nothing_to_work_on_is_set_aside(
    tmp_path: Path, stated: str, kind: str, cell: str
) -> None:
    """A text beside it is no work; the same row with the cell is asked about."""
    first = {"item_id": "a", "about": "Names", kind: cell}
    path = written(tmp_path, stated, [first, first | {"item_id": "b"}])
    path.write_text(path.read_text().replace("[items]", "[grows]\nbatch = 5\n[items]"))
    campaign = load_campaign(path)

    def faults(of_row: str) -> list[str]:
        cells = {"item_id": "c", "about": "Towns", kind: of_row}
        return faults_of_row(campaign, Item(item_id=ItemId("c"), columns=cells))

    assert not faults(cell)
    assert [kind in fault and "empty" in fault for fault in faults("")] == [True]


def test_a_known_answer_of_tags_is_what_the_page_sends(tmp_path: Path) -> None:
    """A label in place of the JSON would be an answer that no worker can give."""
    known = json.dumps({"entities": [{"label": "person", "startOffset": 0, "endOffset": 3}]})
    load_campaign(written(tmp_path, TAGS, [{"text": "Ada met Bob.", "gold.answer": known}]))
    for wrong in ("person", '{"boundingBoxes": 5}', "[]"):
        path = written(tmp_path, TAGS, [{"text": "Ada met Bob.", "gold.answer": wrong}])
        with pytest.raises(ConfigError, match=r"allowed is what the page sends: .*entities"):
            load_campaign(path)


WRONG = {
    "no sound": ('task = "transcribe"', "", "", "workers transcribe a sound, a video or a"),
    "no tag": ('task = "tag"\nquestion = "Q"', "", "", "options: there must be"),
    "a tag with a label": (TAGS, '"person"', '{ value = "p", label = "Person" }', "takes no label"),
    "an example of tags": (
        TAGS,
        "instr",
        "examples = [{ text = 'a', answer = 'b' }]\ninstr",
        "goes with task",
    ),
    "no question": (CHOOSE, "question = ", "description2 = ", "description2"),
    "no question at all": ('task = "choose"\noptions = ["a", "b"]', "", "", "question: is missing"),
    "no option": ('task = "choose"\nquestion = "Q"', "", "", "options: there must be two"),
    "one option": (
        CHOOSE,
        '"yes", "no", { value = "unsure", label = "I am not sure" }',
        '"a"',
        "1",
    ),
    "an empty option": (CHOOSE, '"no"', '" "', "own.toml:7: options[2]: an option is a text that"),
    "a number": (CHOOSE, '"no"', "3", "an option is a text, or { value"),
    "a doubled option": (CHOOSE, '"no"', '"Yes "', "own.toml:7: options: the value 'yes' is there"),
    "a doubled label": (CHOOSE, '"I am not sure"', '"no"', "the label 'no' is there twice"),
    "a bar": (CHOOSE, '"no"', '"a|b"', "has a | or a line break"),
    "too many": (CHOOSE, '"yes", "no",', f"{_FIFTY_ONE},", "there are 52; a page can offer 50"),
    "an option's key": (CHOOSE, "label =", "text =", "an option is a text, or { value"),
    "no columns": (COMPARE, '"left", "right"', '"lft", "rght"', "did you mean 'left'?"),
    "one column": (COMPARE, '"right"', '"other"', "name the columns to compare, two or more"),
    "a label of a column": (
        COMPARE,
        '"left"',
        '{ value = "left", label = "A" }',
        "so it takes no label",
    ),
    "another task's key": (RATE, "scale", "several = true\nscale", 'goes with task = "choose"'),
    "a text of a choice": (
        CHOOSE,
        "question",
        "text = {}\nquestion",
        'goes with task = "describe"',
    ),
    "a gallery task": (
        'task = "caption"\nquestion = "Q"',
        "",
        "",
        "own.toml:5: question: goes with",
    ),
    "an unknown task": (CHOOSE, '"choose"', '"chose"', "did you mean 'choose'?"),
    "no scale": (RATE, "scale", "# scale", "scale: write the numbers"),
    "a scale backwards": (RATE, "1 bad", "9 bad", "second number must be 1 to 100 above"),
    "a long scale": (RATE, "5 good", "900 good", "second number must be 1 to 100 above"),
    "a grade": (GRADES, '"bad"', '{ value = "x", label = "bad" }', "values of grades are whole"),
    "a canned text": (
        DESCRIBE,
        '"I cannot see anything at all."',
        '"No."',
        "text.canned: it breaks min_words",
    ),
    "more words than there may be": (
        DESCRIBE,
        "max_words = 60",
        "max_words = 2",
        "min_words = 3 is",
    ),
    "an example's column": (
        DESCRIBE,
        'text = "Cold',
        'txt = "Cold',
        "examples[1]: no column 'txt'",
    ),
    "an example's answer": (DESCRIBE, '"The soup was', '"There is soup', "the page refuses"),
    "no answer": (
        DESCRIBE,
        'answer = "The soup was served cold."',
        "",
        "an example has the columns",
    ),
    "fields": (CHOOSE, "question", "hosts = ['a.example']\nquestion", "go with a page"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_one_sentence_with_its_line(tmp_path: Path, name: str) -> None:
    """It says what to write."""
    stated, before, after, fault = WRONG[name]
    folder = tmp_path / name.replace(" ", "_")
    folder.mkdir()
    rows = PAIRS if stated == COMPARE else TEXTS
    path = written(folder, stated.replace(before, after, 1) if before else stated, rows)
    with pytest.raises(ConfigError) as raised:
        load_campaign(path)
    assert any(fault in sentence for sentence in raised.value.faults), raised.value.faults
    assert len(raised.value.faults) == 1, raised.value.faults
    if name != "an unknown task":
        assert raised.value.faults[0].startswith(f"{path}:"), raised.value.faults
