"""What the report says about parts that not every campaign has.

They are labels of models (their agreement, and what they saved), several markets (the
work, quality, pay and cost of each), an experiment with the page, and earned
qualifications, with every change by pseudonym.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from piecework.analyses.ability import NotConvergedError, ability
from piecework.analyses.machine import machine_table
from piecework.analyses.machine_replay import Replays, replays
from piecework.analyses.votes import answers_that_count, votes
from piecework.campaign.opened import OpenedCampaign
from piecework.domain.campaign import AsNeeded, Posting
from piecework.domain.column_names import MARKET
from piecework.domain.experiment import Arm
from piecework.domain.tables import value_column
from piecework.domain.task import GOLD, Field
from piecework.engine.earn import records_of
from piecework.postprocess.aggregates import leading, option_votes
from piecework.qc.gold import gold_scores
from piecework.qc.heuristics import gold_failed, not_typed
from piecework.qc.plain_text import word_counts
from piecework.qc.ratings import with_ratings
from piecework.qc.registry import params_of
from piecework.report.facts import (
    Earned,
    EarnedChange,
    Machine,
    MachineModel,
    MarketFacts,
    Markets,
    PageExperiment,
)
from piecework.store import findings, hits, ledger, prices, results, tables, workers
from piecework.store import results as settled_labels
from piecework.store.workers import MarketWork

_MOST_ITEMS = 400
"""Items that are replayed: some ten seconds with ten votes each."""

_USUAL = 0.9
"""How certain labels must be in the replay of a campaign without such a rule."""


def machine_facts(opened: OpenedCampaign, answers: pd.DataFrame) -> Machine | None:
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
    for (item_id, name), label in settled_labels.load_labels(opened.store).items():
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
    """Return the replays; `None` without answers and if an estimate fails."""
    posting = opened.campaign.posting
    if rows.empty:
        return None
    of_fields = [
        (votes(rows, field), [option.value for option in field.options])
        for field in opened.campaign.task.label_fields
    ]
    try:
        return replays(
            of_fields,
            number,
            machine,
            posting.as_needed or _hypothetical(posting),
            least=posting.assignments if posting.as_needed else 1,
            seed=opened.campaign.rehearsal.seed,
        )
    except NotConvergedError:
        return None


def _hypothetical(posting: Posting) -> AsNeeded:
    return AsNeeded(most=posting.assignments, until=_USUAL)


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
            _row_of_market(
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


def _row_of_market(
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


def experiment_facts(opened: OpenedCampaign) -> PageExperiment | None:
    """Return the texts by arm; `None` if no HIT has an arm.

    The arms are those that HITs were posted with, even if the campaign file states
    others by now.
    """
    arms = {str(hit): Arm.from_text(arm) for hit, arm in hits.arms(opened.store).items()}
    if not arms:
        return None
    table = opened.answers()
    own = table[table["hit_id"].isin(list(arms))]
    own = own[(own["text"].str.strip() != "") & ~own["is_canned"]]
    flagged = findings.flagged_by(opened.store, not_typed.NAME)
    of_text = [arms[hit] for hit in own["hit_id"].tolist()]
    seconds = own["shown_seconds"].to_numpy()
    texts = pd.DataFrame(
        {
            "hit": own["hit_id"].to_numpy(),
            "worker": own["worker_id"].map(opened.pseudonym).to_numpy(),
            "wording": [arm.wording for arm in of_text],
            "paste": [arm.paste for arm in of_text],
            "is_flagged": own.index.isin(list(flagged)),
            "words": word_counts(own["text"]),
            "seconds": np.where(seconds > 0, seconds, np.nan),
        }
    )
    stated = opened.campaign.experiment
    arms_there = sorted(set(arms.values()), key=Arm.as_text)
    wordings = [*(stated.wordings if stated else ()), *(a.wording for a in arms_there)]
    pastes = [*(stated.pastes if stated else ()), *(a.paste for a in arms_there)]
    return PageExperiment(
        wordings=tuple(dict.fromkeys(wordings)),
        pastes=tuple(dict.fromkeys(pastes)),
        texts=texts,
        records_typing=opened.campaign.posting.records_typing,
    )


def earned_facts(opened: OpenedCampaign) -> tuple[Earned, ...]:
    """Return the qualifications that the campaign states, with all their changes."""
    facts = []
    for rule in opened.campaign.earned:
        with records_of(opened, rule) as records:
            facts.append(
                Earned(
                    name=rule.name,
                    agreement=rule.agreement,
                    over=rule.over,
                    revoke_below=rule.revoke_below,
                    forget_days=rule.forget_days,
                    holders=len(records.holdings(rule.name)),
                    changes=tuple(
                        EarnedChange(
                            worker=opened.pseudonym(change.worker_id),
                            is_grant=change.change == "grant",
                            at=change.decided_at,
                            by=change.decided_by,
                            items=change.share.items,
                            agreed=change.share.agreed,
                            first=change.share.first,
                            last=change.share.last,
                        )
                        for change in records.changes(rule.name)
                    ),
                )
            )
    return tuple(facts)
