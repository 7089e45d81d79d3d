"""Votes for tests: small frames by hand, and any frame for laws."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from hypothesis import strategies as st

Vote = tuple[str, str | None, object]


def votes_of(*rows: Vote) -> pd.DataFrame:
    """A votes frame of (item, worker, value)."""
    return pd.DataFrame(list(rows), columns=["item_id", "worker", "value"])


def votes_on(*items: Iterable[object]) -> pd.DataFrame:
    """A votes frame by the values said about each item, all by different workers."""
    return votes_of(
        *(
            (f"item-{place}", f"worker-{voter}", value)
            for place, values in enumerate(items)
            for voter, value in enumerate(values)
        )
    )


def ballots(
    *, items: int = 6, workers: int = 5, values: str = "abc"
) -> st.SearchStrategy[pd.DataFrame]:
    """Any votes, at least one; nobody votes twice about an item."""
    cell = st.tuples(st.integers(0, items - 1), st.integers(0, workers - 1))
    filled_cells = st.dictionaries(
        cell, st.sampled_from(values), min_size=1, max_size=items * workers
    )
    return filled_cells.map(
        lambda value_of: votes_of(
            *((f"i{i}", f"w{w}", value) for (i, w), value in value_of.items())
        )
    )


def seldom_seen(seed: int) -> tuple[pd.DataFrame, "pd.Series[str]"]:
    """Five votes on each of 1,000 items with three values; "r" is true of a quarter.

    Six of ten workers never say "r"; the others see it about half of the time, and say
    it of six in a hundred other items. Abilities differ.
    """
    draw = np.random.default_rng(seed)
    truths = draw.choice(["a", "b", "r"], 1000, p=[0.375, 0.375, 0.25])
    accuracies = 1 / (1 + np.exp(-draw.normal(1.8, 1.0, 200)))
    sees_rare = draw.random(200) < 0.4
    rows = []
    for place, truth in enumerate(truths):
        for worker in draw.choice(200, 5, replace=False):
            says_rare = 0.7 * accuracies[worker] if truth == "r" else 0.06
            if sees_rare[worker] and draw.random() < says_rare:
                value = "r"
            elif truth == "r":
                value = draw.choice(["a", "b"])
            else:
                is_right = draw.random() < accuracies[worker]
                value = truth if is_right else {"a": "b", "b": "a"}[truth]
            rows.append((f"i{place:03}", f"w{worker}", str(value)))
    votes = pd.DataFrame(rows, columns=["item_id", "worker", "value"])
    return votes, pd.Series(truths, index=[f"i{place:03}" for place in range(1000)])
