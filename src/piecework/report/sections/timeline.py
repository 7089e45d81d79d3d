"""When it happened: batches, rounds, the rate of the answers, and how a campaign grew.

A campaign that grows has answers, rows that wait, and each batch over time.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np
import pandas as pd

from piecework.domain.text import NOTHING, count, plural, share
from piecework.report import plots
from piecework.report.components import Column, Figure, Section, Table, number, table, text
from piecework.report.facts import Money
from piecework.report.formatting import decimals, duration, moment
from piecework.report.model import ReportModel

_MOST_SPANS = 40
"""More rounds than this make the plot unreadable; the table has them all."""

_MOST_ROWS = 40
"""The first rounds, and the latest batches; the dataset has all."""

_CURVE_POINTS = 160

_HOURS_SHOWN_AS_HOURS = 72


def timeline_section(model: ReportModel) -> Section | None:
    """Show the time spans of batches and the growth of the answers.

    For imported answers, show only when they were sent; they were not posted here.
    """
    imported, batches = model.facts.imported, model.facts.batches
    if imported is not None and not imported.has_times:
        return None
    was_posted = not imported and batches["posted_at"].notna().any()
    return Section(
        key="timeline",
        title="When it happened",
        lead=(_lead(model),),
        figures=(_spans(model),) if was_posted else (),
        tables=() if imported else (_rounds(batches),),
    )


def _lead(model: ReportModel) -> str:
    facts = model.facts
    seconds = (facts.finished_at - facts.started_at).total_seconds()
    worked = float(facts.workers["seconds_worked"].sum())
    pace = f", {worked / seconds:,.1f} at a time on average" if seconds > 0 else ""
    work = f", {model.workers} worked {duration(worked)}{pace}" if worked else ""
    return (
        f"From {moment(facts.started_at)} to {moment(facts.finished_at)} UTC "
        f"({duration(seconds)}){work}."
    )


def pace_figure(model: ReportModel) -> Figure | None:
    """Show the answers over time, for the first page; None without times."""
    imported = model.facts.imported
    is_known = imported is None or imported.has_times
    if is_known and model.came["submitted_at"].notna().any():
        return _curve(model)
    return None


def _hours_since_start(times: pd.Series, model: ReportModel) -> pd.Series:
    start = pd.Timestamp(model.facts.started_at)
    return (times - start).dt.total_seconds() / 3600


def _unit(model: ReportModel) -> tuple[str, float]:
    facts = model.facts
    whole = (facts.finished_at - facts.started_at).total_seconds() / 3600
    return ("hours", 1.0) if whole <= _HOURS_SHOWN_AS_HOURS else ("days", 24.0)


def _spans(model: ReportModel) -> Figure:
    batches = model.facts.batches
    posted = batches[batches["posted_at"].notna()].head(_MOST_SPANS)
    end = pd.Timestamp(model.facts.finished_at)
    worked = posted["last_submitted_at"].fillna(end)
    settled = posted["settled_at"].fillna(end)
    unit, unit_hours = _unit(model)
    starts, middles, ends = (
        _hours_since_start(times, model) for times in (posted["posted_at"], worked, settled)
    )
    rows = [
        plots.Span(name, start, middle, max(end, middle))
        for name, start, middle, end in zip(
            _short_names(posted), starts, middles, ends, strict=True
        )
    ]
    description = (
        "Dark: from posting to the last answer. Pale: until the round was settled."
        + f" Only the first {count(len(posted))} rounds are shown." * (len(posted) < len(batches))
    )
    plot = plots.spans(rows, x_label=f"{unit} since the start", unit_hours=unit_hours)
    return plots.figure(
        plot, key="spans", title="Batches and rounds", description=description, note=description
    )


def _short_names(batches: pd.DataFrame) -> list[str]:
    return [
        f"round {turn}" if turn else f"batch {batch}"
        for batch, turn in zip(batches["batch"], batches["round"], strict=True)
    ]


def _curve(model: ReportModel) -> Figure:
    unit, unit_hours = _unit(model)
    times = model.came["submitted_at"].dropna()
    after = np.sort(_hours_since_start(times, model).to_numpy()) / unit_hours
    stops = np.unique(np.linspace(after[0], after[-1], _CURVE_POINTS))
    reached = np.searchsorted(after, stops, side="right")
    points = [*zip(stops.tolist(), reached.tolist(), strict=True)]
    half = duration(float(after[(len(after) - 1) // 2]) * unit_hours * 3600)
    goal, noun = model.wanted, "wanted"
    if model.facts.imported is not None:
        goal, noun = len(model.came), "imported"
    description = (
        f"{plural(len(after), 'answer')} submitted; half of them within "
        f"{half} of the start. The dashed line marks the number {noun}."
    )
    plot = plots.curve(
        points,
        x_label=f"{unit} since the start",
        y_label="answers submitted",
        goal=(goal, f"{count(goal)} {noun}"),
    )
    return plots.figure(
        plot,
        key="pace",
        title="Answers over time",
        description=description,
        note=f"Half came within {half}.",
    )


def _in_year(time: "pd.Timestamp") -> str:
    """Format a time without its year, which the text before the table states."""
    return moment(time).removeprefix(f"{time.year}-")


def _rounds(batches: pd.DataFrame) -> Table:
    hidden = len(batches) - _MOST_ROWS
    return table(
        "Batches and rounds",
        batches.head(_MOST_ROWS).to_dict("records"),
        text("Round", lambda of: f"batch\u00a0{of['batch']},\u00a0round\u00a0{of['round']}"),
        number("HITs", "hits"),
        number(
            "Assignments",
            lambda of: f"{count(of['assignments_submitted'])} of {count(of['assignments_wanted'])}",
        ),
        number("Answers kept", "answers_kept"),
        number("Answers dropped", "answers_dropped"),
        number("Workers excluded", "workers_excluded"),
        Column("Posted", lambda of: _in_year(of["posted_at"]), "t"),
        Column("Last answer", lambda of: _in_year(of["last_submitted_at"]), "t"),
        Column("Settled", lambda of: _in_year(of["settled_at"]), "t"),
        is_middle=True,
        note="Times are UTC. Round 0 is the first posting of a batch; each later round "
        "posts again what is missing. Excluded workers see no HITs of later batches."
        + f" {plural(hidden, 'later round')} are not shown."
        * (hidden > 0),
        empty="No batch has been posted.",
    )


_MOST_COLUMNS = 30
_MOST_TICKS = 5


@dataclass(frozen=True, kw_only=True)
class Growth:
    """How a campaign grew.

    Attributes:
        days: columns `day` (ISO 8601), `arrived` and `dealt` (rows, int64), in order;
            days on which neither happened may be absent.
        cents: what was spent and is held, by batch.
        wages_cents_per_hour: median pay of an assignment for an hour, by batch.
        unusable: rows that cannot be used.
        faults: why the first of these cannot, in sentences.
    """

    days: pd.DataFrame
    cents: Mapping[int, int]
    wages_cents_per_hour: Mapping[int, float]
    unusable: int = 0
    faults: tuple[str, ...] = ()


def growth_section(model: ReportModel) -> Section | None:
    """Show answers and waiting rows by day, and a row per batch; None if it is whole.

    Whole: all items were there at the start.
    """
    growth = model.facts.of(Growth)
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
        lead=(_growth_lead(growth),),
        figures=tuple(_growth_figures(model, growth)),
        tables=(_growth_table(model, growth), *_unusable(growth)),
    )


def _unusable(growth: Growth) -> Iterator[Table]:
    """Show why rows cannot be used, if there are any."""
    if not growth.unusable:
        return
    hidden = growth.unusable - len(growth.faults)
    yield table(
        "Rows that cannot be used",
        growth.faults,
        text("Row, and why", lambda fault: fault),
        note="Workers are not asked about these cells; an item that was posted before keeps its "
        "first cells and its answers. Correct the rows in the source."
        + f" {plural(hidden, 'other row')} not shown."
        * (hidden > 0),
    )


def _growth_lead(growth: Growth) -> str:
    arrived, dealt = (int(growth.days[name].sum()) for name in ("arrived", "dealt"))
    days = _day(growth.days["day"].iloc[-1]) - _day(growth.days["day"].iloc[0])
    return (
        f"{plural(arrived, 'row')} arrived in {plural(days.days + 1, 'day')}; "
        f"{count(dealt)} were posted, {count(arrived - dealt)} wait."
    )


def _day(text_: object) -> date:
    return date.fromisoformat(str(text_))


def _growth_figures(model: ReportModel, growth: Growth) -> Iterator[Figure]:
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
    return plots.figure(plot, key=key, title=title, description=note, note=note)


def _growth_table(model: ReportModel, growth: Growth) -> Table:
    money = model.facts.money
    batches = model.facts.batches.groupby("batch")
    summary = batches[["answers_kept", "answers_dropped"]].sum()
    summary["posted_at"] = batches["posted_at"].min()
    agreement = model.agreement_by_batch([*summary.index[-_MOST_ROWS:]])
    items = model.facts.answers.groupby("batch")["item_id"].nunique()
    hidden = len(summary) - _MOST_ROWS
    return table(
        "Batches over time",
        summary.iloc[-_MOST_ROWS:].reset_index().to_dict("records"),
        text("Batch", lambda of: f"batch\u00a0{of['batch']}"),
        Column("Posted", lambda of: moment(of["posted_at"]), "t"),
        number("Items", lambda of: int(items.get(of["batch"], 0))),
        number("Answers kept", "answers_kept"),
        number(
            "Kept out",
            lambda of: share(of["answers_dropped"], of["answers_kept"] + of["answers_dropped"]),
        ),
        *(_costs(growth, money) if money else ()),
        number(
            "Agreement",
            lambda of: decimals(agreement.get(of["batch"], math.nan)),
            is_shown=bool(agreement),
        ),
        is_wide=True,
        note="Items: with an answer. Cost: rewards, bonuses and fees, spent or held. "
        "Wage: of an assignment, from accepting to submitting."
        + " Agreement: about the first judged field." * bool(agreement)
        + f" {plural(hidden, 'earlier batch', 'earlier batches')} are not shown." * (hidden > 0),
        empty="No batch has been posted.",
    )


def _costs(growth: Growth, money: Money) -> tuple[Column[Any], ...]:
    cents, wages = growth.cents, growth.wages_cents_per_hour

    def each(batch: int, answers: int) -> str:
        return money.shown(round(cents.get(batch, 0) / answers)) if answers else NOTHING

    return (
        number("Cost", lambda of: money.shown(cents.get(of["batch"], 0))),
        number("For each answer", lambda of: each(of["batch"], of["answers_kept"])),
        number("Median wage", lambda of: money.wage(wages.get(of["batch"], math.nan))),
    )
