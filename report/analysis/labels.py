"""One label an item, by three methods, beside right answers where they are known."""

import pandas as pd

from analyses.dawid_skene import dawid_skene
from analyses.majority import accuracy, majority, weighted_majority
from analyses.votes import counted
from domain.task import GOLD, Field
from report.analysis.answers import AnalysedAnswers
from report.analysis.result import Analysis

_LEAST_VOTES = 3
"""Votes of a worker in the mean, from which errors can be learnt."""


def labels(answers: AnalysedAnswers) -> list[Analysis]:
    """Majority, weighted majority and Dawid-Skene of each field with one choice."""
    rows = [
        row for field in answers.fields("choice") for row in _methods(answers, field)
    ]
    if not rows:
        return []
    return [
        Analysis(
            key="labels",
            title="One label an item",
            frame=pd.DataFrame(rows),
            note="Weighted: a vote weighs the share of its worker's votes that the "
            "plain majority shares. Dawid-Skene learns workers' errors, so it needs "
            f"workers with {_LEAST_VOTES} votes or more in the mean. Right: of items "
            "whose right answer is known, a tie counts as one guess.",
        )
    ]


def _methods(answers: AnalysedAnswers, field: Field) -> list[dict[str, object]]:
    said = counted(answers.votes(field))
    if said.empty:
        return []
    expected = {
        str(item.item_id): item.columns[GOLD + field.name]
        for item in answers.items
        if item.columns.get(GOLD + field.name)
    }
    gold = pd.Series(expected, dtype="str")
    plain = majority(said)
    found = {"majority": plain}
    if said["worker"].value_counts().mean() >= _LEAST_VOTES:
        found["weighted majority"] = weighted_majority(said, _weights(said, plain))
        found["Dawid-Skene"] = dawid_skene(said).labels
    return [
        {
            "field": field.name,
            "method": method,
            "items": len(of_items),
            "ties": int(of_items["value"].isna().sum()),
            "known": int(of_items.index.isin(gold.index).sum()),
            "right": accuracy(of_items, gold) if len(gold) else float("nan"),
        }
        for method, of_items in found.items()
    ]


def _weights(said: pd.DataFrame, plain: pd.DataFrame) -> "pd.Series[float]":
    agrees = said["value"] == said["item_id"].map(plain["value"])
    return agrees.groupby(said["worker"]).mean().astype("float64")
