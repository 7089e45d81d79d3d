"""A forecast as one page: for each choice, the results of many rehearsals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan

from piecework.domain.crowds import MarketPrice
from piecework.domain.money import SIGNS, Currency, shown
from piecework.domain.text import NOTHING, plural
from piecework.report import plots
from piecework.report.comparison_plots import Choice, Mean, means, scatter
from piecework.report.components import Column, Figure, KeyFigure, Section, number, table, text
from piecework.report.formatting import columns_of, excerpt, wage_cents
from piecework.report.page import SectionsPage

NINE_TENTHS_FROM = 20
"""With fewer rehearsals of a choice, a range covers all of them."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean of some rehearsals, and their range.

    The range is that of nine in ten, or of all with less than `NINE_TENTHS_FROM`.
    """

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
    """What was tried, how often, and with what results.

    Attributes:
        assumptions: what it is based on, one sentence each.
        markets: the price of the campaign file at each of its markets, if it names any.
    """

    campaign: str
    currency: Currency
    seeds: int
    rows: Sequence[Row]
    assumptions: Sequence[str]
    markets: Sequence[MarketPrice] = ()


@dataclass(frozen=True, slots=True)
class _Figure:
    label: str
    words: str
    scale: float = 100.0

    @property
    def digits(self) -> int:
        """Decimals; money has hundredths."""
        return 2 if self.scale < 1 else 1


_FIGURES: Mapping[str, _Figure] = {
    "cost_cents": _Figure("Cost", "rewards, bonuses and fees", 0.01),
    "days": _Figure("Days", "from the first HIT to the last payment", 1.0),
    "wage_cents": _Figure("Hourly wage", "median over workers", 0.01),
    "bad_kept": _Figure("Bad answers kept, %", "kept answers by bad workers"),
    "bad_found": _Figure("Bad workers found, %", "excluded, or work rejected"),
    "honest_wronged": _Figure("Honest workers wronged, %", "excluded, or work rejected"),
    "complete": _Figure("Wanted answers received, %", "accepted, of the number wanted"),
}
_QUALITY = ("bad_kept", "bad_found", "complete")
"""Figures of quality; the first that differs between choices is drawn against the cost."""
_LESS_IS_BETTER = frozenset({"bad_kept"})
_NAMED_CHOICES = 8
_PLOTTED_CHOICES = 16
"""More choices have numbers in plots, since their names would cover each other."""
_JOINED = "\N{NO-BREAK SPACE}"
_SHORT_DAYS = 2.0
_HOURS = 24.0


def choice_caption(forecast: Forecast) -> str:
    """The caption of the table."""
    if forecast.seeds == 1:
        return "One rehearsal each"
    seeds = plural(forecast.seeds, "rehearsal")
    return f"Mean of {seeds} each, and the range of {covered(forecast)}"


def covered(forecast: Forecast) -> str:
    """Name the part of the rehearsals that a range covers."""
    return "nine in ten" if forecast.seeds >= NINE_TENTHS_FROM else "all of them"


def _on_dots(forecast: Forecast) -> str:
    if forecast.seeds == 1:
        return "A dot is the rehearsal of a choice."
    return (
        f"A dot is the mean of {plural(forecast.seeds, 'rehearsal')} of a choice; its "
        f"line covers {covered(forecast)}."
    )


def forecast_columns(forecast: Forecast) -> Mapping[str, str]:
    """The label of each figure, by name."""
    return {name: figure.label for name, figure in _figures(forecast).items()}


def mean_and_range(forecast: Forecast, row: Row, name: str) -> tuple[str, str]:
    """Format an estimate for people: `$114.80` and `112.00 to 118.40`.

    The range is empty if all rehearsals had the same result.
    """
    estimate = row.estimates[name]
    if isnan(estimate.mean):
        return NOTHING, ""
    sign = SIGNS[forecast.currency]
    low, high = (
        _shown(forecast, value, name).removeprefix(sign) for value in (estimate.low, estimate.high)
    )
    mean = _mean(forecast, row, name)
    return (mean, "") if low == high else (mean, f"{low} to {high}")


def difference_and_range(forecast: Forecast, change: Estimate, name: str) -> tuple[str, str]:
    """Format a difference of two rows: `+0.80` and `-0.20 to +1.70`."""
    if isnan(change.mean):
        return NOTHING, ""
    figure = _figures(forecast)[name]
    mean, low, high = (
        f"{figure.scale * value:+.{figure.digits}f}"
        for value in (change.mean, change.low, change.high)
    )
    return (mean, "") if low == high else (mean, f"{low} to {high}")


def changed_figures(forecast: Forecast) -> list[str]:
    """Return lines with what each figure is in the first row and in the last, if it differs.

    The first line has money and time, the second the quality of the work.
    """
    first, last = forecast.rows[0], forecast.rows[-1]
    lines: list[list[str]] = [[], []]
    for name, figure in _figures(forecast).items():
        label, percent, _ = figure.label.partition(", %")
        was, now = (mean_and_range(forecast, row, name)[0] for row in (first, last))
        if (was, now) == (NOTHING, NOTHING):
            continue
        change = now if was == now else f"{was} → {now}"
        lines[bool(percent)].append(f"{label.lower()} {change}{percent[1:]}")
    return [f"  {'; '.join(line)}" for line in lines if line]


def _figures(forecast: Forecast) -> Mapping[str, _Figure]:
    """The figures, in hours instead of days if all take less than two days."""
    if any(row.estimates["days"].high >= _SHORT_DAYS for row in forecast.rows):
        return _FIGURES
    hours = replace(_FIGURES["days"], label="Hours", scale=_HOURS)
    return {**_FIGURES, "days": hours}


def _in_cell(forecast: Forecast, row: Row, name: str, space: str = " ") -> str:
    mean, between = mean_and_range(forecast, row, name)
    return f"{mean} ({between.replace(' ', space)})" if between else mean


def _in_column(forecast: Forecast, name: str) -> Column[Row]:
    """A figure of each choice; its range is in a second line if there is no room in one."""
    label = _figures(forecast)[name].label
    return Column(label, lambda row: _in_cell(forecast, row, name, _JOINED), "r")


def _mean(forecast: Forecast, row: Row, name: str) -> str:
    return _shown(forecast, row.estimates[name].mean, name)


def _shown(forecast: Forecast, value: float, name: str) -> str:
    """Format a value of a figure; money has its sign."""
    if name.endswith("_cents"):
        cents = wage_cents(value) if name == "wage_cents" else round(value)
        return shown(cents, forecast.currency)
    return f"{_figures(forecast)[name].scale * value:.1f}"


def forecast_page(forecast: Forecast) -> SectionsPage:
    """Build the page of a forecast; the first choice is the campaign as its file states it."""
    first = forecast.rows[0]
    return SectionsPage(
        source=forecast.campaign,
        kicker="Forecast",
        title="forecast",
        purpose="What this campaign will probably cost and yield, estimated from "
        f"{forecast.seeds} rehearsals of each choice with simulated workers.",
        key_figures=[
            KeyFigure(
                _figures(forecast)[name].label,
                _mean(forecast, first, name),
                excerpt(first.name, limit=60),
            )
            for name in ("cost_cents", "days", "wage_cents", "bad_kept")
            if not isnan(first.estimates[name].mean)
        ],
        notes=(),
        sections=[
            _choices(forecast),
            *([_markets(forecast)] if forecast.markets else []),
            Section(key="assumptions", title="Assumptions", lead=tuple(forecast.assumptions)),
        ],
    )


def _choices(forecast: Forecast) -> Section:
    figures = _figures(forecast)
    return Section(
        key="choices",
        title="What each choice costs and yields",
        lead=(_on_dots(forecast),),
        figures=forecast_figures(forecast),
        tables=(
            table(
                choice_caption(forecast),
                forecast.rows,
                text("Choice", lambda row: excerpt(choice_name(forecast, row), limit=120)),
                *(_in_column(forecast, name) for name in figures),
                note="; ".join(f"{of.label}: {of.words}" for of in figures.values()) + ".",
                is_wide=True,
            ),
        ),
    )


def forecast_figures(forecast: Forecast) -> tuple[Figure, ...]:
    """Return a plot of cost against quality, and one of each other figure that differs.

    Of a single choice, there is a plot of each figure that was counted. Of very many, the
    table has the other figures.
    """
    counted = [
        name
        for name in _FIGURES
        if any(not isnan(row.estimates[name].mean) for row in forecast.rows)
    ]
    if len(forecast.rows) == 1:
        return tuple(_plot(forecast, name) for name in counted)
    differing = [name for name in counted if _differs(forecast, name)]
    quality = next((name for name in _QUALITY if name in differing), "")
    if not quality or "cost_cents" not in differing:
        return tuple(_plot(forecast, name) for name in differing)
    rest = [name for name in differing if name not in {"cost_cents", quality}]
    if len(forecast.rows) > _PLOTTED_CHOICES:
        rest = []
    return (_scatter(forecast, quality), *(_plot(forecast, name) for name in rest))


def _differs(forecast: Forecast, name: str) -> bool:
    cells = {_in_cell(forecast, row, name) for row in forecast.rows}
    return len(cells) > 1


def _scatter(forecast: Forecast, name: str) -> Figure:
    """Cost against a figure of quality; a choice is pale if another is cheaper and better."""
    figures = _figures(forecast)
    is_bad, of = name in _LESS_IS_BETTER, figures[name]
    rows = [row for row in forecast.rows if not isnan(row.estimates[name].mean)]
    points = [(row.estimates["cost_cents"].mean, row.estimates[name].mean) for row in rows]
    costs = [-cost for cost, _ in points]
    goods = [-value if is_bad else value for _, value in points]

    def is_worse(place: int) -> bool:
        return any(
            costs[other] >= costs[place]
            and goods[other] >= goods[place]
            and (costs[other], goods[other]) != (costs[place], goods[place])
            for other in range(len(rows))
        )

    choices = [
        Choice(
            choice_name(forecast, row, is_short=True),
            x=_scaled(figures["cost_cents"], row, "cost_cents"),
            y=_scaled(of, row, name),
            is_pale=is_worse(place),
        )
        for place, row in enumerate(rows)
    ]
    money = f"Cost, {SIGNS[forecast.currency]}"
    lines = (
        f"{row.name}: {_in_cell(forecast, row, 'cost_cents')}, {_in_cell(forecast, row, name)}"
        for row in rows
    )
    return plots.figure(
        scatter(choices, x_label=money, y_label=of.label),
        key="plot-choices",
        title=f"Cost, and {of.label[0].lower()}{of.label[1:]}",
        description="; ".join(lines),
        note=f"Better is further left and {'down' if is_bad else 'up'}. "
        + "A choice is grey if another costs less and is better on average."
        * any(choice.is_pale for choice in choices),
        is_wide=True,
    )


def choice_name(forecast: Forecast, row: Row, *, is_short: bool = False) -> str:
    """The name of a choice; with its number, if plots have no room for all names.

    The number alone is the short name of one among many.
    """
    is_long = any(columns_of(each.name) > plots.LONGEST_LABEL for each in forecast.rows)
    is_many = len(forecast.rows) > _NAMED_CHOICES
    if not (is_long or is_many) or len(forecast.rows) == 1:
        return row.name
    number_ = forecast.rows.index(row) + 1
    return f"{number_}" if is_short and is_many else f"{number_}: {row.name}"


def _markets(forecast: Forecast) -> Section:
    def money(cents: int) -> str:
        return shown(cents, forecast.currency)

    prices = table(
        "Every item once, by the fees of each market",
        forecast.markets,
        text("Market", lambda price: price.market),
        number("HITs", lambda price: price.hits),
        number("Assignments", lambda price: price.assignments),
        number("Fee, %", lambda price: f"{price.fee_percent.normalize():f}"),
        number("One HIT", lambda price: money(price.hit_cents)),
        number("Its share", lambda price: money(price.cents)),
        number("All there", lambda price: money(price.whole_cents)),
        note="One HIT: reward and fee of all its assignments. Its share: "
        "the HITs that go there. All there: if all HITs went there.",
    )
    return Section(key="markets", title="Prices by market", tables=(prices,))


def price_line(forecast: Forecast, price: MarketPrice) -> str:
    """Say in a line what the campaign costs at a market."""
    share, whole, hit = (
        shown(cents, forecast.currency)
        for cents in (price.cents, price.whole_cents, price.hit_cents)
    )
    return (
        f"{price.market}: {share} for {plural(price.hits, 'HIT')} at {hit}, with a fee "
        f"of {price.fee_percent.normalize():f} %; all HITs there: {whole}"
    )


def _plot(forecast: Forecast, name: str) -> Figure:
    of = _figures(forecast)[name]
    rows = [row for row in forecast.rows if not isnan(row.estimates[name].mean)]
    scaled = [replace(_scaled(of, row, name), label=choice_name(forecast, row)) for row in rows]
    most = max(mean.high for mean in scaled)
    plot = means(scaled, ends=(0, most * 1.08 or 1), x_label=of.label)
    return plots.figure(
        plot,
        key=f"plot-{name.replace('_', '-')}",
        title=f"{of.label}: {of.words}",
        description="; ".join(f"{row.name}: {_in_cell(forecast, row, name)}" for row in rows),
    )


def _scaled(of: _Figure, row: Row, name: str) -> Mean:
    estimate = row.estimates[name]
    mean, low, high = (of.scale * value for value in (estimate.mean, estimate.low, estimate.high))
    return Mean(row.name, mean=mean, low=low, high=high)
