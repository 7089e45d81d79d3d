"""Moderate comments: a classifier decides the clear ones, people decide the others."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from prefect import flow

from piecework.flows.asking import ask_table

CAMPAIGN = Path(__file__).with_name("moderation.toml")
SURE = 0.9
DAY = 24 * 60 * 60


@flow(persist_result=True)
def moderate(
    comments: Sequence[dict[str, str]], scores: Sequence[float], *, rehearse: bool = False
) -> dict[str, str]:
    """Return "show" or "hide" for each comment, by its `item_id`.

    Args:
        comments: each with `item_id` and `comment`.
        scores: the classifier's probability that a comment is an attack.
        rehearse: let simulated workers answer, at no cost.
    """
    table = pd.DataFrame([*comments])
    table["score"] = [*scores]
    decisions = table["score"].ge(0.5).map({True: "hide", False: "show"})

    is_unsure = table["score"].between(1 - SURE, SURE)
    opinions = ask_table(
        table[is_unsure].drop(columns="score"),
        campaign=CAMPAIGN,
        timeout=DAY,
        on_timeout="yes",  # hide what is not answered after a day
        rehearse=rehearse,
    )
    decisions[is_unsure] = opinions["label"].map({"yes": "hide", "no": "show"})
    return dict(zip(table["item_id"], decisions, strict=True))
