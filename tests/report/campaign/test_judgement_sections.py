"""The report on a dataset of answers: distributions, agreement, effects of order."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from piecework.analyses import agreement
from piecework.domain.field import Arrangement, Field
from piecework.report.agreement import agreements
from piecework.report.components import Section
from piecework.report.facts import ReportFacts
from piecework.report.item_sample import ShownItem, choose_items
from piecework.report.model import report_model
from piecework.report.page import render_report
from piecework.report.sections import answers_and_agreement, comparisons, texts
from tests.postprocess.answers_by_hand import FIT, PLACE, TASK, rows
from tests.report.campaign import made_up

PLACES = pd.Series([0.0, 5.0, 5.0, 9.0])
"""The last is beyond a scale from 0 to 5."""
JUDGEMENTS = [
    (
        worker,
        f"i{n}",
        {
            "fit": "yes" if n % 2 else "no",
            "grade": str(1 + n % 4),
            "ticks": ("a",) if n % 2 else ("a", "b"),
            "place": float(10 * n),
        },
    )
    for worker in "abc"
    for n in range(1, 5)
]


@pytest.fixture(scope="module")
def facts() -> ReportFacts:
    """Three workers agree about four items on everything."""
    empty = made_up.empty()
    return replace(empty, answers=rows(JUDGEMENTS), task=TASK, items=4)


def tables(section: Section | None) -> dict[str, list[tuple[str, ...]]]:
    """Rows by caption, as words."""
    assert section is not None
    return {table.caption: [tuple(map(str, row)) for row in table.rows] for table in section.tables}


def test_full_agreement_is_one_in_every_measure(facts: ReportFacts) -> None:
    """Alpha and Jaccard are 1.00; graded options are compared as grades."""
    table_rows = tables(answers_and_agreement.fields_section(report_model(facts)))[
        "Agreement between workers"
    ]
    assert [row[:3] for row in table_rows] == [
        ("fit", "alpha, nominal", "1.00"),
        ("grade", "alpha, ordinal", "1.00"),
        ("ticks", "Jaccard index", "1.00"),
        ("place", "alpha, interval", "1.00"),
    ]


def _box(left: int) -> str:
    entry = {"label": "Cat", "left": left, "top": 0, "width": 9, "height": 9}
    return json.dumps({"boundingBoxes": [entry]})


def test_agreement_about_boxes_stands_beside_that_of_other_fields(facts: ReportFacts) -> None:
    """Two of three workers draw the same box, so one pair of three agrees."""
    boxes = Field(name="boxes", kind="text", label="Boxes", regions="boundingBoxes")
    lines = replace(boxes, name="lines", regions="polylines")
    task = replace(TASK, fields=(*TASK.fields, boxes, lines))
    *_, third = sorted(facts.answers["worker"].unique())
    is_other = facts.answers["worker"] == third
    drawn = is_other.map({True: _box(400), False: _box(1)}).astype("str")
    answers = facts.answers.assign(**{"value.boxes": drawn, "value.lines": ""})
    model_ = report_model(replace(facts, answers=answers, task=task))
    section = answers_and_agreement.fields_section(model_)
    rows_ = tables(section)["Agreement between workers"]
    assert rows_[-1] == ("boxes", "F1 of boxes", "0.33", "0.33 to 0.33", "4", "12")
    figure = answers_and_agreement.agreement_figure(model_)
    assert figure is not None
    assert "IoU" in figure.note


def test_agreement_about_transcripts_is_the_share_of_equal_words(facts: ReportFacts) -> None:
    """A task whose text is a transcript has the section, too."""
    spoken = Field(name="said", kind="text", label="Said?", is_transcript=True)
    task = replace(TASK, fields=(spoken,), main_text="said", aggregates=())
    answers = facts.answers.assign(**{"value.said": "a dog barks"})
    model_ = report_model(replace(facts, answers=answers, task=task))
    section = answers_and_agreement.fields_section(model_)
    rows_ = tables(section)["Agreement between workers"]
    assert rows_ == [("said", "equal words", "1.00", "1.00 to 1.00", "4", "12")]


def test_options_are_counted(facts: ReportFacts) -> None:
    """A is ticked in all twelve answers, b in six, c never."""
    table_rows = tables(answers_and_agreement.fields_section(report_model(facts)))[
        "Options of ticks"
    ]
    assert [(row[0], row[2], row[3]) for row in table_rows] == [
        ("a", "12", "100.0 %"),
        ("b", "6", "50.0 %"),
        ("c", "0", "0.0 %"),
    ]
    # Options that say themselves what they mean are not said twice.
    plain = tuple(replace(option, label=option.value) for option in FIT.options)
    task = replace(TASK, fields=(replace(FIT, options=plain), *TASK.fields[1:]))
    every = tables(answers_and_agreement.fields_section(report_model(replace(facts, task=task))))
    assert every["Options of fit"][0] == ("yes", "6", "50.0 %")


def test_a_scale_of_few_steps_has_a_column_a_value(facts: ReportFacts) -> None:
    """Each value stands under its column; 0 to 100 is drawn in twentieths."""
    field = replace(PLACE, maximum=5)
    votes = [(who, item, {**values, "place": 5.0}) for who, item, values in JUDGEMENTS]
    task = replace(TASK, fields=(field,))
    changed_facts = replace(facts, answers=rows(votes), task=task)
    section = answers_and_agreement.fields_section(report_model(changed_facts))
    assert section is not None
    figure, _strips = section.figures
    assert all(f">{tick}</text>" in figure.svg for tick in range(6))
    assert [column.amount for column in answers_and_agreement._bins(PLACES, -0.5, 1, 6)] == [
        *(1, 0, 0, 0, 0, 3)
    ]


def test_items_with_one_answer_each_have_nothing_to_agree_about(facts: ReportFacts) -> None:
    """One sentence, and no table of dashes."""
    changed_facts = replace(facts, answers=rows(JUDGEMENTS[:4]))
    section = answers_and_agreement.fields_section(report_model(changed_facts))
    assert section is not None
    (agreement, *_) = section.tables
    assert (agreement.rows, agreement.note) == ((), "")
    assert agreement.empty == "No item has two accepted answers."
    assert "Alpha" not in section.lead[0]


def test_places_among_options_are_held_against_equal_shares(facts: ReportFacts) -> None:
    """The order was always a, b, c: 12, 6 and 0 of 18; chi-square is 12, p 0.002."""
    effects = tables(comparisons.order_effects_section(report_model(facts)))["Order on the page"]
    # (12-6)^2/6 + 0 + (0-6)^2/6 = 12 with 2 degrees: exp(-6) = 0.0025.
    by = {(row[0], row[1]): row for row in effects}
    place = by["ticks", "position among the options"]
    assert place[2:] == ("12, 6, 0", "18 choices", "0.002")


def test_items_that_always_stood_in_one_place_are_no_effect_of_it(facts: ReportFacts) -> None:
    """Then what is said of a place is said of its items; two orders tell them apart."""
    place = facts.answers["item_id"].str[1:].astype("int64")
    fixed = facts.answers.assign(place=place)
    is_turned = fixed["worker"] == fixed["worker"].iloc[0]
    moved = fixed.assign(place=place.where(~is_turned, 5 - place))
    by = [
        {row[1] for row in tables(section).get("Order on the page", [])}
        for answers in (fixed, moved)
        for section in [
            comparisons.order_effects_section(report_model(replace(facts, answers=answers)))
        ]
    ]
    assert by == [
        {"position among the options"},
        {"quarter of the page", "position among the options"},
    ]


def test_only_options_are_counted_for_a_side(facts: ReportFacts) -> None:
    """A value that is none of the field's options is for no side, and for no tie."""
    sides = Arrangement(name="sides", columns=("a", "b"))
    fields = (replace(FIT, mirrored_by="sides"), *TASK.fields[1:])
    task = replace(TASK, fields=fields, arrangements=(sides,))
    shown: dict[str, object] = {"order.sides": ("a", "b")}
    stray = [("z", "i1", {**JUDGEMENTS[0][2], "fit": "perhaps"}), *JUDGEMENTS[:2]]
    changed_facts = replace(facts, answers=rows(stray, task, **shown), task=task)
    effects = tables(comparisons.order_effects_section(report_model(changed_facts)))[
        "Order on the page"
    ]
    side = {row[1]: row for row in effects}["side shown first"]
    assert side[2:4] == ("first 1, second 1", "2 comparisons")
    # Nor is an answer whose order of sides is not known.
    orders = pd.Series([()] * 3, index=changed_facts.answers.index, dtype="object")
    unknown = changed_facts.answers.assign(**{"order.sides": orders})
    section = comparisons.order_effects_section(
        report_model(replace(changed_facts, answers=unknown))
    )
    assert "side shown first" not in {row[1] for row in tables(section)["Order on the page"]}


def test_the_page_speaks_of_answers_and_items(facts: ReportFacts) -> None:
    """No caption is promised where none was asked for; captions stay as they are."""
    page = render_report(facts)
    assert "accepted answer" in page
    assert "free-text caption" not in page
    assert texts.texts_section(report_model(facts)) is None
    assert answers_and_agreement.fields_section(report_model(made_up.empty())) is None


def test_before_the_first_answer_there_is_nothing_to_draw() -> None:
    """An unfinished campaign has a report too."""
    empty = replace(made_up.empty(), task=TASK)
    section = answers_and_agreement.fields_section(report_model(empty))
    assert section is not None
    assert section.figures == ()
    assert render_report(empty)


def test_disagreement_is_drawn_for_each_kind_of_field(facts: ReportFacts) -> None:
    """All three workers agree: three pairs an item, and no rating beside its mean.

    Two items are "yes", two "no": twelve pairs agree, none is apart. Grades are 2, 3, 4
    and 1, places 10 to 40, the same from everybody.
    """
    section = answers_and_agreement.fields_section(report_model(facts))
    assert section is not None
    drawn = {figure.title: figure.svg for figure in section.figures}
    (fit,) = (svg for title, svg in drawn.items() if title.startswith("fit: "))
    assert "Pairs of workers with the same option: 12." in fit
    assert "apart" not in fit
    (place,) = (svg for title, svg in drawn.items() if title.startswith("place: "))
    assert "from 10.0 to 40.0" in place
    assert "standard deviation of 0.00" in place
    (ticks,) = (svg for title, svg in drawn.items() if title.startswith("ticks: "))
    # "a" of all four items, "b" of two: 12 and 6 pairs; who ticks both is not apart.
    assert "same option: 18." in ticks
    assert "apart" not in ticks


def test_a_few_items_stand_for_many_in_a_strip_plot(facts: ReportFacts) -> None:
    """A hundred thousand items would be no plot."""
    many = [(worker, f"i{n}", JUDGEMENTS[0][2]) for worker in "ab" for n in range(60)]
    section = answers_and_agreement.fields_section(report_model(replace(facts, answers=rows(many))))
    assert section is not None
    (strips,) = (f for f in section.figures if f.title.startswith("place: "))
    assert strips.note.startswith("20 items of 60")


def _many(number: int) -> pd.DataFrame:
    """Random answers, five to an item, ten to an assignment; nearly no number twice."""
    few = rows([("a", f"i{n}", JUDGEMENTS[0][2]) for n in range(10)])
    chance = np.random.default_rng(1)
    ids = pd.Index([f"a{n}" for n in range(number)], name=few.index.name)
    table = few.iloc[np.zeros(number, int)].set_axis(ids)

    def column(name: str, values: object) -> pd.Series:
        return pd.Series(values, index=ids).astype(few[name].dtype)

    return table.assign(
        item_id=column("item_id", [f"i{n // 5}" for n in range(number)]),
        worker=column("worker", [f"w{n % 5}" for n in range(number)]),
        assignment_id=column("assignment_id", [f"A{n // 10}" for n in range(number)]),
        place=column("place", [n % 10 + 1 for n in range(number)]),
        **{  # type: ignore[arg-type]
            "value.fit": column("value.fit", chance.choice(["yes", "no"], number)),
            "value.grade": column("value.grade", chance.choice([*"1234"], number)),
            "value.place": chance.uniform(0, 100, number),
        },
    )


def test_agreement_about_endless_values_is_measured_on_some_items(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """300 items with 1,500 different values: √(50,000 / 5) = 100 are drawn."""
    monkeypatch.setattr(agreement, "_MOST_CELLS", 50_000)
    (place,) = agreements(_many(1500), [PLACE], seed=1)
    assert (place.items, place.answers) == (100, 500)
    assert place.low < 0 < place.high


@pytest.mark.full
def test_a_hundred_thousand_judgements_make_a_page_that_can_be_sent() -> None:
    """Under 1.5 MB, ten pictures of 54 kB included."""
    answers = _many(100_000)
    picture = "data:image/jpeg;base64," + "A" * 54_000
    shown = tuple(
        ShownItem(item_id=item_id, kind=kind, picture=picture)
        for item_id, kind in choose_items(answers, TASK).items()
    )
    empty = made_up.empty()
    page = render_report(
        replace(empty, answers=answers, task=TASK, items=20_000, shown_items=shown)
    )
    assert len(shown) == 10
    assert len(page.encode()) < 1_500_000
