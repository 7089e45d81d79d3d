"""Counts that add up: what one part of a campaign has to know of all others.

A heuristic that compares an answer with its batch needs a few numbers of the batch, not
its rows. It counts each part of the table separately (a tally); the tallies of all
parts add up to the tally of the whole, however it was split. Counts are whole numbers,
so sums are exact and do not depend on the order.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

Tally = pd.DataFrame
"""One row per key, sorted: the columns of the key, then int64 amounts with names that
begin with `n_`."""


def tally(keys: Mapping[str, object] | pd.DataFrame, **amounts: npt.NDArray[np.int64]) -> Tally:
    """Count how often each key occurs (`n_rows`), or sum these amounts by key.

    Args:
        keys: columns of the key; rows without one (NaN) are left out.
        amounts: whole numbers, by column name.
    """
    rows = pd.DataFrame(keys)
    names = list(rows.columns)
    rows = rows.assign(**(amounts or {"n_rows": np.ones(len(rows), dtype="int64")}))
    return _summed(rows, names)


def merged(tallies: Iterable[Tally]) -> Tally:
    """Add up the tallies of the parts; there must be at least one."""
    rows = pd.concat(list(tallies), ignore_index=True)
    names = [str(name) for name in rows]
    return _summed(rows, [name for name in names if not name.startswith("n_")])


def looked_up(keys: pd.DataFrame, known: Tally) -> pd.DataFrame:
    """Return the amounts of these keys, in their order; 0 for unknown keys."""
    names = list(keys.columns)
    # The tally of a whole table has exactly these keys.
    if len(keys) == len(known) and keys.equals(known[names]):
        return known.drop(columns=names)
    # Most batches of a large campaign are not needed.
    known = known[known[names[0]].isin(keys[names[0]].unique())]
    amounts = keys.merge(known, how="left", on=names, validate="many_to_one")
    return amounts.drop(columns=names).fillna(0).astype("int64")


def rows_of(known: Tally) -> pd.DataFrame:
    """Repeat each key as often as it was counted, in order."""
    times = known["n_rows"].to_numpy()
    keys = known.drop(columns="n_rows")
    return keys.iloc[np.repeat(np.arange(len(keys)), times)].reset_index(drop=True)


def _summed(rows: pd.DataFrame, names: Sequence[str]) -> Tally:
    sums = rows.groupby(list(names), sort=True, as_index=False).sum()
    amounts = [name for name in sums if str(name).startswith("n_")]
    return sums.astype(dict.fromkeys(amounts, "int64"))
