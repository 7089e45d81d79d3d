"""The report on a dataset of answers: distributions, agreement, effects of order."""

from dataclasses import replace

import pytest

from domain.task import Arrangement
from report.components import Section
from report.facts import ReportFacts
from report.model import report_model
from report.page import render
from report.sections import judgements, order_effects, texts
from tests.postprocess.answers_by_hand import FIT, TASK, rows
from tests.report.campaign import made_up

SAID = [
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
    return replace(empty, answers=rows(SAID), task=TASK, items=4)


def tables(section: Section | None) -> dict[str, list[tuple[str, ...]]]:
    """Rows by caption, as words."""
    assert section is not None
    return {
        table.caption: [tuple(map(str, row)) for row in table.rows]
        for table in section.tables
    }


def test_full_agreement_is_one_in_every_measure(facts: ReportFacts) -> None:
    """Alpha and Jaccard are 1.00; graded options are compared as grades."""
    found = tables(judgements.build(report_model(facts)))["Agreement about items"]
    assert [row[:3] for row in found] == [
        ("fit", "alpha, nominal", "1.00"),
        ("grade", "alpha, ordinal", "1.00"),
        ("ticks", "Jaccard index", "1.00"),
        ("place", "alpha, interval", "1.00"),
    ]


def test_options_are_counted(facts: ReportFacts) -> None:
    """A is ticked in all twelve answers, b in six, c never."""
    found = tables(judgements.build(report_model(facts)))["Options of ticks"]
    assert [(row[0], row[2], row[3]) for row in found] == [
        ("a", "12", "100.0 %"),
        ("b", "6", "50.0 %"),
        ("c", "0", "0.0 %"),
    ]


def test_places_among_options_are_held_against_equal_shares(
    facts: ReportFacts,
) -> None:
    """The order was always a, b, c: 12, 6 and 0 of 18; chi-square is 12, p 0.002."""
    found = tables(order_effects.build(report_model(facts)))["Order on the page"]
    # (12-6)^2/6 + 0 + (0-6)^2/6 = 12 with 2 degrees: exp(-6) = 0.0025.
    by = {(row[0], row[1]): row for row in found}
    place = by["ticks", "place among the options"]
    assert place[2:] == ("12, 6, 0", "18 choices", "0.002")


def test_only_options_are_counted_for_a_side(facts: ReportFacts) -> None:
    """A value that is none of the field's options is for no side, and for no tie."""
    sides = Arrangement(name="sides", columns=("a", "b"))
    fields = (replace(FIT, mirrored_by="sides"), *TASK.fields[1:])
    task = replace(TASK, fields=fields, arrangements=(sides,))
    shown: dict[str, object] = {"order.sides": ("a", "b")}
    stray = [("z", "i1", {**SAID[0][2], "fit": "perhaps"}), *SAID[:2]]
    told = replace(facts, answers=rows(stray, task, **shown), task=task)
    found = tables(order_effects.build(report_model(told)))["Order on the page"]
    side = {row[1]: row for row in found}["side shown first"]
    assert side[2:4] == ("first 1, second 1", "2 comparisons")


def test_the_page_speaks_of_answers_and_items(facts: ReportFacts) -> None:
    """No caption is promised where none was asked for; captions stay as they are."""
    page = render(facts)
    assert "accepted answer" in page
    assert "novel caption" not in page
    assert texts.build(report_model(facts)) is None
    assert judgements.build(report_model(made_up.empty())) is None


def test_before_the_first_answer_there_is_nothing_to_draw() -> None:
    """An unfinished campaign has a report too."""
    empty = replace(made_up.empty(), task=TASK)
    section = judgements.build(report_model(empty))
    assert section is not None
    assert section.figures == ()
    assert render(empty)
