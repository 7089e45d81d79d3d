"""The fewest answers: a replay by a rule that knows how often each voter is right.

It knows from the labels the prior, each worker's table of votes by label, and each
model's table. It takes votes as independent, as `ability` does. It has seen the labels
that it is measured on, so a rule that learns from votes alone needs more answers.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from tests.bench.truth.machine.replay import LEAST, Floats, Outcome

_CROWDS_VOTES = 4.0
"""A worker's table starts as the crowd's, which counts as this many votes."""


def known_rule(
    votes: pd.DataFrame,
    gold: "pd.Series[str]",
    values: Sequence[str],
    most: int,
    machine: pd.DataFrame | None,
    untils: Sequence[float],
) -> list[Outcome]:
    """By `until`, the outcome of asking until that rule is as sure."""
    kinds, kept = len(values), pd.Index(values)
    truths = kept.get_indexer(pd.Index(gold))
    rows = gold.index.get_indexer(pd.Index(votes["item_id"]))
    chosen = kept.get_indexer(pd.Index(votes["value"]))
    counts = np.ones((kinds, kinds))
    np.add.at(counts, (truths[rows], chosen), 1.0)
    crowd = counts / counts.sum(axis=1, keepdims=True)
    people, names = pd.factorize(votes["worker"])
    tables = np.tile(_CROWDS_VOTES * crowd, (len(names), 1, 1))
    if len(names) > 1:
        np.add.at(tables, (people, truths[rows], chosen), 1.0)
    logs = np.log(tables / tables.sum(axis=2, keepdims=True))
    shares = np.log(np.bincount(truths, minlength=kinds) + 1.0)
    score: Floats = np.tile(shares, (len(gold), 1))
    if machine is not None:
        score = score + _of_models(machine, gold.index, truths, kept)
    turn = votes.groupby("item_id").cumcount().to_numpy()
    was_voted = np.zeros(score.shape, dtype="bool")
    outcomes = [(np.zeros(len(gold)), np.zeros(len(gold))) for _ in untils]
    last = pd.Series(rows).value_counts().reindex(range(len(gold))).to_numpy()
    for number in range(1, most + 1):
        is_now = turn == number - 1
        score[rows[is_now]] += logs[people[is_now], :, chosen[is_now]]
        was_voted[rows[is_now], chosen[is_now]] = True
        top = score.max(axis=1, keepdims=True)
        chances = np.exp(score - top)
        chances /= chances.sum(axis=1, keepdims=True)
        best = np.where(was_voted, chances, -1.0)
        sure, label = best.max(axis=1), best.argmax(axis=1)
        for until, (asked, right) in zip(untils, outcomes, strict=True):
            is_end = (sure >= until) | (number == np.minimum(last, most))
            ends = is_end & (asked == 0) & (number >= LEAST)
            right[ends] = label[ends] == truths[ends]
            asked[ends] = number
    return outcomes


def _of_models(
    machine: pd.DataFrame, items: pd.Index, truths: npt.NDArray[np.intp], values: pd.Index
) -> Floats:
    """The evidence of all models' outputs together, which may share errors."""
    joined = machine.groupby("item_id")["value"].agg(" ".join)
    outputs, _ = pd.factorize(joined.reindex(items))
    table = np.full((int(outputs.max()) + 1, len(values)), 0.5)
    np.add.at(table, (outputs, truths), 1.0)
    logs: Floats = np.log(table / table.sum(axis=0))[outputs]
    return logs
