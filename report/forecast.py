"""A forecast as one page: for each choice, what many rehearsals of it came to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from domain.counts import plural
from domain.money import Currency, shown
from report.components import Figure, KeyFigure, Section, Table, number, text
from report.formatting import NOTHING, excerpt
from report.means_plot import Mean, means
from report.page import environment
from report.svg import svg

_ON_DOTS = (
    "A dot is the mean of all rehearsals of a choice; nine in ten of them lie on its "
    "line."
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean of many rehearsals, and between what nine in ten of them lie."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Row:
    """One choice, with its estimates by figure (`FIGURES`)."""

    name: str
    estimates: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What was tried, how often, and what came of it.

    Attributes:
        assumptions: what it rests on, a sentence each.
    """

    campaign: str
    currency: Currency
    seeds: int
    rows: Sequence[Row]
    assumptions: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Figure:
    label: str
    short: str
    words: str
    scale: float = 100.0

    @property
    def digits(self) -> int:
        """Behind the point; money has hundredths."""
        return 2 if self.scale < 1 else 1


FIGURES: Mapping[str, _Figure] = {
    "cost_cents": _Figure("Cost", "Cost", "rewards, bonuses and fees", 0.01),
    "days": _Figure("Days", "Days", "from the first HIT to the last payment", 1.0),
    "wage_cents": _Figure("Hourly wage", "Wage/h", "of the worker in the middle", 0.01),
    "bad_kept": _Figure(
        "Bad answers kept, %", "Bad kept %", "of the kept answers, by bad workers"
    ),
    "bad_found": _Figure(
        "Bad workers found, %", "Bad found %", "excluded, or work rejected"
    ),
    "honest_wronged": _Figure(
        "Honest workers wronged, %", "Wronged %", "the same done to them"
    ),
    "complete": _Figure("Answers kept, %", "Kept %", "of those that are wanted"),
}


def caption(forecast: Forecast) -> str:
    """What the figures of the table are."""
    seeds = plural(forecast.seeds, "rehearsal")
    return f"Mean of {seeds} each, and between what nine in ten of them lie"


def table_of(forecast: Forecast) -> Table:
    """One row for each choice, its figures as mean and range."""
    return Table(
        caption=caption(forecast),
        columns=(
            text("Choice"),
            *(number(figure.label) for figure in FIGURES.values()),
        ),
        rows=tuple(
            (
                excerpt(row.name, limit=120),
                *(
                    in_words(name, row.estimates[name], forecast.currency)
                    for name in FIGURES
                ),
            )
            for row in forecast.rows
        ),
        note="; ".join(f"{one.label}: {one.words}" for one in FIGURES.values()) + ".",
        is_wide=True,
    )


def in_words(name: str, estimate: Estimate, currency: Currency) -> str:
    """An estimate for people: `$114.80 (112.00 to 118.40)`."""
    if isnan(estimate.mean):
        return NOTHING
    figure, mean = FIGURES[name], _mean(name, estimate, currency)
    low, high = (
        f"{figure.scale * value:.{figure.digits}f}"
        for value in (estimate.low, estimate.high)
    )
    return mean if low == high else f"{mean} ({low} to {high})"


def in_two_lines(name: str, estimate: Estimate) -> str:
    """The same for a narrow terminal: the mean, and its range below, without units."""
    if isnan(estimate.mean):
        return NOTHING
    figure = FIGURES[name]
    low, high = (f"{figure.scale * one:.3g}" for one in (estimate.low, estimate.high))
    mean = f"{figure.scale * estimate.mean:.{figure.digits}f}"
    return mean if low == high else f"{mean}\n{low}-{high}"


def _mean(name: str, estimate: Estimate, currency: Currency) -> str:
    if name.endswith("_cents"):
        return shown(round(estimate.mean), currency)
    return f"{FIGURES[name].scale * estimate.mean:.1f}"


def render(forecast: Forecast) -> str:
    """The forecast as HTML; equal forecasts give equal bytes."""
    first = forecast.rows[0]
    return (
        environment()
        .get_template("forecast.html.j2")
        .render(
            campaign=excerpt(forecast.campaign, limit=120),
            seeds=forecast.seeds,
            key_figures=[
                KeyFigure(
                    label=FIGURES[name].label,
                    value=_mean(name, first.estimates[name], forecast.currency),
                    beside=excerpt(first.name, limit=60),
                )
                for name in ("cost_cents", "days", "wage_cents", "bad_kept")
                if not isnan(first.estimates[name].mean)
            ],
            in_short=(),
            notes=(),
            sections=[_choices(forecast), _assumptions(forecast)],
        )
    )


def _choices(forecast: Forecast) -> Section:
    return Section(
        key="choices",
        title="What each choice costs and gives",
        lead=(_ON_DOTS,),
        figures=tuple(
            _plot(forecast, name)
            for name in FIGURES
            if any(not isnan(row.estimates[name].mean) for row in forecast.rows)
        ),
        tables=(table_of(forecast),),
    )


def _assumptions(forecast: Forecast) -> Section:
    return Section(
        key="assumptions", title="What it rests on", lead=tuple(forecast.assumptions)
    )


def _plot(forecast: Forecast, name: str) -> Figure:
    figure = FIGURES[name]
    rows = [
        (row.name, row.estimates[name])
        for row in forecast.rows
        if not isnan(row.estimates[name].mean)
    ]
    scaled = [
        Mean(label, *(figure.scale * value for value in (one.mean, one.low, one.high)))
        for label, one in rows
    ]
    most = max(mean.high for mean in scaled)
    plot = means(scaled, ends=(0, most * 1.08 or 1), x_label=figure.label)
    said = (f"{label}: {in_words(name, one, forecast.currency)}" for label, one in rows)
    return Figure(
        title=f"{figure.label}: {figure.words}",
        svg=svg(
            plot,
            key=f"plot-{name.replace('_', '-')}",
            title=figure.label,
            description="; ".join(said),
        ),
    )
