"""Whether each answer agrees with what was accepted, for earned qualifications.

An answer agrees if it was kept, and contradicts neither the known answer nor the
others. It contradicts a known answer like in `gold_failed`. It contradicts the others
if at least two of them answered the item, their answers were kept, and most of them
answered something else; on a scale, if it is further from most of theirs than the
tolerance.
Opinions are not compared. An answer without anything to compare it with agrees if it
was kept.
"""

from collections import defaultdict
from collections.abc import Iterator
from statistics import median

import pandas as pd

from piecework.domain.task import GOLD
from piecework.qc.ratings import MATTER_OF_FACT, RATED, Rating, distance, is_given, is_scale
from piecework.qc.scores import is_first
from piecework.qc.worker_scores import own_answers

TOLERANCE = 0.25
"""How far from others on a scale, or from a known answer (as in `gold_failed`)."""

LEAST_OTHERS = 2
"""With one other, who of the two is right is not known (ours)."""

_HALF = 0.5


def agreeing(table: pd.DataFrame, verdicts: "pd.Series[str]") -> pd.DataFrame:
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


def _contradicting(table: pd.DataFrame, is_kept: "pd.Series[bool]") -> Iterator[list[str]]:
    """By field that is a matter of fact, the answers that contradict."""
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
                distance(rating, known[answer]) > TOLERANCE
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
    return len(apart) >= LEAST_OTHERS and median(apart) > limit
