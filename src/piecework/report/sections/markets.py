"""The markets that a campaign's HITs went to, side by side."""

import math

from piecework.domain.counts import NOTHING, count, plural
from piecework.report.components import Section, Table, number, text
from piecework.report.facts import MarketFacts, Markets, Money
from piecework.report.formatting import part_of
from piecework.report.model import ReportModel


def build(model: ReportModel) -> Section | None:
    """Show the work of each market; None if HITs have no markets."""
    markets, money = model.facts.markets, model.facts.money
    if markets is None or money is None:
        return None
    hits = sum(row.hits for row in markets.rows)
    return Section(
        key="markets",
        title="By market",
        lead=(
            f"{plural(hits, 'HIT')} went to {plural(len(markets.rows), 'market')}.",
            "Each market has its own workers, and charges its own fees.",
        ),
        tables=(_table(markets, money),),
    )


def _table(markets: Markets, money: Money) -> Table:
    base = (
        "the known answers"
        if markets.is_gold
        else "the items' labels, which these answers helped to make"
    )
    return Table(
        caption="Work, quality and cost of each market",
        columns=(
            text("Market"),
            number("HITs"),
            number("Assignments"),
            number("Answers kept"),
            number("Agreement"),
            number("Median seconds"),
            number("Pay per hour"),
            number("Cost"),
        ),
        rows=tuple(_row(each, money) for each in markets.rows),
        is_wide=True,
        note=f"Agreement: with {base}. Seconds: from accepting an assignment to "
        "submitting it. Pay per hour: rewards and bonuses, median over the market's "
        "workers. Cost: rewards, bonuses and fees that were spent, without "
        "compensations.",
    )


def _row(each: MarketFacts, money: Money) -> tuple[str, ...]:
    return (
        each.market,
        count(each.hits),
        count(each.assignments),
        _part(each.kept, each.decided),
        _part(each.agreed, each.compared),
        NOTHING if math.isnan(each.seconds) else count(round(each.seconds)),
        money.wage(each.wage_cents_per_hour),
        money.shown(each.cost),
    )


def _part(part: int, whole: int) -> str:
    return part_of(part, whole) if whole else NOTHING
