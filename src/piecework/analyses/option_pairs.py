"""Which options different workers choose for the same item."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd


def option_pairs(votes: pd.DataFrame, options: Sequence[str]) -> npt.NDArray[np.int64]:
    """Count pairs of workers by the options that they chose for the same item.

    Args:
        votes: `item_id`, `worker` and `value`: an option, or a tuple of options.
        options: the options, in the order of the result; other values are ignored.

    Returns:
        A symmetric matrix. Row a, column b counts the pairs of workers in which one
        chose a and the other b about an item; the diagonal counts the pairs in which
        both chose a.

    >>> table = pd.DataFrame(
    ...     {"item_id": ["i", "i", "i"], "worker": ["x", "y", "z"],
    ...      "value": ["a", "a", "b"]}
    ... )
    >>> option_pairs(table, ["a", "b"]).tolist()
    [[1, 2], [2, 0]]
    """
    places = {option: place for place, option in enumerate(options)}
    answers = votes.reset_index(drop=True)
    chosen = answers["value"].map(
        lambda value: value if isinstance(value, tuple | list) else (value,)
    )
    ticks = chosen.map(set).explode()
    ticks = ticks[ticks.isin(places)].map(places)
    ticked = np.zeros((len(answers), len(options)), dtype=np.int64)
    ticked[ticks.index.to_numpy(), ticks.to_numpy(dtype=np.int64)] = 1
    items, _ = pd.factorize(answers["item_id"])
    by_item = np.zeros((int(items.max(initial=-1)) + 1, len(options)), dtype=np.int64)
    np.add.at(by_item, items, ticked)
    # All pairs of answers about an item, without the pairs of an answer with itself.
    pairs = by_item.T @ by_item - ticked.T @ ticked
    np.fill_diagonal(pairs, pairs.diagonal() // 2)
    return pairs
