"""An assignment that took much less time than others need for the same work.

Idea: a worker who rushes may not have looked. The measure is the task's own: the median
time of the batch for one item, adjusted for how many more or fewer words this worker
typed than usual, at the speed of an average typist (Dhakal et al., CHI 2018: 52 words a
minute). Only fast times count. Their spread is that of the batch's fast half, because
slow times have a long tail.

Silent: if the time is not positive, or the batch has fewer than `min_assignments`.

Naive reading: compare with mean and standard deviation. But the tail makes the
deviation so large that no time counts as fast (`time_in_batch`), and slow workers, who
are honest, are flagged instead. A fixed number of seconds (`too_fast`) finds only
impossible times. In most tasks, time alone hardly tells bad work from good: on 3,387
labelled paraphrases it did no better than a coin. It only adds to other evidence. No
limit on time does better there: whichever time is used (an assignment's, less its
typing, against others' of the same item, a worker's median or fastest), if 2 % of the
honest pass a limit, so do 3 to 5 % of the bad answers and assignments, and 2 of 22 bad
workers. Lower limits flag more honest than bad assignments (at 2.0 deviations 8 and 3).
In 12 real MTurk batches without labels (1,450 assignments) these limits flag 10, 8 of
them in one batch. Sets in which raw times tell more (areas of .73 and .82 were found on
two) were not available, so the limits could not be tuned to find their bad work.

Edge cases: the time is that of the page where it is known, else from accepting to
submitting. Where the fast half of a batch varies a lot (many rush, or items differ),
the limit is further away and fewer are flagged. The canned text takes no typing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from piecework.domain.late_modules import np, npt, pd, scipy
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Amount, Count, Counted, Ratio
from piecework.qc.plain_text import word_counts_of
from piecework.qc.scores import (
    SHOWN_FROM,
    Facts,
    Scope,
    Tallied,
    Tally,
    measure_text,
    rows_of,
    scored,
    sentences,
)
from piecework.qc.scores import tally as tally_of

NAME = "rushed"
TITLE = "Rushed assignment"
VERSION = 1
SUBJECT: SubjectKind = "assignment"
SCOPE: Scope = "batch"
COLUMNS = ("assignment_id", "batch", "text", "is_canned", "page_seconds", "market_seconds")

Floats: TypeAlias = "npt.NDArray[np.float64]"

SECONDS_A_WORD = 60 / 52
"""Of an average typist (Dhakal et al. 2018)."""

_LEAST_PART = 0.25
"""The expected time is at least this part of a batch's median."""

_MAD_TO_SD = 1.4826
"""For a normal distribution, sd = 1.4826 times the median absolute deviation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """How fast is too fast.

    Attributes:
        times_faster: flag only assignments at least this many times faster than
            expected (ours).
        errors: and beyond this many robust standard deviations of the batch's fast half
            (one honest time in a hundred).
        min_assignments: times that a batch must have (ours).
    """

    times_faster: Ratio = 2.0
    errors: Amount = 2.33
    min_assignments: Annotated[Count, Counted.ASSIGNMENTS] = 10


def tally(table: pd.DataFrame, _params: Params) -> Tally:
    """How many assignments of a `batch` took these `seconds` for these `words`."""
    times = _times(table)
    return tally_of(times.loc[times["seconds"] > 0, ["batch", "seconds", "words"]])


def usual_of(counts: Tally, params: Params) -> pd.DataFrame:
    """By batch with enough times: usual `seconds` and `words`, and the `limit`."""
    usual = {
        batch: _usual(of_batch, params)
        for batch, of_batch in rows_of(counts).groupby("batch")
        if len(of_batch) >= params.min_assignments
    }
    return pd.DataFrame.from_dict(
        usual, orient="index", columns=["seconds", "words", "limit"], dtype="float64"
    )


def score(table: pd.DataFrame, params: Params, usual: pd.DataFrame | None = None) -> pd.DataFrame:
    """One row per assignment, in the order of their ids.

    Args:
        table: all answers of each batch, or of each assignment if `usual` is of all
            answers.
        params: the limits.
        usual: of `usual_of`, of all answers.
    """
    if usual is None:
        usual = usual_of(tally(table, params), params)
    times = _times(table)
    seconds = times["seconds"].to_numpy()
    of_batch = usual.reindex(times["batch"])
    of_batch[~(seconds > 0)] = np.nan
    limit = of_batch["limit"].to_numpy()
    expected = _expected(
        of_batch["seconds"].to_numpy(), of_batch["words"].to_numpy(), times["words"].to_numpy()
    )
    haste = np.log(expected) - np.log(np.where(seconds > 0, seconds, np.nan))
    flag = (haste >= limit) & (haste > 0)
    suspicion = np.nan_to_num(scipy.special.expit(4 * (haste - limit)))

    def sentence(seconds: float, expected: float, limit: float) -> str:
        times, least = expected / seconds, float(np.exp(limit))
        return (
            f"works {measure_text(times, least)} times as fast as usual (the limit is "
            f"{measure_text(least, times)}): {seconds:.1f} seconds an item, where this "
            f"batch usually takes {expected:.1f} for as many words"
        )

    return scored(
        times.index,
        suspicion=suspicion,
        flag=flag,
        evidence=sentences(suspicion >= SHOWN_FROM, sentence, seconds, expected, limit),
    )


def _times(table: pd.DataFrame) -> pd.DataFrame:
    """By assignment: its `batch`, `seconds` per item, and `words` typed per item."""
    words = word_counts_of(table)
    answers = pd.DataFrame(
        {
            "assignment_id": table["assignment_id"].to_numpy(),
            "batch": table["batch"].to_numpy(),
            "seconds": table["page_seconds"]
            .where(table["page_seconds"] > 0, table["market_seconds"])
            .to_numpy(),
            "words": np.where(table["is_canned"], 0.0, words),
        }
    )
    by_assignment = answers.groupby("assignment_id")
    times = by_assignment[["batch", "seconds"]].first()
    times["words"] = by_assignment["words"].mean()
    times.index = times.index.astype("str")
    return times


def _usual(times: pd.DataFrame, params: Params) -> tuple[float, float, float]:
    """The medians of a batch's seconds and words, and the limit for rushed times."""
    seconds, words = times["seconds"].to_numpy(), times["words"].to_numpy()
    medians = float(np.median(seconds)), float(np.median(words))
    haste = np.log(_expected(*medians, words)) - np.log(seconds)
    limit = max(float(np.log(params.times_faster)), params.errors * _spread(haste))
    return *medians, limit


def _expected(usual_seconds: float | Floats, usual_words: float | Floats, words: Floats) -> Floats:
    """Seconds that assignments with this many words take at the usual pace."""
    more = SECONDS_A_WORD * (words - usual_words)
    return np.maximum(usual_seconds + more, _LEAST_PART * usual_seconds)


def _spread(haste: Floats) -> float:
    """Robust standard deviation of the fast half, around the median."""
    beyond = haste - np.median(haste)
    fast = beyond[beyond > 0]
    return float(_MAD_TO_SD * np.median(fast)) if fast.size else 0.0


def _silence(table: pd.DataFrame, _params: Params) -> Iterator[str]:
    times = table[["page_seconds", "market_seconds"]]
    if not (times > 0).any(axis=None):
        yield "all times are zero"


FACTS = Facts(silence=_silence, tallied=Tallied(tally, usual_of, score))
