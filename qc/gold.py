"""Items with known answers, and how workers agree with what was accepted.

An answer agrees if it was kept, and contradicts neither the known answer nor the
others. It contradicts a known answer like in `gold_failed`. It contradicts the others
if at least two of them answered the item, their answers were kept, and most of them
answered something else; on a scale, if it is further from most of theirs than the
tolerance.
Marks and transcripts are compared with known answers alone, opinions with nothing. An
answer without anything to compare it with agrees if it was kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from statistics import median

from piecework.domain.late_modules import pd
from piecework.domain.task import GOLD
from piecework.qc.ratings import (
    MATTER_OF_FACT,
    RATED,
    SECTION_OF,
    Rating,
    distance,
    is_beyond,
    is_given,
    is_scale,
)
from piecework.qc.scores import is_first
from piecework.qc.worker_scores import own_answers, own_merged

LEAST_WORKERS = 3
"""Two workers who both differ from a known answer prove nothing (ours)."""


def failed_and_met(table: pd.DataFrame, tolerance: float) -> Iterator[tuple[str, pd.DataFrame]]:
    """By field, how many known answers each worker met and failed.

    Args:
        table: of `piecework.qc.ratings.with_ratings`.
        tolerance: how far from the expected answer still counts as right.

    Yields:
        Field, and a frame with the index `worker_id`: `sum` (failed), `size` (met).
    """
    for field, with_gold, is_wrong in _judged(table, tolerance):
        yield field, is_wrong.groupby(with_gold["worker_id"]).agg(["sum", "size"])


def sections_of(table: pd.DataFrame, tolerance: float) -> Iterator[tuple[str, pd.DataFrame]]:
    """By rated field, the same for each section of a test, where items name one.

    Args:
        table: of `piecework.qc.ratings.with_ratings`.
        tolerance: how far from the expected answer still counts as right.

    Yields:
        Field, and a frame with the index `worker_id`, section: `sum` (failed), `size`
        (met); sections in the order of the table.
    """
    for field, with_gold, is_wrong in _judged(table, tolerance):
        if SECTION_OF + field in with_gold.columns:
            by = [with_gold["worker_id"], with_gold[SECTION_OF + field]]
            yield field, is_wrong.groupby(by, sort=False).agg(["sum", "size"])


def wrong_answers(table: pd.DataFrame, tolerance: float) -> Iterator[tuple[str, pd.DataFrame]]:
    """By rated field, the rows in which the worker's answer differs from the known one.

    Args:
        table: of `piecework.qc.ratings.with_ratings`.
        tolerance: how far from the expected answer still counts as right.
    """
    for field, with_gold, is_wrong in _judged(table, tolerance):
        yield field, with_gold[is_wrong]


def wrong_by_answer(table: pd.DataFrame, tolerance: float) -> pd.Series[bool]:
    """Whether an answer differs from the known one in any field, by answer id.

    Answers to items without a known answer are left out.

    Args:
        table: of `piecework.qc.ratings.with_ratings`.
        tolerance: how far from the expected answer still counts as right.
    """
    parts = [is_wrong for _, _, is_wrong in _judged(table, tolerance)]
    if not parts:
        return pd.Series(dtype="bool")
    return pd.concat(parts).groupby(level=0).any().astype("bool")


def gold_scores(table: pd.DataFrame, tolerance: float) -> pd.DataFrame:
    """How often each worker was right where the answer is known, over all fields.

    Args:
        table: of `piecework.qc.ratings.with_ratings`.
        tolerance: how far from the expected answer still counts as right.

    Returns:
        Index `worker_id`, of those who met any: `met`, `right`, and `most` (known
        answers met in the field with the most of them); int64.
    """
    parts = [counts for _, counts in failed_and_met(table, tolerance)]
    if not parts:
        return pd.DataFrame(columns=["met", "right", "most"], dtype="int64")
    by_worker = pd.concat(parts).groupby(level=0)
    whole = by_worker.sum().astype("int64")
    return pd.DataFrame(
        {
            "met": whole["size"],
            "right": whole["size"] - whole["sum"],
            "most": by_worker["size"].max().astype("int64"),
        },
        index=whole.index,
    )


def contradicted(table: pd.DataFrame, tolerance: float) -> pd.DataFrame:
    """Known answers that most of the workers who met them contradict.

    Such an answer may be wrong itself. Answers that fewer than `LEAST_WORKERS` workers
    met are left out.

    Args:
        table: of `piecework.qc.ratings.with_ratings`.
        tolerance: how far from the expected answer still counts as right.

    Returns:
        Columns `item_id`, `field` (str), `off` and `met` (int64), the greatest share
        first, then by item.
    """
    contradictions = pd.DataFrame(
        [
            (item, field, off, met)
            for field, with_gold, is_wrong in _judged(table, tolerance)
            for item, off, met in is_wrong.groupby(with_gold["item_id"])
            .agg(["sum", "size"])
            .itertuples()
            if met >= LEAST_WORKERS and 2 * off > met
        ],
        columns=["item_id", "field", "off", "met"],
    )
    order = contradictions.assign(share=-contradictions["off"] / contradictions["met"])
    return contradictions.loc[order.sort_values(["share", "item_id", "field"]).index]


def _judged(
    table: pd.DataFrame, tolerance: float
) -> Iterator[tuple[str, pd.DataFrame, pd.Series[bool]]]:
    for field, answers in own_answers(table, prefix=GOLD):
        with_gold = answers[is_given(answers[GOLD + field])]
        cells = zip(with_gold[RATED + field], with_gold[GOLD + field], strict=True)
        is_wrong = [is_beyond(distance(own, expected), tolerance) for own, expected in cells]
        yield field, with_gold, pd.Series(is_wrong, index=with_gold.index, dtype="bool")
    yield from _judged_merged(table, tolerance)


def _judged_merged(
    table: pd.DataFrame, tolerance: float
) -> Iterator[tuple[str, pd.DataFrame, pd.Series[bool]]]:
    """Yield the same of fields with marks or transcripts, unless both are too large."""
    for merged in own_merged(table, prefix=GOLD):
        field = merged.field
        with_gold = merged.rows[merged.rows[GOLD + field] != ""]
        pairs = zip(with_gold[merged.column], with_gold[GOLD + field], strict=True)
        apart = pd.Series([merged.apart(*pair) for pair in pairs], with_gold.index, "float64")
        apart = apart.dropna()
        is_wrong = apart.map(lambda far: is_beyond(far, tolerance)).astype("bool")
        yield field, with_gold.loc[apart.index], is_wrong


TOLERANCE = 0.25
"""How far from others on a scale, or from a known answer (as in `gold_failed`)."""

LEAST_OTHERS = 2
"""With one other, who of the two is right is not known (ours)."""

_HALF = 0.5


def agreeing(table: pd.DataFrame, verdicts: pd.Series[str]) -> pd.DataFrame:
    """Return each decided answer with whether it agrees.

    Args:
        table: of `piecework.qc.ratings.with_ratings`.
        verdicts: `keep` or `drop`, by answer; without the undecided ones.

    Returns:
        Index `answer_id`; columns `worker_id`, `item_id` (str), `submitted_at`, and
        `agrees` (bool). Only a worker's first answer about an item is there.
    """
    decided = verdicts.reindex(table.index)
    is_kept = decided == "keep"
    is_counted = decided.notna() & is_first(table) & (table["worker_id"] != "")
    agrees = is_kept.copy()
    for contradicting in _contradicting(table, is_kept):
        agrees[contradicting] = False
    rows = table.loc[is_counted, ["worker_id", "item_id", "submitted_at"]]
    return rows.assign(agrees=agrees[is_counted].astype("bool"))


def _contradicting(table: pd.DataFrame, is_kept: pd.Series[bool]) -> Iterator[list[str]]:
    """By field that is a matter of fact, the answers that contradict."""
    for _, with_gold, is_wrong in _judged_merged(table, TOLERANCE):
        yield with_gold.index[is_wrong].tolist()
    for field, answers in own_answers(table):
        if MATTER_OF_FACT + field not in table.columns:
            continue
        ratings = answers[RATED + field]
        limit = TOLERANCE if is_scale(ratings) else _HALF
        kept: dict[str, list[tuple[str, Rating]]] = defaultdict(list)
        for item, answer, rating, counts in zip(
            answers["item_id"], answers.index, ratings, is_kept[answers.index], strict=True
        ):
            if counts:
                kept[item].append((answer, rating))
        known = _known(answers, field)
        yield [
            answer
            for item, answer, rating in zip(answers["item_id"], answers.index, ratings, strict=True)
            if (
                is_beyond(distance(rating, known[answer]), TOLERANCE)
                if answer in known
                else _is_far(answer, rating, kept[item], limit)
            )
        ]


def _known(answers: pd.DataFrame, field: str) -> dict[str, Rating]:
    if GOLD + field not in answers.columns:
        return {}
    cells = answers[GOLD + field]
    known = cells[is_given(cells)]
    return dict(zip(known.index.tolist(), known.tolist(), strict=True))


def _is_far(answer: str, rating: Rating, kept: list[tuple[str, Rating]], limit: float) -> bool:
    apart = [distance(rating, theirs) for other, theirs in kept if other != answer]
    return len(apart) >= LEAST_OTHERS and is_beyond(median(apart), limit)
