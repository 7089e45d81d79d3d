"""What is drawn holds the same numbers as the tables, whatever they are."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

from piecework.report import plots
from piecework.report.facts import Money
from piecework.report.model import report_model
from piecework.report.sections import money, outcomes, texts, timeline, workers
from tests.report.campaign import by_hand, made_up

_SMALL = by_hand.small()
_LEDGER = {"budget": 1000, "paid_rewards": 180, "paid_bonuses": 30, "fees": 42}


def _paid(floor: int) -> Money:
    return Money(ledger=_LEDGER, wage_floor_cents_per_hour=floor)


def test_every_wage_is_in_one_column_and_the_floor_is_an_edge() -> None:
    """Wages of 40, 720, 750 and 900: two in red below $7.25, two in teal above."""
    bins = [
        column
        for column in money._bins(report_model(by_hand.ill_paid()), _paid(725))
        if column.amount
    ]

    # Columns of 50 cents, so that $9.00 needs fewer than 24, with an edge at $7.25.
    assert [(column.start, column.end, column.amount, column.colour) for column in bins] == [
        (0.25, 0.75, 1, plots.RED),
        (6.75, 7.25, 1, plots.RED),
        (7.25, 7.75, 1, plots.TEAL),
        (8.75, 9.25, 1, plots.TEAL),
    ]


def test_the_last_answer_is_seen_on_the_curve() -> None:
    """The count stays at its end for a visible piece, inside the axes."""
    plot = plots.curve([(1, 1), (2, 3)], x_label="x", y_label="y", goal=(3, "3"))
    axes = Figure().subplots()
    plot.paint(axes)

    hours, counts = map(np.asarray, axes.lines[0].get_data())
    assert counts[-2:].tolist() == [3, 3]
    assert hours[-2] == 2
    assert 2 < hours[-1] <= axes.get_xlim()[1]


@pytest.mark.full
@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(0, 500_000), min_size=4, max_size=4), st.integers(0, 3_000))
def test_wages_are_never_lost_between_columns(paid: list[int], floor: int) -> None:
    """All workers are drawn, and red holds exactly those below the floor."""
    facts = replace(
        _SMALL,
        workers=_SMALL.workers.assign(paid_cents=paid, seconds_paid=300.0),
        money=_paid(floor),
    )
    model = report_model(facts)
    bins = money._bins(model, _paid(floor))

    assert sum(column.amount for column in bins) == 4
    assert sum(column.amount for column in bins if column.colour == plots.RED) == model.below_floor
    assert len(bins) <= 24 + 2


def test_wages_far_beyond_the_rest_share_the_last_column() -> None:
    """One who earned $1,000 an hour does not press all others into one column."""
    workers_ = _SMALL.workers.assign(paid_cents=[60, 60, 60, 10_000])
    section = money.money_section(report_model(replace(_SMALL, workers=workers_)))
    assert section is not None
    (figure,) = section.figures

    # dan: 10,000 cents in 300 s are $1,200 an hour.
    assert "The last column holds 1 wage beyond the scale." in figure.note


def test_plots_describe_themselves_with_the_numbers_of_the_tables() -> None:
    """Who cannot see the plots is told what they show."""
    model = report_model(_SMALL)
    drawn = "".join(
        figure.svg
        for section in (texts.texts_section(model), workers.workers_section(model))
        if section
        for figure in section.figures
    )
    pace = timeline.pace_figure(model)
    assert pace is not None
    drawn += outcomes.funnel_figure(model).svg + pace.svg

    assert "wanted: 6; submitted: 11; of these flagged: 4 (36.4 %)" in drawn
    # 4, 4, 6 and 10 words.
    assert "the most frequent length is 4 words (2 captions)" in drawn
    # Eleven answers, ten minutes apart: the sixth comes after 50 minutes.
    assert "11 answers submitted; half of them within 50 min" in drawn
    # 3, 3, 3 and 2 answers.
    assert "gave 3 answers or fewer; the least busy gave 2, the busiest 3" in drawn


@pytest.mark.parametrize("rounds", [39, 41])
def test_endless_rounds_are_drawn_in_part_and_it_is_said(rounds: int) -> None:
    """Forty rounds are drawn and listed at most, and the report says so."""
    batches = _SMALL.batches.iloc[[0] * rounds].assign(batch=range(rounds))
    section = timeline.timeline_section(report_model(replace(_SMALL, batches=batches)))

    assert section is not None
    assert ("Only the first 40 rounds" in section.figures[0].note) == (rounds > 40)
    assert len(section.tables[0].rows) == min(rounds, 40)
    assert ("1 later round" in section.tables[0].note) == (rounds > 40)


def test_longest_captions_share_the_last_column() -> None:
    """A caption of 5,000 words leaves the others readable."""
    answers = _SMALL.answers.assign(clean_text="word " * 5000)
    section = texts.texts_section(report_model(replace(_SMALL, answers=answers)))
    assert section is not None
    (figure,) = section.figures

    assert ">40+</text>" in figure.svg


def test_a_campaign_without_answers_has_no_empty_plots() -> None:
    """Nothing to draw, nothing drawn."""
    model = report_model(made_up.empty())

    happened = timeline.timeline_section(model)
    assert happened is not None
    assert happened.figures == ()
    shown = texts.texts_section(model)
    assert shown is not None
    assert shown.figures == ()
    who = workers.workers_section(model)
    assert who is not None
    assert who.figures == ()
