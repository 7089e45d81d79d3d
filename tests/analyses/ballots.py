"""Votes for tests: small frames by hand, and any frame for laws."""

from collections.abc import Iterable

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
