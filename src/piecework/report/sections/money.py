"""What the campaign cost, what an hour of work paid, and the markets side by side."""

import math
from dataclasses import dataclass
from statistics import quantiles

from piecework.domain.money import NAMES
from piecework.domain.text import NOTHING, count, plural, share
from piecework.report import plots
from piecework.report.books import Books
from piecework.report.components import Figure, Level, Note, Section, Table, number, table, text
from piecework.report.facts import Money
from piecework.report.formatting import duration, part_of
from piecework.report.model import ROUNDING_CENTS, ReportModel

_MOST_COLUMNS = 24
_MOST_TICKS = 9

_MANY = 0.25
_SOME = 0.05
"""Shares of workers: this many far below the floor are a problem, below it a warning
(ours)."""

_FAR = 0.5
"""Of the floor. If the reward gives the median worker the floor, half of the workers
earn less, and a bonus computed from the median time does not change that."""

_CLOSE = 0.9
"""Of the floor. By chance alone the median of twenty workers is off by a tenth."""

_OUTLIERS_FROM = 4.0
"""Multiples of the median; higher wages share the last column."""


def money_section(model: ReportModel) -> Section | None:
    """Show the ledger and the distribution of hourly wages; None without a ledger."""
    money = model.facts.money
    if money is None:
        return None
    return Section(
        key="money",
        title="Money and wages",
        lead=(_spending(model, money), _pay(model, money)),
        figures=_wage_figures(model, money),
        tables=(
            _ledger(model, money),
            *([_by_ledger(money, money.others)] if money.others else []),
            _wages(model, money),
        ),
    )


def _spending(model: ReportModel, money: Money) -> str:
    facts = model.facts
    novel = model.count("novel")
    verb = "would have been" if facts.is_rehearsal else "was"
    spent = f"{money.shown(money.spent_cents)} of a budget of " + money.shown(money.cents("budget"))
    per_answer = f", {money.each(novel)} per {model.accepted_noun}" if novel else ""
    return (
        f"{spent} {verb} spent{per_answer}. {money.shown(money.cents('held'))} is "
        "held for open HITs."
    )


def wage_notes(model: ReportModel) -> tuple[Note, ...]:
    """Say plainly whether the work was paid as the campaign promises."""
    money = model.facts.money
    if money is None:
        return ()
    floor = money.wage(money.wage_floor_cents_per_hour)
    if model.wages.empty:
        return (Note("watch", "Wages are unknown: no paid work with a time is recorded."),)
    median = money.wage(float(model.wages.median()))
    is_below = model.is_median_below_floor
    below, level = model.below_floor, wage_level(model)
    relation = "meets"
    if is_below:
        relation = "is BELOW" if level == "problem" else "is below"
    # If many earn far less, a median above the floor is not reassuring.
    of_median: Level = "fact" if level == "problem" else "fine"
    middle = Note(
        level if is_below else of_median,
        f"The median hourly wage, {median}, {relation} hourly_wage, {floor}."
        + _remedy(model, money) * is_below,
    )
    if not below:
        return (middle, Note("fine", f"No worker earned less than hourly_wage, {floor}."))
    return (
        middle,
        Note(
            "problem" if level == "problem" else "watch",
            f"{part_of(below, len(model.wages), model.paid_worker)} earned less than "
            f"hourly_wage, {floor}; the least was {money.wage(float(model.wages.min()))}.",
        ),
    )


def wage_level(model: ReportModel) -> Level:
    """How serious it is that workers earned less than the floor.

    The median alone can look fine even if half of the workers got a cent. In a
    rehearsal whose reward pays the floor at the task's own pace, it is never a problem:
    only the number of simulated workers would change it.
    """
    money, wages = model.facts.money, model.wages
    floor = money.wage_floor_cents_per_hour if money else 0
    share_far = (wages < _FAR * floor).sum() / max(len(wages), 1)
    is_chance = money is not None and money.plans_floor
    if not is_chance and (share_far >= _MANY or wages.median() < _CLOSE * floor):
        return "problem"
    share_below = model.below_floor / max(len(wages), 1)
    return "watch" if share_below >= _SOME else "fine"


def _remedy(model: ReportModel, money: Money) -> str:
    """Say what brings the median to the floor."""
    median = float(model.wages.median())
    planned = money.planned_wage_cents_per_hour
    if planned is not None and money.plans_floor:
        return (
            f" At the task's own pace the reward pays {money.wage(planned)}: with few "
            "simulated workers, the rest is chance."
        )
    if not median:
        return ""
    more = math.ceil((money.wage_floor_cents_per_hour / median - 1) * 100)
    return (
        f" Rewards {more} % higher would meet it; `piecework pay` adds the difference as bonuses."
    )


def _pay(model: ReportModel, money: Money) -> str:
    workers = model.facts.workers
    timed = workers.loc[model.wages.index]
    seconds = float(timed["seconds_paid"].sum())
    if not seconds:
        return "No paid work with a time is recorded, so hourly wages are unknown."
    unpaid = int((workers["paid_cents"] == 0).sum())
    untimed = len(workers) - len(timed) - unpaid
    overall = float(timed["paid_cents"].sum()) * 3600 / seconds
    return (
        f"Over all {duration(seconds)} of paid work the pay was "
        f"{money.wage(overall)}. Rewards and bonuses count, fees do not."
        + f" This leaves out {plural(unpaid, 'worker')} not paid (yet)." * bool(unpaid)
        + f" It leaves out {plural(untimed, 'worker')} without times." * bool(untimed)
    )


def ledger_figure(money: Money) -> Figure:
    """Show where the budget went, for the first page."""
    budget = money.cents("budget")
    accounts = (
        ("rewards", money.cents("paid_rewards"), plots.TEAL),
        ("bonuses", money.cents("paid_bonuses"), plots.TEAL),
        ("compensation", money.cents("paid_compensations"), plots.TEAL),
        ("fees", money.cents("fees"), plots.GREY),
        ("held", money.cents("held"), plots.AMBER),
        ("left", money.left_cents, plots.GREEN),
    )
    rows = [
        plots.Bar(
            name, max(cents, 0) / 100, f"{money.shown(cents)} ({share(cents, budget)})", colour
        )
        for name, cents, colour in accounts
        if cents
    ]
    listed = "; ".join(f"{row.label} {row.words}" for row in rows)
    return plots.figure(
        plots.bars(rows),
        key="ledger",
        title="Where the budget went",
        description=f"Of {money.shown(budget)}: {listed}",
    )


def _ledger(model: ReportModel, money: Money) -> Table:
    budget, hurt = money.cents("budget"), money.compensation_reasons
    payments, reasons = plural(len(hurt), "payment"), plural(len(set(hurt)), "reason")
    compensation = (f"Compensation ({payments}, {reasons})", money.cents("paid_compensations"))
    return table(
        f"Ledger ({NAMES[money.currency]})",
        (
            ("Budget (the cap)", budget),
            ("Rewards", money.cents("paid_rewards")),
            ("Bonuses", money.cents("paid_bonuses")),
            *((compensation,) if hurt else ()),
            ("Fees", money.cents("fees")),
            ("Spent, all of these", money.spent_cents),
            ("Held for open HITs", money.cents("held")),
            ("Left", money.left_cents),
            ("Held, then released", money.cents("released")),
        ),
        text("Account"),
        number("Amount", lambda line: money.shown(line[1])),
        number("Share of the budget", lambda line: share(line[1], budget)),
        note="No money moved: a rehearsal keeps the ledger that a marketplace would."
        if model.facts.is_rehearsal
        else "",
    )


def _by_ledger(money: Money, others: Books) -> Table:
    market = f"{others.market[:1].upper()}{others.market[1:]}"
    return table(
        "Amount spent, by ledger",
        (
            ("This campaign's", money.spent_cents),
            ("The marketplace's", others.marketplace),
            (f"{market}'s", others.outside),
        ),
        text("Ledger"),
        number("Spent", lambda line: money.shown(line[1])),
        note="".join(f"{reason[:1].upper()}{reason[1:]}. " for reason in others.reasons()),
    )


def _wage_figures(model: ReportModel, money: Money) -> tuple[Figure, ...]:
    if model.wages.empty:
        return ()
    floor = money.wage_floor_cents_per_hour
    bins = _bins(model, money)
    step = plots.round_step(bins[-1].end, columns=_MOST_TICKS)
    round_amounts = range(0, math.ceil(bins[-1].end), step)
    beyond = int((model.wages >= bins[-1].end * 100).sum())
    ticks = [(float(amount), f"{money.sign}{amount}") for amount in round_amounts]
    if beyond:
        # The last column starts where the scale ends; its tick says "more".
        ticks = [tick for tick in ticks if tick[0] <= bins[-1].start - 1]
        ticks.append(((bins[-1].start + bins[-1].end) / 2, "more"))
    description = (
        f"{plural(len(model.wages), model.paid_worker)}, "
        f"median {money.wage(float(model.wages.median()))}; "
        f"{count(model.below_floor)} below hourly_wage, {money.wage(floor)} "
        "(dashed, red)."
        + f" The last column holds {plural(beyond, 'wage')} beyond the scale."
        * bool(beyond)
    )
    plot = plots.histogram(
        bins,
        x_label=f"{NAMES[money.currency].split()[-1]} an hour",
        y_label="workers",
        ticks=ticks,
        mark=(floor / 100, f"hourly_wage {money.wage(floor)}"),
    )
    return (
        plots.figure(
            plot, key="wages", title="Hourly wages", description=description, note=description
        ),
    )


def _last_shown(model: ReportModel, money: Money) -> float:
    floor = money.wage_floor_cents_per_hour
    middle = max(float(model.wages.median()), floor, 1)
    highest = max(float(model.wages.max()), floor)
    return min(highest, middle * _OUTLIERS_FROM)


def _bins(model: ReportModel, money: Money) -> list[plots.Bin]:
    """Columns of equal width; the floor is the edge of one."""
    floor = money.wage_floor_cents_per_hour
    last = _last_shown(model, money)
    step = plots.round_step(last, columns=_MOST_COLUMNS)
    start = floor % step - step if floor % step else 0
    wages = model.wages + ROUNDING_CENTS
    edges = [*range(start, math.floor(last) + 1, step)]
    bins = []
    for edge in edges:
        is_last = edge == edges[-1]
        is_inside = (wages >= edge) & ((wages < edge + step) | is_last)
        colour = plots.RED if edge < floor else plots.TEAL
        low, high = max(edge, 0) / 100, (edge + step) / 100
        bins.append(plots.Bin(low, high, int(is_inside.sum()), colour))
    return bins


def _wages(model: ReportModel, money: Money) -> Table:
    wages = sorted(model.wages.tolist())
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

    def above_floor(cents: float) -> str:
        above = math.floor(cents - money.wage_floor_cents_per_hour + 1e-6)
        return money.shown(above) if above < 0 else f"+{money.shown(above)}"

    return table(
        "Hourly wages of the workers",
        lines,
        text("Statistic"),
        number("Wage", lambda line: money.wage(line[1])),
        number("Above hourly_wage", lambda line: above_floor(line[1])),
        note="Wages of paid work, rounded down to the cent.",
        empty="No hourly wage is known.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketFacts:
    """What the workers of one market did; money in cents.

    Attributes:
        hits: HITs that were planned for it.
        assignments: assignments that came in.
        kept: answers that a decision kept, of `decided` ones.
        agreed: judgements that agree with the known answer, or without known answers
            with the item's label, of `compared` ones.
        seconds: median time of an assignment, NaN if not known.
        wage_cents_per_hour: median over its workers, NaN if not known.
        cost: rewards, bonuses and fees that were spent.
    """

    market: str
    hits: int
    assignments: int
    kept: int
    decided: int
    agreed: int
    compared: int
    seconds: float
    wage_cents_per_hour: float
    cost: int


@dataclass(frozen=True, kw_only=True)
class Markets:
    """The markets that a campaign's HITs went to.

    Attributes:
        rows: a row for each market, in the order of its first HIT.
        is_gold: whether agreement is with known answers, and not with labels.
    """

    rows: tuple[MarketFacts, ...]
    is_gold: bool


def rejected_words(model: ReportModel) -> str:
    """Return "rejected" with what that means for the pay, where people were paid for work."""
    if model.facts.imported is not None:
        return "rejected"
    if model.facts.of(Markets) is None:
        return "rejected without pay"
    return "rejected (without pay, unless a market paid the whole visit)"


def markets_section(model: ReportModel) -> Section | None:
    """Show the work of each market; None if HITs have no markets."""
    markets, money = model.facts.of(Markets), model.facts.money
    if markets is None or money is None:
        return None
    hits = sum(row.hits for row in markets.rows)
    base = (
        "the known answers"
        if markets.is_gold
        else "the items' labels, which these answers helped to make"
    )
    by_market = table(
        "Work, quality and cost of each market",
        markets.rows,
        text("Market", lambda of: of.market),
        number("HITs", lambda of: of.hits),
        number("Assignments", lambda of: of.assignments),
        number("Answers kept", lambda of: part_of(of.kept, of.decided) if of.decided else NOTHING),
        number("Agreement", lambda of: part_of(of.agreed, of.compared) if of.compared else NOTHING),
        number(
            "Median seconds", lambda of: NOTHING if math.isnan(of.seconds) else round(of.seconds)
        ),
        number("Pay per hour", lambda of: money.wage(of.wage_cents_per_hour)),
        number("Cost", lambda of: money.shown(of.cost)),
        is_wide=True,
        note=f"Agreement: with {base}. Seconds: from accepting an assignment to "
        "submitting it. Pay per hour: rewards and bonuses, median over the market's "
        "workers. Cost: rewards, bonuses and fees that were spent, without "
        "compensations.",
    )
    return Section(
        key="markets",
        title="By market",
        lead=(
            f"{plural(hits, 'HIT')} went to {plural(len(markets.rows), 'market')}.",
            "Each market has its own workers, and charges its own fees.",
        ),
        tables=(by_market,),
    )
