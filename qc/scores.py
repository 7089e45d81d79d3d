"""What a heuristic gets and gives: facts, and a score of each subject.

The registry, the policy check, the reasons for silence and the judging of a table in
parts read these facts. None of them names a heuristic.

A measure at its limit gives a suspicion of 0.5. Up to three quarters of the limit, it
gives 0; beyond the limit, the suspicion approaches 1 (0.75 at twice the limit). So
sorting by suspicion puts what is farthest beyond its limit first, whatever the unit of
the limit.

A heuristic that compares an answer with its batch needs a few numbers of the batch, not
its rows. It counts each part of the table separately (a tally); the tallies of all
parts add up to the tally of the whole, however it was split. Counts are whole numbers,
so sums are exact and do not depend on the order.

Times have the three definitions of the original VizWiz pipeline, columns of the table:
`shown_seconds` (this item was on screen), `page_seconds` (the page's time divided by
its items) and `market_seconds` (accepted to submitted, divided by the items).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from piecework.domain.late_modules import np, npt, pd

if TYPE_CHECKING:
    from pandas.api.typing import DataFrameGroupBy

Scope = Literal["row", "item", "worker", "batch", "campaign"]
"""The rows that a heuristic needs together, so that it scores a part of the table as it
scores the whole: a single row, all answers about an item, all of a worker, all of a
batch, or (`campaign`) all answers."""

FIRST_ANSWER = ("worker_id", "item_id", "submitted_at")
"""The columns that `is_first` reads."""

IS_FIRST = "is_first"
"""The column that `with_first` adds."""

SHOWN_FROM = 0.25
"""Suspicions below this make no finding; half of the suspicion at a limit."""

_MOST_DECIMALS = 6
_MOST_WRITTEN = 1e9

Suspicions: TypeAlias = "npt.NDArray[np.float64]"
Flags: TypeAlias = "npt.NDArray[np.bool_]"
Codes: TypeAlias = "npt.NDArray[np.intp]"


def scored(
    subjects: pd.Index[str],
    *,
    suspicion: npt.ArrayLike,
    flag: npt.ArrayLike,
    evidence: Iterable[str],
) -> pd.DataFrame:
    """One row per subject: `suspicion` float64, `flag` bool, `evidence` str."""
    return pd.DataFrame(
        {
            "suspicion": np.asarray(suspicion, dtype="float64"),
            "flag": np.asarray(flag, dtype="bool"),
            "evidence": pd.array(list(evidence), dtype="str"),
        },
        index=subjects,
    )


def grade(measure: npt.ArrayLike, limit: float, *, flag: Flags) -> Suspicions:
    """Turn measures into suspicions; larger is worse, and NaN is 0.

    Args:
        measure: one number per subject.
        limit: the measure at which suspicion is 0.5.
        flag: whether each subject is flagged, which may differ from `measure > limit`
            at ties and for subjects that the heuristic does not judge.

    >>> grade([0.75, 1.0, 2.0, np.nan], 1.0, flag=np.array([False, True, True, False]))
    array([0.  , 0.5 , 0.75, 0.  ])
    """
    with np.errstate(over="ignore"):  # infinitely far beyond the limit is far enough
        ratio = np.asarray(measure, dtype="float64") / (limit or np.nan)
    near = np.clip(2.0 * np.minimum(ratio, 1.0) - 1.5, 0.0, 0.5)
    far = 1.0 - 0.5 / np.maximum(ratio, 1.0)
    graded = np.where(ratio > 1.0, far, near)
    graded = np.where(np.isnan(graded), 0.0, graded)
    graded = np.where(flag, np.maximum(graded, 0.5), np.minimum(graded, 0.5))
    return graded.astype("float64")


def grade_one(measure: float, limit: float, *, flag: bool) -> float:
    """Turn one measure into a suspicion; see `grade`."""
    return float(grade([measure], limit, flag=np.array([flag]))[0])


def sentences(
    has_evidence: npt.ArrayLike, sentence: Callable[..., str], *columns: Iterable[object]
) -> list[str]:
    """Return the evidence of each subject that has any, else "".

    Args:
        has_evidence: by subject.
        sentence: makes the evidence from one cell of each column.
        columns: as long as `has_evidence`.
    """
    mask = np.asarray(has_evidence, dtype="bool")
    evidence = [""] * len(mask)
    places = np.flatnonzero(mask)
    chosen = (_at(column, places) for column in columns)
    for place, *cells in zip(places.tolist(), *chosen, strict=True):
        evidence[place] = sentence(*cells)
    return evidence


def quoted(text: str, *, longest: int = 80) -> str:
    """Quote a worker's text inside a sentence: on one line and shortened.

    It is still untrusted: the page that shows it has to escape it.
    """
    line = " ".join(text.split())
    if len(line) > longest:
        line = line[: longest - 1] + "…"
    return f"“{line}”"


def measure_text(measure: float, limit: float, *, decimals: int = 1) -> str:
    """Format a measure with enough decimals to tell it apart from its limit.

    >>> measure_text(1.96, 2.0), measure_text(1.5, 2.0), measure_text(2.0, 2.0)
    ('1.96', '1.5', '2.0')
    >>> measure_text(np.float64(1.3e308), 2.0)
    '1.3e+308'
    """
    # As Python floats: numpy multiplies to round, which can overflow.
    measure, limit = float(measure), float(limit)
    if abs(measure) > _MOST_WRITTEN:
        return f"{measure:.1e}"
    while measure != limit and decimals < _MOST_DECIMALS:
        if round(measure, decimals) != round(limit, decimals):
            break
        decimals += 1
    return f"{measure:.{decimals}f}"


def is_first(table: pd.DataFrame) -> pd.Series[bool]:
    """Whether each answer is its worker's first about its item.

    A worker may meet an item again in a replacement HIT; that answer is not a second
    voice. The first is the earliest submitted, then the one with the least answer id.
    Answers of unknown workers (empty id) are all first.
    """
    if IS_FIRST in table.columns:
        return table[IS_FIRST]
    pairs = pair_codes(table)
    is_known = (table["worker_id"] != "").to_numpy()
    places = np.flatnonzero((np.bincount(pairs)[pairs] > 1) & is_known)
    first = np.ones(len(table), dtype="bool")
    if not places.size:
        return pd.Series(first, index=table.index, dtype="bool")
    several = pd.DataFrame(
        {
            "place": places,
            "pair": pairs[places],
            "submitted_at": table["submitted_at"].array[places],
            "answer_id": table.index[places],
        }
    ).sort_values(["submitted_at", "answer_id"], kind="stable")
    first[several.loc[several.duplicated("pair"), "place"]] = False
    return pd.Series(first, index=table.index, dtype="bool")


def with_first(table: pd.DataFrame) -> pd.DataFrame:
    """Add what `is_first` returns, for heuristics that need it of all these answers."""
    if not {*FIRST_ANSWER} <= {*table.columns}:
        return table
    return table.assign(**{IS_FIRST: is_first(table)})


def pair_codes(table: pd.DataFrame) -> Codes:
    """Number the pairs of worker and item: each answer's pair."""
    workers, _ = coded(table["worker_id"])
    items, n_items = coded(table["item_id"])
    return coded(pd.Series(workers * n_items + items))[0]


def mapped(
    values: pd.Series[Any],
    function: Callable[[Any], object],
    dtype: Literal["object", "float64", "bool"],
) -> npt.NDArray[Any]:
    """Apply a function to each cell; it is called once per different value."""
    places, different = pd.factorize(values)
    # As a list: pandas creates each cell of its strings again, which takes ten times
    # as long.
    made = map(function, different.tolist())
    return np.fromiter(made, dtype, len(different))[places]


def summed(values: pd.DataFrame, codes: Codes, size: int) -> pd.DataFrame:
    """Sum each column by code, from 0 to `size`, in the order of the rows.

    A group's sum depends only on its own rows. With `groupby(...).sum()` the last bit
    may depend on the other groups (pandas 3.1).
    """
    sums = {
        name: np.bincount(codes, weights=values[name].to_numpy(), minlength=size) for name in values
    }
    return pd.DataFrame(sums, columns=values.columns)


def coded(column: pd.Series[Any]) -> tuple[Codes, int]:
    """Number the different values from 0; return the codes and how many there are."""
    codes, different = pd.factorize(column)
    return codes, len(different)


def _at(column: Iterable[object], places: Codes) -> list[object]:
    """The cells at these positions, as plain values."""
    if isinstance(column, pd.Series | pd.Index):
        return column.take(places).tolist()
    if isinstance(column, np.ndarray):
        return list(column[places])
    cells = list(column)
    return [cells[place] for place in places.tolist()]


Tally: TypeAlias = "pd.DataFrame"
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


TimeColumn = Literal["shown_seconds", "page_seconds", "market_seconds"]

FLAT = 1e-9
"""A standard deviation below this part of the mean is a rounding error, not spread."""


def z_scores(
    values: pd.Series[float],
    groups: pd.Series[str] | pd.Series[int],
    *,
    counts: pd.Series[bool],
    least: int,
) -> pd.DataFrame:
    """Distance of each value from its group's mean, in POPULATION standard deviations.

    The original uses the population sd (numpy's default), and so does this function.
    With the sample sd (pandas' default), |z| cannot exceed 1.79 among five values, so
    the limit of 1.95 would never be reached.

    Args:
        values: NaN if missing.
        groups: the group of each value, with the same index.
        counts: whether the value enters its group's mean and sd.
        least: groups with fewer values than this have no mean.

    Returns:
        Columns `z`, `mean`, `count`, in the order of `values`; `z` is NaN if the value
        is missing, the group has too few, or they have no spread.
    """
    codes, _ = coded(groups)
    counted = pd.DataFrame({"value": values.where(counts), "group": codes})
    by_group = spreads(counted)
    return distances(values, pd.Series(codes, index=values.index), by_group, least)


def spreads(counted: pd.DataFrame) -> pd.DataFrame:
    """`mean`, population `sd` and `count` of the values of each `group`.

    Args:
        counted: columns `group` and `value`; NaN does not count.
    """
    # Sums of floats depend on their order; sorting makes them independent of row order.
    ordered = counted.sort_values("value")
    by_group = grouped(ordered[["value"]], ordered["group"])["value"]
    return pd.DataFrame(
        {"mean": by_group.mean(), "sd": by_group.std(ddof=0), "count": by_group.count()}
    )


def grouped(values: pd.DataFrame, groups: pd.Series[Any]) -> DataFrameGroupBy[Any, Any]:
    """Group numbers, so that the means of a group do not depend on which others are there.

    Where a group follows the other, as if it is alone, pandas 3.1 adds up in another way, and
    the last bit differs. A row without numbers at the end prevents that.

    Args:
        values: the numbers; NaN does not count.
        groups: the group of each row.
    """
    if len(values):
        values = pd.concat([values, values.iloc[:1] * np.nan], ignore_index=True)
        groups = pd.concat([groups, groups.iloc[:1]], ignore_index=True)
    return values.groupby(groups)


def distances(
    values: pd.Series[float], groups: pd.Series[Any], by_group: pd.DataFrame, least: int
) -> pd.DataFrame:
    """Return what `z_scores` returns, given the groups' `spreads`."""
    stats = by_group.reindex(groups)
    stats.index = values.index
    spread = stats["sd"] > FLAT * stats["mean"].abs().clip(lower=FLAT)
    usable = spread & (stats["count"] >= least)
    z = (values - stats["mean"]) / stats["sd"].where(usable)
    return pd.DataFrame({"z": z, "mean": stats["mean"], "count": stats["count"]})


def logarithm(seconds: pd.Series[float]) -> pd.Series[float]:
    """Natural logarithms of the times above zero; NaN for the others."""
    return pd.Series(np.log(seconds.where(seconds > 0)), index=seconds.index)


@dataclass(frozen=True, slots=True)
class Tallied:
    """Two phases: each part is counted, then scored with the counts of all parts.

    Attributes:
        tally: returns the counts of a part, which add up (`piecework.qc.scores`).
        usual_of: returns what is usual, from the sum of all counts.
        score: returns the scores of a part, compared with what is usual.
    """

    tally: Callable[[pd.DataFrame, Any], Tally]
    usual_of: Callable[[Tally, Any], pd.DataFrame]
    score: Callable[[pd.DataFrame, Any, pd.DataFrame], pd.DataFrame]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Facts about a heuristic; the defaults hold for most.

    Attributes:
        is_on: it runs unless a campaign file switches it off. Those that are off flag
            honest workers as often as others, on every labelled set.
        may_reject_alone: pay may depend on it alone; false if honest workers do what it
            flags.
        is_of_writing: it looks at how a text was written, not at what it says; several
            of these together do not refuse pay either.
        amounts: words of amount in a policy's reason that its measure supports.
        silence: yields why it can flag nothing in a table with its parameters, other
            than missing columns and counts (`COLUMNS`, `Params`).
        flags_below_counts: whether, with its parameters, it can flag something below
            what they count (`piecework.qc.parameters.Counted`).
        tallied: how it judges a table that is split into parts, if that takes two
            phases.
        together: returns which rows of a part decide; they are collected from all parts
            and scored in one place, and no other row can be flagged.
    """

    is_on: bool = True
    may_reject_alone: bool = True
    is_of_writing: bool = False
    amounts: frozenset[str] = frozenset()
    silence: Callable[[pd.DataFrame, Any], Iterator[str]] | None = None
    flags_below_counts: Callable[[Any], bool] | None = None
    tallied: Tallied | None = None
    together: Callable[[pd.DataFrame, Any], npt.NDArray[np.bool_]] | None = None
