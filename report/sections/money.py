"""What it cost, and what an hour of work was really paid."""

import math
from statistics import quantiles

from domain.money import dollars
from report import plots
from report.components import Figure, Level, Note, Section, Table, number, text
from report.formatting import count, part_of, plural, share, wage
from report.model import ROUNDING_CENTS, Reading
from report.svg import svg

_MOST_COLUMNS = 24
_MOST_TICKS = 9

_OUTLIERS_FROM = 4.0
"""Times the median; higher wages share the last column."""


def build(reading: Reading) -> Section:
    """The ledger, and the distribution of hourly wages."""
    return Section(
        key="money",
        title="Money and wages",
        lead=(_spending(reading), _pay(reading)),
        notes=wage_notes(reading),
        figures=(_ledger_figure(reading), *_wage_figures(reading)),
        tables=(_ledger(reading), _wages(reading)),
    )


def _spending(reading: Reading) -> str:
    facts = reading.facts
    novel = reading.count("novel")
    verb = "would have been" if facts.is_rehearsal else "were"
    spent = f"{dollars(facts.spent_cents)} of a budget of " + dollars(
        facts.cents("budget")
    )
    article = "an" if reading.kept.startswith("a") else "a"
    price = f"${facts.spent_cents / novel / 100:.3f}" if novel else ""
    each = f", {price} {article} {reading.kept}" if novel else ""
    return (
        f"{spent} {verb} spent{each}. {dollars(facts.cents('held'))} are held for HITs "
        f"still open."
    )


def wage_notes(reading: Reading) -> tuple[Note, ...]:
    """Says plainly whether the work was paid as the campaign promises."""
    floor = wage(reading.facts.wage_floor_cents_per_hour)
    if reading.wages.empty:
        return (Note("watch", "No hourly wage is known: no working time recorded."),)
    median = wage(float(reading.wages.median()))
    is_below = reading.is_median_below_floor
    relation = "is BELOW" if is_below else "meets"
    below = reading.below_floor
    level: Level = "problem" if is_below else "fine"
    middle = Note(
        level, f"The median hourly wage, {median}, {relation} the floor, {floor}."
    )
    if not below:
        return (middle, Note("fine", f"No worker earned less than {floor}."))
    return (
        middle,
        Note(
            "watch",
            f"{part_of(below, len(reading.wages), 'worker')} earned less than the "
            f"floor of {floor}, the least {wage(float(reading.wages.min()))}.",
        ),
    )


def _pay(reading: Reading) -> str:
    workers = reading.facts.workers
    timed = workers[workers["seconds_worked"] > 0]
    seconds = float(timed["seconds_worked"].sum())
    if not seconds:
        return "No working time is recorded, so no hourly wage can be told."
    overall = float(timed["paid_cents"].sum()) * 3600 / seconds
    unpaid = int((timed["paid_cents"] == 0).sum())
    untimed = len(workers) - len(timed)
    return (
        f"Over all {seconds / 3600:,.1f} person-hours the pay was "
        f"{wage(overall)}. Rewards and bonuses count, fees do not."
        + f" {plural(unpaid, 'worker')} with nothing paid (yet) counted." * bool(unpaid)
        + f" {plural(untimed, 'worker')} left out, time unknown." * bool(untimed)
    )


def _accounts(reading: Reading) -> list[tuple[str, int, str]]:
    facts = reading.facts
    return [
        ("rewards", facts.cents("paid_rewards"), plots.TEAL),
        ("bonuses", facts.cents("paid_bonuses"), plots.TEAL),
        ("fees", facts.cents("fees"), plots.GREY),
        ("held", facts.cents("held"), plots.AMBER),
        ("left", facts.left_cents, plots.GREEN),
    ]


def _ledger_figure(reading: Reading) -> Figure:
    budget = reading.facts.cents("budget")
    rows = [
        plots.Bar(
            name,
            max(cents, 0) / 100,
            f"{dollars(cents)} ({share(cents, budget)})",
            colour,
        )
        for name, cents, colour in _accounts(reading)
    ]
    title = "Where the budget is"
    description = f"Of {dollars(budget)}: " + "; ".join(
        f"{row.label} {row.words}" for row in rows
    )
    drawing = svg(plots.bars(rows), key="ledger", title=title, description=description)
    return Figure(title=title, svg=drawing)


def _ledger(reading: Reading) -> Table:
    facts = reading.facts
    lines = (
        ("Budget (the cap)", facts.cents("budget")),
        ("Rewards paid to workers", facts.cents("paid_rewards")),
        ("Bonuses paid to workers", facts.cents("paid_bonuses")),
        ("Fees of the platform", facts.cents("fees")),
        ("Spent: rewards, bonuses and fees", facts.spent_cents),
        ("Held for open HITs", facts.cents("held")),
        ("Left: budget less spent and held", facts.left_cents),
        ("Released: was held, went back", facts.cents("released")),
    )
    return Table(
        caption="Ledger (US dollars)",
        columns=(text("Account"), number("Amount"), number("Share of the budget")),
        rows=tuple(
            (name, dollars(cents), share(cents, facts.cents("budget")))
            for name, cents in lines
        ),
        note="No money moved: a rehearsal keeps books as a market would."
        if facts.is_rehearsal
        else "",
    )


def _wage_figures(reading: Reading) -> tuple[Figure, ...]:
    if reading.wages.empty:
        return ()
    floor = reading.facts.wage_floor_cents_per_hour
    bins = _bins(reading)
    step = plots.round_step(bins[-1].end, columns=_MOST_TICKS)
    round_dollars = range(0, math.ceil(bins[-1].end), step)
    beyond = int((reading.wages >= bins[-1].end * 100).sum())
    ticks = [(float(dollar), f"${dollar}") for dollar in round_dollars]
    if beyond:
        # The last column starts where the scale ends; its own tick says so.
        ticks = [tick for tick in ticks if tick[0] <= bins[-1].start - 1]
        ticks.append(((bins[-1].start + bins[-1].end) / 2, "more"))
    title = "Hourly wages"
    description = (
        f"{plural(len(reading.wages), 'worker')}, "
        f"median {wage(float(reading.wages.median()))}; "
        f"{count(reading.below_floor)} below the floor of {wage(floor)} (dashed, red)."
        + f" The last column holds {plural(beyond, 'wage')} beyond the scale."
        * bool(beyond)
    )
    plot = plots.histogram(
        bins,
        x_label="dollars an hour",
        y_label="workers",
        ticks=ticks,
        mark=(floor / 100, f"floor {wage(floor)}"),
    )
    drawing = svg(plot, key="wages", title=title, description=description)
    return (Figure(title=title, svg=drawing, note=description),)


def _last_shown(reading: Reading) -> float:
    floor = reading.facts.wage_floor_cents_per_hour
    middle = max(float(reading.wages.median()), floor, 1)
    highest = max(float(reading.wages.max()), floor)
    return min(highest, middle * _OUTLIERS_FROM)


def _bins(reading: Reading) -> list[plots.Bin]:
    """Columns of equal width; the floor is an edge, so that none straddles it."""
    floor = reading.facts.wage_floor_cents_per_hour
    last = _last_shown(reading)
    step = plots.round_step(last, columns=_MOST_COLUMNS)
    start = floor % step - step if floor % step else 0
    wages = reading.wages + ROUNDING_CENTS
    edges = [*range(start, math.floor(last) + 1, step)]
    bins = []
    for edge in edges:
        is_last = edge == edges[-1]
        is_here = (wages >= edge) & ((wages < edge + step) | is_last)
        colour = plots.RED if edge < floor else plots.TEAL
        low, high = max(edge, 0) / 100, (edge + step) / 100
        bins.append(plots.Bin(low, high, int(is_here.sum()), colour))
    return bins


def _wages(reading: Reading) -> Table:
    wages = sorted(reading.wages.tolist())
    lines: list[tuple[str, float]] = []
    if wages:
        low, middle, high = (
            quantiles(wages, n=4, method="inclusive") if len(wages) > 1 else wages * 3
        )
        lines = [
            ("Lowest", wages[0]),
            ("Lower quarter", low),
            ("Median", middle),
            ("Upper quarter", high),
            ("Highest", wages[-1]),
        ]
    return Table(
        caption="Hourly wages of the workers",
        columns=(text("Of the workers"), number("Wage"), number("Over the floor")),
        rows=tuple((name, wage(cents), _over(cents, reading)) for name, cents in lines),
        note="Wages are rounded down to the cent.",
        empty="No hourly wage is known.",
    )


def _over(cents: float, reading: Reading) -> str:
    above = math.floor(cents - reading.facts.wage_floor_cents_per_hour + 1e-6)
    return dollars(above) if above < 0 else f"+{dollars(above)}"
