"""When it happened: batches, rounds, and the rate of the answers."""

import numpy as np
import pandas as pd

from piecework.domain.counts import count, plural
from piecework.report import plots
from piecework.report.components import Figure, Section, Table, number, text, time
from piecework.report.formatting import hours, moment
from piecework.report.model import ReportModel
from piecework.report.svg import svg

_MOST_SPANS = 40
"""More rounds than this make the plot unreadable; the table has them all."""

_MOST_ROWS = 40
_CURVE_POINTS = 160

_HOURS_SHOWN_AS_HOURS = 72


def build(model: ReportModel) -> Section | None:
    """Show the time spans of batches and the growth of the answers.

    For imported answers, show only when they were sent; they were not posted here.
    """
    imported = model.facts.imported
    if imported is not None and not imported.has_times:
        return None
    return Section(
        key="timeline",
        title="When it happened",
        lead=(_lead(model),),
        figures=_figures(model),
        tables=() if imported else (_table(model.facts.batches),),
    )


def _lead(model: ReportModel) -> str:
    facts = model.facts
    seconds = (facts.finished_at - facts.started_at).total_seconds()
    worked = float(facts.workers["seconds_worked"].sum())
    pace = f", {worked / seconds:,.1f} per hour" if seconds > 0 else ""
    return (
        f"From {moment(facts.started_at)} to {moment(facts.finished_at)} UTC "
        f"({hours(seconds)}), {model.workers} worked {worked / 3600:,.1f} "
        f"person-hours{pace}."
    )


def _figures(model: ReportModel) -> tuple[Figure, ...]:
    pictures = []
    is_ours = model.facts.imported is None
    if is_ours and model.facts.batches["posted_at"].notna().any():
        pictures.append(_spans(model))
    return tuple(pictures)


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
    title = "Batches and rounds"
    description = (
        "Dark: from posting to the last answer. Pale: until the round was settled."
        + f" Only the first {count(len(posted))} rounds are shown." * (len(posted) < len(batches))
    )
    plot = plots.spans(rows, x_label=f"{unit} since the start", unit_hours=unit_hours)
    drawing = svg(plot, key="spans", title=title, description=description)
    return Figure(title=title, svg=drawing, note=description)


def _short_names(batches: pd.DataFrame) -> list[str]:
    return [
        f"round {turn}" if turn else f"batch {batch}"
        for batch, turn in zip(batches["batch"], batches["round"], strict=True)
    ]


def _names(batches: pd.DataFrame) -> list[str]:
    return [
        f"batch\u00a0{batch},\u00a0round\u00a0{turn}"
        for batch, turn in zip(batches["batch"], batches["round"], strict=True)
    ]


def _curve(model: ReportModel) -> Figure:
    unit, unit_hours = _unit(model)
    times = model.came["submitted_at"].dropna()
    after = np.sort(_hours_since_start(times, model).to_numpy()) / unit_hours
    stops = np.unique(np.linspace(after[0], after[-1], _CURVE_POINTS))
    reached = np.searchsorted(after, stops, side="right")
    points = [*zip(stops.tolist(), reached.tolist(), strict=True)]
    half = float(after[(len(after) - 1) // 2]) * unit_hours
    title = "Answers over time"
    goal, noun = model.wanted, "wanted"
    if model.facts.imported is not None:
        goal, noun = len(model.came), "imported"
    description = (
        f"{plural(len(after), 'answer')} submitted; half of them within "
        f"{half:,.1f} h of the start. The dashed line marks the number {noun}."
    )
    plot = plots.curve(
        points,
        x_label=f"{unit} since the start",
        y_label="answers submitted",
        goal=(goal, f"{count(goal)} {noun}"),
    )
    drawing = svg(plot, key="pace", title=title, description=description)
    note = f"Half came within {half:,.1f} h."
    return Figure(title=title, svg=drawing, note=note)


def _in_year(time_: "pd.Timestamp") -> str:
    """Format a time without its year, which the text before the table states."""
    return moment(time_).removeprefix(f"{time_.year}-")


def _table(batches: pd.DataFrame) -> Table:
    rows = tuple(
        (
            name,
            count(row["hits"]),
            (f"{count(row['assignments_submitted'])} of {count(row['assignments_wanted'])}"),
            count(row["answers_kept"]),
            count(row["answers_dropped"]),
            count(row["workers_excluded"]),
            *map(_in_year, (row["posted_at"], row["last_submitted_at"], row["settled_at"])),
        )
        for name, row in zip(_names(batches), batches.to_dict("records"), strict=True)
    )
    return Table(
        caption="Batches and rounds",
        columns=(
            text("Round"),
            number("HITs"),
            number("Assignments"),
            number("Answers kept"),
            number("Answers dropped"),
            number("Workers excluded"),
            time("Posted"),
            time("Last answer"),
            time("Settled"),
        ),
        rows=rows[:_MOST_ROWS],
        is_middle=True,
        note="Times are UTC. Round 0 is the first posting of a batch; each later round "
        "posts again what is missing. Excluded workers see no HITs of later batches."
        + f" {plural(len(rows) - _MOST_ROWS, 'later round')} are not shown."
        * (len(rows) > _MOST_ROWS),
        empty="No batch has been posted.",
    )
