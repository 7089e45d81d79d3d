"""What the report says of each market: its work, its quality, its pay and its cost."""

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from piecework.analyses.votes import answers_that_count, votes
from piecework.campaign.opened import OpenedCampaign
from piecework.domain.column_names import MARKET
from piecework.domain.tables import value_column
from piecework.domain.task import GOLD, Field
from piecework.postprocess.aggregates import leading, option_votes
from piecework.qc.gold import gold_scores
from piecework.qc.heuristics import gold_failed
from piecework.qc.ratings import with_ratings
from piecework.qc.registry import params_of
from piecework.report.facts import MarketFacts, Markets
from piecework.store import hits, ledger, prices, results, tables, workers
from piecework.store.workers import MarketWork


def market_facts(opened: OpenedCampaign, answers: pd.DataFrame) -> Markets | None:
    """Return the facts by market; `None` if HITs have no markets.

    Args:
        opened: the campaign.
        answers: its decided answers (`piecework.results.table`).
    """
    work = workers.work_by_market(opened.store)
    names = [market for market in work if market]
    if not names:
        return None
    answers = answers if MARKET in answers else answers.assign(**{MARKET: ""})
    done = _timed(opened)
    cost = _cost(opened, done)
    has_gold = _has_gold(opened)
    agreement = _with_gold(opened, names) if has_gold else _with_labels(opened, answers, names)
    return Markets(
        rows=tuple(
            _row(
                market,
                work[market],
                answers[answers[MARKET] == market],
                done[done["market"] == market],
                agreement[market],
                cost.get(market, 0),
            )
            for market in names
        ),
        is_gold=has_gold,
    )


class _Agreement(NamedTuple):
    agreed: int
    compared: int


def _row(
    market: str,
    work: MarketWork,
    answers: pd.DataFrame,
    done: pd.DataFrame,
    agreement: _Agreement,
    cost: int,
) -> MarketFacts:
    """Return the facts about one market from its answers and assignments."""
    is_paid = (done["seconds"] > 0) & (done["paid"] > 0)
    timed = done[is_paid].groupby("worker_id")[["paid", "seconds"]].sum()
    return MarketFacts(
        market=market,
        hits=work.hits,
        assignments=work.collected,
        kept=int((~answers["is_rejected"]).sum()),
        decided=len(answers),
        agreed=agreement.agreed,
        compared=agreement.compared,
        seconds=float(done["seconds"].median()),
        wage_cents_per_hour=float((timed["paid"] * 3600 / timed["seconds"]).median()),
        cost=cost,
    )


def _timed(opened: OpenedCampaign) -> pd.DataFrame:
    """Return a row per assignment: `market`, `worker_id`, `seconds`, `paid` cents."""
    table = pd.DataFrame(tables.read_work_by_market(opened.store))
    moments = {
        name: pd.to_datetime(table[name], utc=True, format="ISO8601")
        for name in ("accepted_at", "submitted_at")
    }
    worked = moments["submitted_at"] - moments["accepted_at"]
    paid = ledger.paid_cents(opened.store, "rewards", "bonuses")
    return table.assign(
        seconds=worked.dt.total_seconds(),
        paid=table["assignment_id"].map(paid).fillna(0).astype("int64"),
    )


def _cost(opened: OpenedCampaign, done: pd.DataFrame) -> Mapping[str, int]:
    """Return what was spent at each market, compensations aside."""
    spent = ledger.paid_cents(opened.store, "rewards", "bonuses", "fees")
    cents = done["assignment_id"].map(spent).fillna(0).astype("int64")
    by_market = cents.groupby(done["market"]).sum()
    cost = {str(market): int(each) for market, each in by_market.items()}
    market_of = {
        hit.hit_type_id: hit.market
        for hit in hits.load(opened.store)
        if hit.hit_type_id is not None
    }
    for type_id, (_, more) in prices.booked_outside(opened.store).items():
        market = market_of.get(type_id, "")
        cost[market] = cost.get(market, 0) + more
    return cost


def _has_gold(opened: OpenedCampaign) -> bool:
    return any(
        name.startswith(GOLD) and cell
        for item in opened.campaign.items
        for name, cell in item.columns.items()
    )


def _with_gold(opened: OpenedCampaign, names: list[str]) -> dict[str, _Agreement]:
    """Return how often the workers of each market gave the known answer."""
    campaign = opened.campaign
    params = params_of(gold_failed, campaign.heuristics, seed=0)
    rated = with_ratings(opened.answers(), campaign.task, campaign.items)
    of_hit = rated["hit_id"].map(hits.markets(opened.store))
    agreement = {}
    for market in names:
        scores = gold_scores(rated[of_hit == market], params.tolerance)
        agreement[market] = _Agreement(int(scores["right"].sum()), int(scores["met"].sum()))
    return agreement


def _with_labels(
    opened: OpenedCampaign, answers: pd.DataFrame, names: list[str]
) -> dict[str, _Agreement]:
    """Return how often kept answers of each market are their item's label."""
    agreement = dict.fromkeys(names, _Agreement(0, 0))
    rows = answers_that_count(answers)
    for field in opened.campaign.task.label_fields:
        final = rows["item_id"].map(_final(opened, rows, field))
        is_compared = final.notna() & (final != "")
        is_same = is_compared & (rows[value_column(field)] == final)
        for market in names:
            before, of_market = agreement[market], rows[MARKET] == market
            agreement[market] = _Agreement(
                before.agreed + int((is_same & of_market).sum()),
                before.compared + int((is_compared & of_market).sum()),
            )
    return agreement


def _final(opened: OpenedCampaign, rows: pd.DataFrame, field: Field) -> Mapping[str, str]:
    """Return the label of each item: a person's, or the majority; "" for a tie."""
    items = pd.Index(rows["item_id"].unique(), dtype="str", name="item_id")
    options = [option.value for option in field.options]
    table = leading(option_votes(votes(rows, field), options, items))
    label = {str(item_id): str(value) for item_id, value in table["value"].items()}
    for (item_id, name), settled in results.load_labels(opened.store).items():
        if name == field.name and item_id in label:
            label[item_id] = settled.value
    return label
