"""One label per item, by four methods, compared with known answers if there are any."""

from contextlib import suppress

import pandas as pd

from piecework.analyses.ability import NotConvergedError, ability
from piecework.analyses.dawid_skene import dawid_skene
from piecework.analyses.votes import accuracy, majority, votes_that_count, weighted_majority
from piecework.domain.task import GOLD, Field
from piecework.report.analysis.answers import AnalysedAnswers
from piecework.report.analysis.result import Analysis

_LEAST_VOTES = 3
"""Mean votes per worker from which errors can be learnt."""


def labels(answers: AnalysedAnswers) -> list[Analysis]:
    """Label each single-choice field by majority, weights, Dawid-Skene and ability."""
    rows = [row for field in answers.fields("choice") for row in _methods(answers, field)]
    if not rows:
        return []
    return [
        Analysis(
            key="labels",
            title="One label per item",
            frame=pd.DataFrame(rows),
            note="Weighted: a vote's weight is the share of its worker's votes that "
            "agree with the plain majority. Dawid-Skene learns workers' errors, so it "
            f"needs {_LEAST_VOTES} or more votes per worker on average. Ability: "
            "workers err more or less, and items are harder or easier; `sure` is its "
            "mean probability that a label is right. Right: share of the items with a "
            "known answer; a tie counts as one guess.",
        )
    ]


def _methods(answers: AnalysedAnswers, field: Field) -> list[dict[str, object]]:
    votes = votes_that_count(answers.votes(field))
    if votes.empty:
        return []
    expected = {
        str(item.item_id): item.columns[GOLD + field.name]
        for item in answers.items
        if item.columns.get(GOLD + field.name)
    }
    gold = pd.Series(expected, dtype="str")
    plain = majority(votes)
    labels_by_method = {"majority": plain}
    if votes["worker"].value_counts().mean() >= _LEAST_VOTES:
        labels_by_method["weighted majority"] = weighted_majority(votes, _weights(votes, plain))
        labels_by_method["Dawid-Skene"] = dawid_skene(votes).labels
    # Without convergence, give no label rather than an unreliable one.
    with suppress(NotConvergedError):
        labels_by_method["ability"] = ability(votes, values=_values(field)).labels
    return [
        {
            "field": field.name,
            "method": method,
            "items": len(of_items),
            "ties": int(of_items["value"].isna().sum()),
            "known": int(of_items.index.isin(gold.index).sum()),
            "right": accuracy(of_items, gold) if len(gold) else float("nan"),
            "sure": of_items["probability"].mean() if method == "ability" else float("nan"),
        }
        for method, of_items in labels_by_method.items()
    ]


def _values(field: Field) -> tuple[str, ...]:
    """The possible values; empty if an item or a worker defines them."""
    if field.is_open or any(option.column for option in field.options):
        return ()
    return tuple(option.value for option in field.options)


def _weights(votes: pd.DataFrame, plain: pd.DataFrame) -> "pd.Series[float]":
    agrees = votes["value"] == votes["item_id"].map(plain["value"])
    return agrees.groupby(votes["worker"]).mean().astype("float64")
