"""Agreement beyond chance: Fleiss' and Cohen's kappa, and Krippendorff's alpha.

All are 1 for full agreement, 0 for chance, and NaN if nothing can be compared or all
ratings are of one category, because chance alone then explains everything.

If people tick all categories that apply, a *ticks* frame is a votes frame in which `value`
is a collection of names (tuple, list or set). An empty collection is an answer: nothing
applies. A missing value is not an answer.

Alpha allows any number of missing ratings: A. F. Hayes and K. Krippendorff, "Answering the
call for a standard reliability measure for coding data", Communication Methods and Measures
1 (2007), doi:10.1080/19312450709336664. It is one minus observed over expected disagreement.
If a disagreement is a squared distance, its sum over all pairs needs only sums and sums of
squares, not a table of pairs of values: forty thousand items are resampled a thousand times
in a second.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from piecework.analyses.votes import vote_table, votes_that_count

Weights = Literal["none", "linear", "quadratic"]


def fleiss_kappa(votes: pd.DataFrame) -> float:
    """Agreement of several raters on categories; the raters may differ by item.

    J. L. Fleiss, "Measuring nominal scale agreement among many raters", Psychological
    Bulletin 76 (1971), doi:10.1037/h0031619. Items may have different numbers of votes:
    an item's agreement is the share of its pairs of votes that agree, and chance comes
    from all votes together; with equal numbers this is the published formula. Items
    with fewer than two votes are left out.

    Args:
        votes: columns `item_id`, `worker`, `value` (see `piecework.analyses.votes`).
    """
    return fleiss_kappa_of_counts(vote_table(votes))


def fleiss_kappa_of_counts(counts: npt.ArrayLike) -> float:
    """Fleiss' kappa from counts.

    Args:
        counts: one row per item, one column per category: how many raters chose it.
    """
    table = np.atleast_2d(np.asarray(counts, dtype="float64"))
    ratings = table.sum(axis=1)
    table, ratings = table[ratings >= 2], ratings[ratings >= 2]  # noqa: PLR2004 - a pair
    if not len(table):
        return float("nan")
    agreeing = (table * (table - 1)).sum(axis=1) / (ratings * (ratings - 1))
    by_chance = float(np.square(table.sum(axis=0) / ratings.sum()).sum())
    if by_chance >= 1.0:
        return float("nan")
    return float((agreeing.mean() - by_chance) / (1 - by_chance))


def cohen_kappa(
    first: "pd.Series[Any]", second: "pd.Series[Any]", *, weights: Weights = "none"
) -> float:
    """Agreement of two raters on the items that both rated.

    J. Cohen, "A coefficient of agreement for nominal scales", Educational and
    Psychological Measurement 20 (1960), doi:10.1177/001316446002000104; weighted:
    J. Cohen, Psychological Bulletin 70 (1968), doi:10.1037/h0026256.

    Args:
        first: one rater's values, index `item_id`; missing is not rated.
        second: the other rater's values.
        weights: the cost of a disagreement. "none": all the same. "linear" and
            "quadratic": by the distance of the values, or its square; only for numbers.

    Raises:
        ValueError: an item is twice in an index, or weighted values are not numbers.
    """
    if not (first.index.is_unique and second.index.is_unique):
        raise ValueError("each rater may rate an item once")
    both = pd.concat({"first": first, "second": second}, axis=1, join="inner").dropna()
    if both.empty:
        return float("nan")
    counts = pd.crosstab(both["first"], both["second"])
    observed = counts.to_numpy("float64") / len(both)
    chance = np.outer(observed.sum(axis=1), observed.sum(axis=0))
    # The order of categories is not that of their names.
    cost = _costs(counts.index.to_numpy(), counts.columns.to_numpy(), weights)
    expected = float((cost * chance).sum())
    if expected == 0.0:
        return float("nan")
    return float(1.0 - (cost * observed).sum() / expected)


def cohen_kappa_of_pairs(
    votes: pd.DataFrame, *, least_shared: int = 1, weights: Weights = "none"
) -> pd.DataFrame:
    """Cohen's kappa of each pair of workers who rated the same items.

    Args:
        votes: columns `item_id`, `worker`, `value` (see `piecework.analyses.votes`);
            those of unknown workers are left out.
        least_shared: items that two workers must share, at least 1.
        weights: the cost of a disagreement, as for `cohen_kappa`.

    Returns:
        One row per pair, in the order of the names: `first`, `second`, `items` (that
        both rated, int64), `kappa` and `same` (the share of equal votes), both float64.

    Raises:
        ValueError: weighted values are not numbers.
    """
    valid = votes_that_count(votes)
    is_known = valid["worker"].notna() & (valid["worker"] != "")
    by_worker = {
        worker: rows.set_index("item_id")["value"]
        for worker, rows in valid[is_known].groupby("worker")
    }
    rows = []
    for first, second in combinations(by_worker, 2):
        shared = by_worker[first].index.intersection(by_worker[second].index)
        if len(shared) < max(least_shared, 1):
            continue
        left, right = (by_worker[name].loc[shared] for name in (first, second))
        kappa = cohen_kappa(left, right, weights=weights)
        same = float((left == right).mean())
        rows.append((first, second, len(shared), kappa, same))
    return pd.DataFrame(rows, columns=["first", "second", "items", "kappa", "same"])


def _costs(
    rows: npt.NDArray[Any], columns: npt.NDArray[Any], weights: Weights
) -> npt.NDArray[np.float64]:
    if weights == "none":
        return np.asarray(rows[:, None] != columns[None, :], dtype="float64")
    try:
        apart = rows.astype("float64")[:, None] - columns.astype("float64")[None, :]
    except (TypeError, ValueError) as error:
        raise ValueError("weighted kappa needs numbers") from error
    return np.asarray(np.abs(apart) if weights == "linear" else np.square(apart))


def category_agreement(ticks: pd.DataFrame, categories: Sequence[str]) -> pd.DataFrame:
    """How often each category is ticked, and whether people agree on it.

    Args:
        ticks: columns `item_id`, `worker`, `value` (a collection of names).
        categories: the possible categories.

    Returns:
        One row per category, in the order given, index `category`. Columns `answers`
        (int64 that tick it), `share` (float64 of all answers), `items` (int64 on which
        an answer ticks it), `agreement` (float64: the share of pairs of answers about
        an item that agree whether it applies, averaged over items), `kappa` (float64:
        Fleiss' kappa of ticked or not), `agreement_on` and `agreement_off` (float64:
        the share of the other answers about an item that tick it if one does, and that
        do not if one does not; J. L. Fleiss, Statistical Methods for Rates and
        Proportions, 2nd ed. 1981, chapter 13). NaN if nothing can be compared; kappa
        also if a category is ticked always or never.

    Raises:
        ValueError: a worker ticked something else than a category.
    """
    valid = votes_that_count(ticks)
    stray = {name for ticked in valid["value"] for name in ticked} - set(categories)
    if stray:
        raise ValueError(f"{min(stray)!r} is not one of {len(categories)} categories")
    rows = [_about_category(valid, category) for category in categories]
    names = [
        "answers", "share", "items", "agreement", "kappa", "agreement_on",
        "agreement_off",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=names, index=pd.Index(list(categories), name="category"))


def jaccard(ticks: pd.DataFrame) -> pd.DataFrame:
    """How much the ticks of two answers about an item overlap, averaged over all pairs.

    P. Jaccard, "The distribution of the flora in the alpine zone", New Phytologist 11
    (1912), doi:10.1111/j.1469-8137.1912.tb05611.x: ticks in both answers divided by
    ticks in either. Two answers without ticks agree fully (1).

    Returns:
        One row per item with at least two answers, index `item_id`, sorted. Columns
        `answers`, `pairs` (int64), `jaccard` (float64 in [0, 1]).
    """
    valid = votes_that_count(ticks)
    rows = {}
    for item, answers in valid.groupby("item_id")["value"]:
        pairs = [_jaccard(set(a), set(b)) for a, b in combinations(answers, 2)]
        if pairs:
            rows[item] = (len(answers), len(pairs), float(np.mean(pairs)))
    return pd.DataFrame(
        list(rows.values()),
        columns=["answers", "pairs", "jaccard"],
        index=pd.Index(list(rows), dtype="str", name="item_id"),
    )


def _about_category(
    ticks: pd.DataFrame, category: str
) -> tuple[int, float, int, float, float, float, float]:
    is_ticked = ticks["value"].map(lambda ticked: category in ticked).astype("bool")
    of_item = is_ticked.groupby(ticks["item_id"])
    yes, answers = of_item.sum().to_numpy("int64"), of_item.size().to_numpy("int64")
    no = answers - yes
    pairs = answers * (answers - 1)
    agreeing = (yes * (yes - 1) + no * (no - 1))[pairs > 0] / pairs[pairs > 0]
    return (
        int(yes.sum()),
        float(yes.sum() / answers.sum()) if len(answers) else float("nan"),
        int((yes > 0).sum()),
        float(agreeing.mean()) if len(agreeing) else float("nan"),
        fleiss_kappa_of_counts(np.column_stack([yes, no])),
        _specific(yes, answers),
        _specific(no, answers),
    )


def _specific(chosen: npt.NDArray[Any], answers: npt.NDArray[Any]) -> float:
    others = int((chosen * (answers - 1)).sum())
    agreeing = int((chosen * (chosen - 1)).sum())
    return agreeing / others if others else float("nan")


def _jaccard(options: Collection[str], other_options: Collection[str]) -> float:
    either = set(options) | set(other_options)
    return len(set(options) & set(other_options)) / len(either) if either else 1.0


def option_pairs(votes: pd.DataFrame, options: Sequence[str]) -> npt.NDArray[np.int64]:
    """Count pairs of workers by the options that they chose for the same item.

    Args:
        votes: `item_id`, `worker` and `value`: an option, or a tuple of options.
        options: the options, in the order of the result; other values are ignored.

    Returns:
        A symmetric matrix. Row a, column b counts the pairs of workers in which one
        chose a and not b, and the other b and not a, about an item; the diagonal counts
        the pairs in which both chose a.

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
    # Of floats, which are exact for counts, NumPy has a fast product.
    ticked = np.zeros((len(answers), len(options)))
    ticked[ticks.index.to_numpy(), ticks.to_numpy(dtype=np.int64)] = 1
    items, _ = pd.factorize(answers["item_id"])
    by_item = np.zeros((int(items.max(initial=-1)) + 1, len(options)))
    np.add.at(by_item, items, ticked)
    # All pairs of answers about an item, without the pairs of an answer with itself.
    together = ticked.T @ ticked
    pairs = (by_item.T @ by_item - together).astype("int64")
    np.fill_diagonal(pairs, pairs.diagonal() // 2)
    for a, b in np.argwhere(np.triu(together, 1)):
        # Workers who ticked both are no pair of two options with anybody.
        both = np.bincount(items[(ticked[:, a] * ticked[:, b]) > 0], minlength=len(by_item))
        pairs[a, b] = pairs[b, a] = int((by_item[:, a] - both) @ (by_item[:, b] - both))
    return pairs


Floats = npt.NDArray[np.float64]
Level = Literal["nominal", "ordinal", "interval"]

_MOST_CELLS = 5_000_000
"""A table of votes counts each value of each item: more cells than this need much memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alpha:
    """Agreement with an interval.

    Attributes:
        alpha: 1 is full agreement, 0 is chance, below is worse than chance; NaN if no
            item has two ratings, or all comparable ratings have one value.
        low: lower end of the interval; NaN if alpha is.
        high: its upper end.
        items: the number of items with at least two ratings.
        ratings: the number of ratings of these items.
        resamples: the number of usable resamples (with more than a single value).
    """

    alpha: float
    low: float
    high: float
    items: int
    ratings: int
    resamples: int


def krippendorff_alpha(
    votes: pd.DataFrame,
    *,
    level: Level,
    seed: int,
    order: Sequence[Any] | None = None,
    resamples: int = 1000,
    confidence: float = 0.95,
) -> Alpha:
    """Compute alpha of all ratings, with a bootstrap interval over items.

    Items are drawn with replacement, each with all its ratings, and the interval is
    between percentiles (not the paper's bootstrap, which draws pairs as if those of one
    item were independent, and is too narrow).

    Args:
        votes: columns `item_id`, `worker`, `value` (see `piecework.analyses.votes`).
        level: the weight of a disagreement: "nominal" all the same, "ordinal" by the
            number of ratings between, "interval" by the squared distance of numbers.
        seed: of the draws; the same seed gives the same interval.
        order: all values from the lowest up, for ordinal words; not needed for numbers.
        resamples: the number of draws; 0 gives no interval.
        confidence: in (0, 1).

    Raises:
        ValueError: values that `level` needs as numbers are not, or one is not in
            `order`.
    """
    table = _comparable(vote_table(votes), level, order)
    counts = table.to_numpy("float64")
    domain = np.arange(0.0, len(table.columns))
    if level == "interval":
        domain = table.columns.to_numpy("float64")
    # Items with equal counts are interchangeable, so draw how often each pattern
    # occurs.
    patterns, times = np.unique(counts, axis=0, return_counts=True)
    alpha = _alpha(patterns, times.astype("float64"), domain, level)
    chance = np.random.default_rng(seed)
    drawn = [
        _alpha(patterns, _drawn(times, chance), domain, level)
        for _ in range(0 if np.isnan(alpha) else resamples)
    ]
    used = [value for value in drawn if not np.isnan(value)]
    tail = 50.0 * (1.0 - confidence)
    low, high = np.percentile(used, [tail, 100.0 - tail]) if used else (np.nan, np.nan)
    return Alpha(
        alpha=alpha,
        low=float(low),
        high=float(high),
        items=len(counts),
        ratings=int(counts.sum()),
        resamples=len(used),
    )


def of_fewer_items(votes: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Return the votes about some items, drawn by chance, if nearly all values differ.

    `Alpha.items` says how many are left.
    """
    items = votes["item_id"].nunique()
    if items * votes["value"].nunique() <= _MOST_CELLS:
        return votes
    return about_some(votes, int(math.sqrt(_MOST_CELLS * items / len(votes))), seed=seed)


def about_some(votes: pd.DataFrame, most: int, *, seed: int) -> pd.DataFrame:
    """Return the votes about this number of items, which are drawn by chance."""
    items = votes["item_id"].drop_duplicates().sort_values()
    return votes[votes["item_id"].isin(items.sample(most, random_state=seed))]


def _drawn(times: npt.NDArray[np.intp], chance: np.random.Generator) -> Floats:
    """How often each pattern occurs in a resample of the items."""
    total = int(times.sum())
    return chance.multinomial(total, times / total).astype("float64")


def _comparable(table: pd.DataFrame, level: Level, order: Sequence[Any] | None) -> pd.DataFrame:
    """Items with at least two ratings; columns in order, as `level` needs them."""
    table = table.loc[table.sum(axis=1) >= 2]  # noqa: PLR2004 - a pair
    if order is not None:
        stray = [value for value in table.columns if value not in order]
        if stray:
            raise ValueError(f"{stray[0]!r} is not among the ordered values {order}")
        table = table.reindex(columns=list(order), fill_value=0)
        return table.set_axis(np.arange(len(order)), axis="columns")
    if level != "nominal" and not pd.api.types.is_numeric_dtype(table.columns.dtype):
        if table.empty:
            return table
        raise ValueError(f"{level} alpha needs numbers, or an order of ordinal words")
    return table


def _alpha(patterns: Floats, times: Floats, domain: Floats, level: Level) -> float:
    """Alpha of items in which each pattern of counts occurs `times` times."""
    of_value = times @ patterns
    if np.count_nonzero(of_value) < 2:  # noqa: PLR2004 - chance explains a single value
        return float("nan")
    scale = _scale(of_value, domain, level)
    within = _disagreement(patterns, scale) / (patterns.sum(axis=1) - 1)
    everywhere = _disagreement(of_value[None, :], scale)[0]
    return float(1.0 - (times @ within) * (of_value.sum() - 1) / everywhere)


def _scale(of_value: Floats, domain: Floats, level: Level) -> Floats | None:
    """The positions of values, if a disagreement is the square of their distance."""
    if level == "nominal":
        return None
    # Ordinal: the number of ratings between two values, including half of their own, is
    # the distance of their mid-ranks.
    place = domain if level == "interval" else np.cumsum(of_value) - of_value / 2
    return place - np.average(place, weights=of_value)


def _disagreement(counts: Floats, scale: Floats | None) -> Floats:
    """Summed over all ordered pairs of ratings in each row of counts."""
    made = counts.sum(axis=1)
    if scale is None:
        return np.asarray(np.square(made) - np.square(counts).sum(axis=1))
    return np.asarray(2 * (made * (counts @ np.square(scale)) - np.square(counts @ scale)))
