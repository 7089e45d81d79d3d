"""Votes on a field by item and worker: the frame, and what can be counted from it.

The value with the most votes or the most weight (a tie is reported, not broken), the
likeliest value by probabilities, weighted medians, and how hard an item is, by how many
workers gave the canned answer.
"""

from __future__ import annotations

from typing import Any, Literal

from piecework.domain.field import Field, is_unlimited
from piecework.domain.late_modules import np, npt, pd
from piecework.domain.tables import value_column

_CLOSE = 1e-9
"""Numbers that differ by less than this share of the total, or of a scale, are equal."""


def answers_that_count(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that count: neither rejected nor beyond the number wanted."""
    return table.loc[~(table["is_rejected"] | table["is_surplus"])]


def votes(table: pd.DataFrame, field: Field) -> pd.DataFrame:
    """Return the rows' votes on a field: `item_id`, `worker`, `value`.

    `value` is str, float64 for a number, or a tuple of str for choices.
    """
    return pd.DataFrame(
        {
            "item_id": table["item_id"],
            "worker": table["worker"],
            "value": table[value_column(field)],
        }
    )


def on_scale(field: Field, values: pd.Series[Any]) -> pd.Series[float]:
    """Return values of a field as numbers; NaN for no option, or outside the scale."""
    numbers = pd.to_numeric(values, errors="coerce").astype("float64")
    if field.kind != "number":
        return numbers.where(values.isin([option.value for option in field.options]))
    if is_unlimited(field):
        return numbers
    slack = _CLOSE * (field.maximum - field.minimum)
    return numbers.where(numbers.between(field.minimum - slack, field.maximum + slack))


COLUMNS = ("item_id", "worker", "value")


def votes_that_count(votes: pd.DataFrame) -> pd.DataFrame:
    """Return the votes that count, in their order, with a new index and these columns.

    A vote without an item or a value does not, nor a worker's second vote on an item.

    Raises:
        ValueError: a column is missing.
    """
    missing = [name for name in COLUMNS if name not in votes.columns]
    if missing:
        raise ValueError(
            f"votes have no column {', '.join(missing)}; the required columns are "
            f"{', '.join(COLUMNS)}, found {', '.join(map(str, votes.columns))}"
        )
    is_cast = votes["item_id"].notna() & votes["value"].notna() & (votes["value"] != "")
    cast = votes.loc[is_cast, list(COLUMNS)]
    is_known = cast["worker"].notna() & (cast["worker"] != "")
    is_repeated = cast.duplicated(["item_id", "worker"]) & is_known
    return cast.loc[~is_repeated].reset_index(drop=True)


def vote_table(votes: pd.DataFrame) -> pd.DataFrame:
    """Count the votes: index `item_id`, one column per value, both sorted; int64.

    Only items and values with votes are included.
    """
    valid = votes_that_count(votes)
    if valid.empty:
        return pd.DataFrame(index=pd.Index([], dtype="str", name="item_id"), dtype="int64")
    return pd.crosstab(valid["item_id"], valid["value"]).astype("int64")


def likeliest_labels(probabilities: pd.DataFrame) -> pd.DataFrame:
    """Return the likeliest value of each row.

    Args:
        probabilities: index `item_id`, one column per value; rows sum to 1.

    Returns:
        Index `item_id`: `value` (the likeliest; missing for a tie), `leaders` (tuple of
        the likeliest values), `probability` (float64 of one of them).
    """
    table = np.asfortranarray(probabilities.to_numpy())
    top = table.max(axis=1)
    names = np.fromiter(probabilities.columns.tolist(), "object", table.shape[1])
    leads = np.isclose(table, top[:, None], rtol=0.0, atol=1e-9)
    # Tuples with a single value, which nearly all rows have, are shared.
    single = np.fromiter([(name,) for name in names], "object", len(names))
    first = table.argmax(axis=1)
    leaders, is_tie = single[first], leads.sum(axis=1) > 1
    for row in np.flatnonzero(is_tie).tolist():
        leaders[row] = tuple(names[leads[row]])
    values = pd.Series(names[first], index=probabilities.index).infer_objects()
    return pd.DataFrame(
        {
            "value": values.where(~is_tie),
            "leaders": pd.Series(leaders, index=probabilities.index, dtype="object"),
            "probability": top,
        }
    )


def majority(votes: pd.DataFrame) -> pd.DataFrame:
    """The most frequent value of each item.

    Args:
        votes: columns `item_id`, `worker`, `value` (see `piecework.analyses.votes`).

    Returns:
        One row per item with votes, index `item_id`, sorted. Columns `value` (as in the
        votes; missing for a tie), `leaders` (tuple of all values with the most votes,
        sorted), `votes` (int64), `share` (float64 in (0, 1]: one leader's share of the
        votes).
    """
    valid = votes_that_count(votes)
    return _heaviest(valid.assign(weight=1.0))


def weighted_majority(votes: pd.DataFrame, weights: pd.Series[float]) -> pd.DataFrame:
    """The value with the most weight: each vote has the weight of its worker.

    Args:
        votes: columns `item_id`, `worker`, `value`.
        weights: index worker; finite, not negative, without unit (such as the share of
            known answers that were right). Sums that differ by less than a billionth of
            the item's weight are tied.

    Returns:
        As `majority`, with `share` of weight. If all weights of an item are zero, all
        its values lead and `share` is one over their number.

    Raises:
        ValueError: a worker has no weight, or one that is negative or not finite.
    """
    valid = votes_that_count(votes)
    unknown = sorted(set(valid["worker"]) - set(weights.index))
    if unknown:
        raise ValueError(f"no weight for {len(unknown)} workers, first {unknown[0]!r}")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ValueError("weights must be finite and not negative")
    return _heaviest(valid.assign(weight=valid["worker"].map(weights).astype("float64")))


def accuracy(labels: pd.DataFrame, gold: pd.Series[Any]) -> float:
    """The share of items with the gold label; a tie counts as one guess.

    Args:
        labels: index `item_id`, column `leaders`, as `majority` returns it: gold among
            two leaders counts one half, among three one third.
        gold: index `item_id`.

    Returns:
        In [0, 1], over the items in both; NaN if there are none.
    """
    known = labels.loc[labels.index.isin(gold.index), "leaders"]
    if known.empty:
        return float("nan")
    right = gold.reindex(known.index)
    credit = [
        1.0 / len(leaders) if truth in leaders else 0.0
        for leaders, truth in zip(known, right, strict=True)
    ]
    return float(np.mean(credit))


def _heaviest(votes: pd.DataFrame) -> pd.DataFrame:
    """Each item's leaders, from votes with a `weight`."""
    sums = votes.groupby(["item_id", "value"])["weight"].sum()
    of_item = sums.groupby("item_id")
    total = of_item.transform("sum")
    is_leader = sums >= of_item.transform("max") - _CLOSE * total
    leaders = _tuples(sums[is_leader].reset_index())
    heaviest = (of_item.max() / of_item.sum()).fillna(1.0 / of_item.size())
    first = leaders.map(lambda values: values[0])
    return pd.DataFrame(
        {
            "value": first.where(leaders.map(len) == 1),
            "leaders": leaders,
            "votes": votes.groupby("item_id").size().astype("int64"),
            "share": heaviest.astype("float64"),
        }
    )


def _tuples(leaders: pd.DataFrame) -> pd.Series[Any]:
    """The values of each item, from rows sorted by item."""
    items, values = leaders["item_id"], leaders["value"].tolist()
    begins = np.flatnonzero(~items.duplicated().to_numpy())
    ends = np.append(begins, len(values))[1:]
    return pd.Series(
        [tuple(values[at:end]) for at, end in zip(begins, ends, strict=True)],
        index=pd.Index(items.iloc[begins], name="item_id"),
        dtype="object",
    )


Difficulty = Literal["easy", "medium", "difficult", "unrecognizable", "unknown"]


def difficulty(*, canned: int, answers: int) -> Difficulty:
    """Return how hard an item is, by how many of its answers are the canned text.

    >>> [difficulty(canned=n, answers=5) for n in (0, 2, 3, 5)]
    ['easy', 'medium', 'difficult', 'unrecognizable']

    Raises:
        ValueError: more canned answers than answers.
    """
    if not 0 <= canned <= answers:
        raise ValueError(f"{canned} canned answers of {answers}")
    if answers == 0:
        return "unknown"
    if canned == answers:
        return "unrecognizable"
    if canned == 0:
        return "easy"
    return "difficult" if 2 * canned > answers else "medium"


def difficulties(canned: pd.Series[int], answers: pd.Series[int]) -> pd.Series[str]:
    """Return `difficulty` of many items; str, with the index of `canned`."""
    names = np.select(
        [answers == 0, canned == answers, canned == 0, 2 * canned > answers],
        ["unknown", "unrecognizable", "easy", "difficult"],
        "medium",
    )
    return pd.Series(names, index=canned.index, dtype="str")


def weighted_medians(
    values: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return the low and the high weighted median of each column; shape (columns, 2)."""
    if not weights.sum() > 0:
        weights = np.ones_like(weights)
    order = np.argsort(values, axis=0, kind="stable")
    ordered = np.take_along_axis(values, order, axis=0)
    passed = weights[order].cumsum(axis=0) / weights.sum()
    low = (passed >= 0.5 - _CLOSE).argmax(axis=0)
    high = (passed > 0.5 + _CLOSE).argmax(axis=0)
    columns = np.arange(values.shape[1])
    return np.column_stack([ordered[low, columns], ordered[high, columns]])
