"""What each source of answers did: the workers of each market, models, and known answers.

Of a market: the work, its quality, pay and cost. Of a model: how far its labels agree with
people, and the answers that they save. Of known answers: who gave them.
"""

from collections.abc import Mapping

import pandas as pd

from piecework.analyses.answers_needed import Replays, replays
from piecework.analyses.labels_from_votes import ability
from piecework.analyses.machine_labels import machine_table
from piecework.analyses.votes import answers_that_count, votes
from piecework.campaign.opened import OpenedCampaign
from piecework.domain.campaign import AsNeeded
from piecework.domain.column_names import MARKET
from piecework.domain.field import Field
from piecework.domain.tables import value_column
from piecework.postprocess.aggregates import most_chosen, option_votes
from piecework.postprocess.pseudonyms import pseudonyms
from piecework.qc.gold import contradicted, gold_scores
from piecework.qc.heuristics import gold_failed
from piecework.qc.ratings import with_ratings
from piecework.qc.registry import params_of
from piecework.report.sections.known_answers import Gold
from piecework.report.sections.money import MarketFacts, Markets
from piecework.report.sections.other_sources import Machine, MachineModel
from piecework.results.table import worked_seconds
from piecework.store import campaign_facts, hits, ledger, results, tables, workers

_Agreement = tuple[int, int]
"""How many judgements agree, and how many were compared."""


def read_markets(opened: OpenedCampaign, answers: pd.DataFrame) -> Markets | None:
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
    has_gold = bool(opened.campaign.known_items)
    agreement = _with_gold(opened, names) if has_gold else _with_labels(opened, answers, names)
    rows = []
    for market in names:
        own = answers[answers[MARKET] == market]
        there = done[done["market"] == market]
        paid = there[(there["seconds"] > 0) & (there["paid"] > 0)]
        by_worker = paid.groupby("worker_id")[["paid", "seconds"]].sum()
        agreed, compared = agreement[market]
        rows.append(
            MarketFacts(
                market=market,
                hits=work[market].hits,
                assignments=work[market].collected,
                kept=len(answers_that_count(own)),
                decided=len(own),
                agreed=agreed,
                compared=compared,
                seconds=float(there["seconds"].median()),
                wage_cents_per_hour=float(
                    (by_worker["paid"] * 3600 / by_worker["seconds"]).median()
                ),
                cost=cost.get(market, 0),
            )
        )
    return Markets(rows=tuple(rows), is_gold=has_gold)


def _timed(opened: OpenedCampaign) -> pd.DataFrame:
    """Return a row per assignment: `market`, `worker_id`, `seconds`, `paid` cents."""
    done = pd.DataFrame(tables.read_work_by_market(opened.store))
    paid = ledger.paid_cents(opened.store, "rewards", "bonuses")
    return done.assign(
        seconds=worked_seconds(done),
        paid=done["assignment_id"].map(paid).fillna(0).astype("int64"),
    )


def _cost(opened: OpenedCampaign, done: pd.DataFrame) -> Mapping[str, int]:
    """Return what was spent at each market, compensations aside."""
    spent = ledger.paid_cents(opened.store, "rewards", "bonuses", "fees")
    cents = done["assignment_id"].map(spent).fillna(0).astype("int64")
    by_market = cents.groupby(done["market"]).sum()
    cost = {str(market): int(each) for market, each in by_market.items()}
    market_of = {
        hit.hit_type_id: hit.market
        for hit in hits.load_hits(opened.store)
        if hit.hit_type_id is not None
    }
    for type_id, (_, more) in campaign_facts.booked_outside(opened.store).items():
        market = market_of.get(type_id, "")
        cost[market] = cost.get(market, 0) + more
    return cost


def _with_gold(opened: OpenedCampaign, names: list[str]) -> dict[str, _Agreement]:
    """Return how often the workers of each market gave the known answer."""
    campaign = opened.campaign
    params = params_of(gold_failed, campaign.heuristics, seed=0)
    rated = with_ratings(opened.answers(), campaign.task, campaign.items)
    of_hit = rated["hit_id"].map(hits.markets(opened.store))
    agreement = {}
    for market in names:
        scores = gold_scores(rated[of_hit == market], params.tolerance)
        agreement[market] = int(scores["right"].sum()), int(scores["met"].sum())
    return agreement


def _with_labels(
    opened: OpenedCampaign, answers: pd.DataFrame, names: list[str]
) -> dict[str, _Agreement]:
    """Return how often kept answers of each market are their item's label."""
    agreement = dict.fromkeys(names, (0, 0))
    rows = answers_that_count(answers)
    for field in opened.campaign.task.label_fields:
        final = rows["item_id"].map(_final(opened, rows, field))
        is_compared = final.notna() & (final != "")
        is_same = is_compared & (rows[value_column(field)] == final)
        for market in names:
            (agreed, compared), of_market = agreement[market], rows[MARKET] == market
            agreement[market] = (
                agreed + int((is_same & of_market).sum()),
                compared + int((is_compared & of_market).sum()),
            )
    return agreement


def _final(opened: OpenedCampaign, rows: pd.DataFrame, field: Field) -> Mapping[str, str]:
    """Return the label of each item: a person's, or the majority; "" for a tie."""
    items = pd.Index(rows["item_id"].unique(), dtype="str", name="item_id")
    options = [option.value for option in field.options]
    table = most_chosen(option_votes(votes(rows, field), options, items))
    label = {str(item_id): str(value) for item_id, value in table["value"].items()}
    for (item_id, name), settled in results.load_labels(opened.store).items():
        if name == field.name and item_id in label:
            label[item_id] = settled.value
    return label


_MOST_ITEMS = 400
"""Items that are replayed: some ten seconds with ten votes each."""

_USUAL = 0.9
"""How certain labels must be in the replay of a campaign without such a rule."""


def read_machine(opened: OpenedCampaign, answers: pd.DataFrame) -> Machine | None:
    """Return the facts about models; `None` for a campaign without any.

    Args:
        opened: the campaign.
        answers: its decided answers (`piecework.results.table`).
    """
    campaign = opened.campaign
    fields = campaign.task.label_fields
    of_models = [machine_table(campaign.machine, field.name) for field in fields]
    number = next((n for n, table in enumerate(of_models) if table is not None), None)
    if number is None:
        return None
    field, table = fields[number], of_models[number]
    assert table is not None  # noqa: S101 - its number was just looked up
    own = [str(item.item_id) for item in campaign.own_items]
    rows = answers_that_count(answers[answers["item_id"].isin(own)])
    rows = rows.sort_values(["submitted_at", "assignment_id", "position"])
    rows = rows.drop_duplicates(["item_id", "worker"])
    people = _labels_of_models(rows, field, None)
    final = _labels_of_models(rows, field, table)
    for (item_id, name), label in results.load_labels(opened.store).items():
        if name == field.name and item_id in final.index:
            final[item_id] = label.value
    replayed = rows[rows["item_id"].isin(rows["item_id"].unique()[:_MOST_ITEMS])]
    return Machine(
        field=field.name,
        models=tuple(
            _of_model(str(name), of_model, own, people, final)
            for name, of_model in table.groupby("model", sort=True)
        ),
        replays=_replays(opened, replayed, number, table),
        is_rule_its_own=campaign.posting.as_needed is not None,
        answered=rows["item_id"].nunique(),
    )


def _of_model(
    name: str,
    of_model: pd.DataFrame,
    own: list[str],
    people: "pd.Series[str]",
    final: "pd.Series[str]",
) -> MachineModel:
    of_items = of_model.set_index("item_id")["value"]
    of_items = of_items[of_items.index.isin(own)]
    by_people, in_dataset = (
        labels[labels.index.isin(of_items.index)].dropna() for labels in (people, final)
    )
    return MachineModel(
        name=name,
        items=len(of_items),
        with_people=len(by_people),
        as_people=int((of_items.reindex(by_people.index) == by_people).sum()),
        with_final=len(in_dataset),
        as_final=int((of_items.reindex(in_dataset.index) == in_dataset).sum()),
    )


def _labels_of_models(
    rows: pd.DataFrame, field: Field, machine: pd.DataFrame | None
) -> "pd.Series[str]":
    """Return the likeliest label of each item; none if the estimate fails."""
    of_field, options = votes(rows, field), [option.value for option in field.options]
    known = of_field[of_field["value"].isin(options)]
    try:
        return ability(known, values=options, machine=machine).labels["value"].copy()
    except ValueError:
        return pd.Series(dtype="str")


def _replays(
    opened: OpenedCampaign, rows: pd.DataFrame, number: int, machine: pd.DataFrame
) -> Replays | None:
    """Return the replays; `None` without answers."""
    posting = opened.campaign.posting
    if rows.empty:
        return None
    of_fields = [
        (votes(rows, field), [option.value for option in field.options])
        for field in opened.campaign.task.label_fields
    ]
    return replays(
        of_fields,
        number,
        machine,
        posting.as_needed or AsNeeded(most=posting.assignments, until=_USUAL),
        least=posting.assignments if posting.as_needed else 1,
        seed=opened.campaign.rehearsal.seed,
    )


def read_gold(opened: OpenedCampaign) -> Gold | None:
    """Return how workers answered items with known answers; `None` without such items."""
    campaign = opened.campaign
    if not campaign.known_items:
        return None
    rated = with_ratings(opened.answers(), campaign.task, campaign.items)
    params = params_of(gold_failed, campaign.heuristics, seed=0)
    scores = gold_scores(rated, params.tolerance)
    names = pseudonyms(scores.index.to_series(), opened.pseudonym_key)
    return Gold(
        items=len(campaign.known_items),
        mixed_in=len(campaign.mixed_in_items),
        least=params.min_items,
        scores=scores.set_axis(names.tolist()),
        contradicted=contradicted(rated, params.tolerance),
    )
