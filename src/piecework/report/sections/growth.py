"""A campaign that grows, over time: answers, rows that wait, and each batch."""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta

import numpy as np
import pandas as pd

from piecework.domain.counts import NOTHING, count, plural, share
from piecework.report import plots
from piecework.report.components import Figure, Section, Table, number, text, time
from piecework.report.facts import Growth
from piecework.report.formatting import moment
from piecework.report.model import ReportModel
from piecework.report.svg import svg

_MOST_ROWS = 40
"""The latest batches; the dataset has all."""

_MOST_COLUMNS = 30
_MOST_TICKS = 5


def build(model: ReportModel) -> Section | None:
    """Show answers and waiting rows by day, and a row per batch; None if it is whole.

    Whole: all items were there at the start.
    """
    growth = model.facts.growth
    if growth is None or not (len(growth.days) or growth.unusable):
        return None
    if not len(growth.days):
        return Section(
            key="growth",
            title="Batch by batch",
            lead=("No row was taken in.",),
            tables=tuple(_unusable(growth)),
        )
    return Section(
        key="growth",
        title="Batch by batch",
        lead=(_lead(growth),),
        figures=tuple(_figures(model, growth)),
        tables=(_table(model, growth), *_unusable(growth)),
    )


def _unusable(growth: Growth) -> Iterator[Table]:
    """Show why rows cannot be used, if there are any."""
    if not growth.unusable:
        return
    hidden = growth.unusable - len(growth.faults)
    yield Table(
        caption="Rows that cannot be used",
        columns=(text("Row, and why"),),
        rows=tuple((fault,) for fault in growth.faults),
        note="No worker was asked about them. Correct them in the source."
        + f" {plural(hidden, 'other row')} not shown." * (hidden > 0),
    )


def _lead(growth: Growth) -> str:
    arrived, dealt = (int(growth.days[name].sum()) for name in ("arrived", "dealt"))
    days = _day(growth.days["day"].iloc[-1]) - _day(growth.days["day"].iloc[0])
    return (
        f"{plural(arrived, 'row')} arrived in {plural(days.days + 1, 'day')}; "
        f"{count(dealt)} were posted, {count(arrived - dealt)} wait."
    )


def _day(text_: object) -> date:
    return date.fromisoformat(str(text_))


def _figures(model: ReportModel, growth: Growth) -> Iterator[Figure]:
    by_date = model.came["submitted_at"].dropna().dt.date.value_counts()
    known = [*growth.days["day"].map(_day), *by_date.index]
    first, last = min(known), max(known)
    days = pd.Index([first + timedelta(n) for n in range((last - first).days + 1)])
    step = plots.round_step(len(days), columns=_MOST_COLUMNS)
    each = "day" if step == 1 else f"{step} days"

    by_day = by_date.reindex(days, fill_value=0).to_numpy()
    starts = range(0, len(days), step)
    answers = [int(by_day[start : start + step].sum()) for start in starts]
    yield _columns(
        answers,
        days,
        step,
        key="answers-by-day",
        title="Answers over the days" if step > 1 else "Answers by day",
        y_label="answers",
        note=f"One column for each {each}; at most {plural(max(answers), 'answer')}.",
    )
    table = growth.days.set_index(growth.days["day"].map(_day))
    change = (table["arrived"] - table["dealt"]).reindex(days, fill_value=0)
    backlog = np.cumsum(change.to_numpy())
    waiting = [int(backlog[min(start + step, len(days)) - 1]) for start in starts]
    yield _columns(
        waiting,
        days,
        step,
        key="rows-waiting",
        title="Rows that wait",
        y_label="rows",
        note="Rows that had arrived and were not posted when the day ended; at most "
        f"{count(max(waiting))}.",
    )


def _columns(
    counts: Sequence[int],
    days: pd.Index,
    step: int,
    *,
    key: str,
    title: str,
    y_label: str,
    note: str,
) -> Figure:
    bins = [plots.Bin(place - 0.5, place + 0.5, height) for place, height in enumerate(counts)]
    every = -(-len(counts) // _MOST_TICKS)
    ticks = [
        (float(place), f"{days[place * step]:%m-%d}") for place in range(0, len(counts), every)
    ]
    plot = plots.histogram(bins, x_label="day (UTC)", y_label=y_label, ticks=ticks)
    drawing = svg(plot, key=key, title=title, description=note)
    return Figure(title=title, svg=drawing, note=note)


def _table(model: ReportModel, growth: Growth) -> Table:
    money = model.facts.money
    batches = model.facts.batches.groupby("batch")
    summary = batches[["answers_kept", "answers_dropped"]].sum()
    summary["posted_at"] = batches["posted_at"].min()
    agreement = model.agreement_by_batch([*summary.index[-_MOST_ROWS:]])
    items = model.facts.answers.groupby("batch")["item_id"].nunique()
    rows = []
    for batch, of_batch in summary.iloc[-_MOST_ROWS:].iterrows():
        kept, dropped = int(of_batch["answers_kept"]), int(of_batch["answers_dropped"])
        cents = growth.cents.get(int(str(batch)), 0)
        wage = growth.wages_cents_per_hour.get(int(str(batch)))
        costs = (
            (
                money.shown(cents),
                money.shown(round(cents / kept)) if kept else NOTHING,
                money.wage(wage) if wage is not None else NOTHING,
            )
            if money
            else ()
        )
        agreed = agreement.get(int(str(batch)), float("nan"))
        rows.append(
            (
                f"batch\u00a0{batch}",
                moment(of_batch["posted_at"]),
                count(int(items.get(batch, 0))),
                count(kept),
                share(dropped, kept + dropped) if kept + dropped else NOTHING,
                *costs,
                *(() if not agreement else (_decimal(agreed),)),
            )
        )
    hidden = len(summary) - len(rows)
    return Table(
        caption="Batches over time",
        columns=(
            text("Batch"),
            time("Posted"),
            number("Items"),
            number("Answers kept"),
            number("Kept out"),
            *((number("Cost"), number("For each answer"), number("Median wage")) if money else ()),
            *(() if not agreement else (number("Agreement"),)),
        ),
        rows=tuple(rows),
        is_wide=True,
        note="Items: with an answer. Cost: rewards, bonuses and fees, spent or held. "
        "Wage: of an assignment, from accepting to submitting."
        + " Agreement: Krippendorff's alpha of the first judged field." * bool(agreement)
        + f" {plural(hidden, 'earlier batch', 'earlier batches')} are not shown." * (hidden > 0),
        empty="No batch has been posted.",
    )


def _decimal(value: float) -> str:
    return NOTHING if np.isnan(value) else f"{value:.2f}"
