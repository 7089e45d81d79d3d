"""Items with their pictures: which are chosen, and what is said of them."""

import json
from dataclasses import replace

import pandas as pd
import pytest

from piecework.domain.edit import Edit
from piecework.domain.field import Field
from piecework.domain.tables import value_column
from piecework.domain.text import regions_in_words
from piecework.hit_templates.tasks import load_task
from piecework.report.components import Card, Gallery, Piece
from piecework.report.facts import ReportFacts
from piecework.report.item_sample import ShownItem, choose_items
from piecework.report.model import report_model
from piecework.report.page import render_report
from piecework.report.sections import answers_and_agreement, items, texts
from tests.postprocess.answers_by_hand import TASK, rows
from tests.postprocess.made_tables import caption_task
from tests.postprocess.test_aggregates import JUDGEMENTS
from tests.report.campaign import by_hand, made_up


def _cards() -> dict[str, Card]:
    return {card.heading: card for card in _gallery(by_hand.small()).cards}


def _gallery(facts: ReportFacts) -> Gallery:
    gallery = items.gallery(report_model(facts))
    assert gallery is not None
    return gallery


def test_items_are_chosen_for_what_their_answers_say() -> None:
    """Of image 1 and 3 kept captions differ; of image 2 a canned one was dropped."""
    kinds = choose_items(by_hand.small().answers, caption_task())

    assert kinds == {"i1": "disputed", "i3": "disputed", "i2": "dropped"}


def test_the_order_of_rows_does_not_change_the_choice() -> None:
    """Equal answers give equal reports."""
    answers = made_up.large(items=60).answers
    kinds = choose_items(answers, caption_task())

    assert len(kinds) == 10
    assert list(kinds) == list(choose_items(answers.iloc[::-1], caption_task()))


def test_a_card_has_every_answer_with_what_became_of_it() -> None:
    """Image 1: two kept, one surplus, one rejected; the rejected one comes last."""
    card = _cards()["i1"]

    replies = (*card.replies, *card.more)
    assert [(reply.tag.text, reply.text) for reply in replies] == [
        ("kept", "the red bottle stands"),
        ("kept", "the bottle is red"),
        ("surplus", "a bottle"),
        ("rejected", "buy things"),
    ]
    assert replies[3].because == "off the subject"
    assert len(card.replies) == 2
    assert card.picture == made_up.PICTURE


def test_spaces_that_were_changed_are_seen() -> None:
    """Clean and typed text would look the same; the cleaning's pairs would be blank."""
    facts = by_hand.small()
    edit = Edit(start=0, end=1, before="\u00a0", after=" ", rule="whitespace", reason="")
    edits = pd.Series([(edit,)] * len(facts.answers), index=facts.answers.index)
    answers = facts.answers.assign(text="the\u00a0red  bottle stands", edits=edits)
    facts = replace(facts, answers=answers)
    shown = tuple(replace(item, kind="edited") for item in facts.shown_items)
    facts = replace(facts, shown_items=shown)
    card = _gallery(facts).cards[0]
    assert Piece("⟨U+00A0⟩", "del") in card.replies[0].changed
    cleaned = texts.cleaning_section(report_model(facts))
    assert cleaned is not None
    assert "⟨U+00A0⟩" in str(cleaned.tables[1].rows[0])


def _edited(text: str, *edits: tuple[str, str]) -> str:
    """The HTML of what a card shows of a text with these changes."""
    made, end = [], 0
    for before, after in edits:
        start = text.index(before, end)
        end = start + len(before)
        edit = Edit(start=start, end=end, before=before, after=after, rule="spelling", reason="")
        made.append(edit)
    facts = by_hand.small()
    edits_of_all = pd.Series([tuple(made)] * len(facts.answers), index=facts.answers.index)
    facts = replace(facts, answers=facts.answers.assign(text=text, edits=edits_of_all))
    shown = tuple(replace(item, kind="edited") for item in facts.shown_items[:1])
    html = render_report(replace(facts, shown_items=shown))
    start = html.index('<ul class="replies">')
    return html[html.index("<bdi>", start) + 5 : html.index("</bdi>", start)]


def test_a_cleaned_text_shows_its_edits_with_a_few_words_around_each() -> None:
    """Words far from an edit are left out; what was removed and inserted is marked up."""
    far = "which stands on a long wooden shelf beside the window of a kitchen with "
    shown = _edited(
        f"a blie mug {far}a greern lid and nothing else at all in sight",
        ("blie", "blue"),
        ("greern", "green"),
    )
    assert shown == (
        "a <del>blie</del><ins>blue</ins> mug which stands on a … of a kitchen with a "
        "<del>greern</del><ins>green</ins> lid and nothing else …"
    )


@pytest.mark.parametrize(
    ("text", "edit", "expected"),
    [
        ("two  cats", ("  ", " "), "two<del>␣␣</del><ins>␣</ins>cats"),
        ("a cat ", (" ", ""), "a<del>␣</del>cat "),
        ("withan arm", ("withan", "with an"), "<del>withan</del><ins>with an</ins> arm"),
        ("<b>colr</b>", ("colr", "color"), "&lt;b&gt;<del>colr</del><ins>color</ins>&lt;/b&gt;"),
        ("חתול ארוום יפה", ("ארוום", "אדום"), "חתול <del>ארוום</del><ins>אדום</ins> יפה"),
        ("一只" + "很" * 60, ("一只", "一隻"), f"<del>一只</del><ins>一隻</ins>{'很' * 24} …"),
    ],
)  # fmt: skip
def test_an_edit_is_marked_in_any_text(text: str, edit: tuple[str, str], expected: str) -> None:
    """Spaces, markup, right-to-left and texts without spaces."""
    assert _edited(text, edit) == expected


def test_many_edits_of_a_text_are_counted() -> None:
    """Of six edits four are shown."""
    shown = _edited("aa b aa b aa b aa b aa b aa", *[("aa", "a")] * 6)
    assert shown.count("<del>") == 4
    assert shown.endswith("(2 more edits)")


def test_what_names_an_item_stands_once_on_its_card() -> None:
    """Imported items bear the column that names them."""
    facts = by_hand.small()
    task = replace(facts.task, optional_columns=("file_name", "title"))
    shown = tuple(
        replace(item, columns={"file_name": item.item_id, "title": "A view"})
        for item in facts.shown_items
    )
    gallery = _gallery(replace(facts, task=task, shown_items=shown))
    assert gallery.cards[0].texts == (("title", "A view"),)


def test_only_pictures_that_are_missing_are_spoken_of() -> None:
    """Items of texts have none, and nothing is said of pictures."""
    facts = by_hand.small()
    mentions = []
    for cells in ({"sentence": "Save it as 7.jpg"}, {"url": "https://example.org/7.jpg"}):
        shown = tuple(replace(item, picture="", columns=cells) for item in facts.shown_items)
        gallery = _gallery(replace(facts, shown_items=shown))
        mentions.append("are not shown" in gallery.note)
    assert mentions == [False, True]


def test_equal_answers_are_told_once() -> None:
    """Image 2: two canned answers, and a rejected one first, for which it is shown."""
    card = _cards()["i2"]
    replies = (*card.replies, *card.more)

    assert [(reply.tag.text, reply.times) for reply in replies] == [("rejected", 1), ("canned", 2)]


@pytest.mark.full
def test_choices_are_told_as_votes() -> None:
    """Answers by hand: item 1 has the votes of three workers."""
    answers = rows(JUDGEMENTS)
    shown = ShownItem(item_id="i1", kind="agreed", columns={"a": "an axe", "b": "a bow"})
    facts = replace(made_up.empty(), task=TASK, answers=answers, shown_items=(shown,), items=3)
    (card,) = _gallery(facts).cards

    votes = dict(card.votes)
    assert votes["fit"] == "yes: 2 votes, no: 1 vote"
    assert card.texts == (("a", "an axe"), ("b", "a bow"))
    assert card.replies == ()
    assert 'src="' not in render_report(facts)


@pytest.mark.full
def test_a_grade_is_told_in_the_words_that_workers_read() -> None:
    """Votes for the second of five grades are not votes for “2”."""
    (mistakes, *_) = [each for each in load_task("pairwise").item_fields if each.options]
    rows = pd.DataFrame(
        {"item_id": list("abc"), "worker": list("vvw"), value_column(mistakes): ["2", "2", "3"]}
    )
    assert items._votes(mistakes, rows) == "#1 slightly better: 2 votes, Equal: 1 vote"
    assert items._shown(mistakes, "2") == "#1 slightly better"
    _, described = answers_and_agreement._bars(mistakes, rows)
    assert described.startswith("#1 much better: 0 (0.0 %); #1 slightly better: 2")


def test_a_large_campaign_shows_no_more_than_a_small_one() -> None:
    """Ten pictures, whatever its size; with 40 kB each the page can be mailed."""
    facts = made_up.large(items=300)
    assert len(facts.shown_items) == 10
    heavy = "data:image/jpeg;base64," + "A" * 54_000
    shown = tuple(replace(item, picture=heavy) for item in facts.shown_items)

    assert len(render_report(replace(facts, shown_items=shown)).encode()) < 1_500_000


def test_long_cards_leave_the_first_page_one_row_with_each_kind() -> None:
    """Ten cards of three texts each: five are open, five on demand; short ones all."""
    facts = made_up.large(items=300)
    task = replace(facts.task, optional_columns=("left", "right", "truth"))
    long = dict.fromkeys(task.optional_columns, "A mug stands on a wooden shelf. " * 5)
    shown = tuple(replace(item, columns=long) for item in facts.shown_items)

    short = _gallery(facts)
    gallery = _gallery(replace(facts, task=task, shown_items=shown))

    assert (len(short.cards), len(short.more)) == (10, 0)
    assert (len(gallery.cards), len(gallery.more)) == (5, 5)
    assert {card.why for card in gallery.cards} == {card.why for card in short.cards}
    headings = {card.heading for card in (*gallery.cards, *gallery.more)}
    assert headings == {card.heading for card in short.cards}


def test_equal_texts_beside_votes_are_shown_once() -> None:
    """Three workers corrected a sentence, two of them alike."""
    answers = rows(JUDGEMENTS)
    answers["value.note"] = ["A red mug", "A red mug", "A mug", "", ""]
    task = replace(TASK, fields=(*TASK.fields, Field(name="note", kind="text", label="Note")))
    shown = ShownItem(item_id="i1", kind="agreed")
    facts = replace(made_up.empty(), task=task, answers=answers, shown_items=(shown,), items=3)
    (card,) = _gallery(facts).cards
    assert dict(card.votes)["note"] == "A red mug (2 times); A mug"


def test_regions_are_shown_in_words() -> None:
    """A number with labels, and no JSON that is cut."""
    entries = [{"label": name, "left": 1, "top": 1, "width": 9, "height": 9} for name in "ba"]
    answers = rows(JUDGEMENTS).assign(**{"value.boxes": json.dumps({"boundingBoxes": entries})})
    boxes = Field(name="boxes", kind="text", label="Boxes", regions="boundingBoxes")
    task = replace(TASK, fields=(*TASK.fields, boxes))
    shown = ShownItem(item_id="i1", kind="agreed")
    facts = replace(made_up.empty(), task=task, answers=answers, shown_items=(shown,), items=3)
    (card,) = _gallery(facts).cards
    assert dict(card.votes)["boxes"] == "2 boxes: a, b (3 times)"
    assert all("boxes: 2 boxes: a, b" in reply.text for reply in card.replies)


@pytest.mark.parametrize(
    ("text", "part", "words"),
    [
        ('{"keypoints": [{"label": "Eye", "x": 1, "y": 2}]}', "keypoints", "1 point: Eye"),
        ('{"polylines": [{}, 7]}', "polylines", "2 lines"),
        ('{"labelMappings": {"Sky": {}, "Sea": {}}}', "labeledImage", "mask: Sky, Sea"),
        ('{"labelMappings": {}}', "labeledImage", "mask"),
        ('{"instances": [{"label": "Dog"}], "labeledImage": {}}', "labeledImage", "1 area: Dog"),
        *((text, "boundingBoxes", text) for text in ("{}", "[]", "1e", '{"boundingBoxes": 1}')),
    ],
)
def test_every_kind_of_region_has_words(text: str, part: str, words: str) -> None:
    """What is no such answer is shown as it is."""
    assert regions_in_words(text, part) == words
