"""A worker whose texts, taken together, do not fit their items.

Idea: one text that shares nothing with the others' may come from a closer look; ten
such texts of one worker hardly do. The evidence of all texts of a worker is summed, so
that many small doubts become a clear one.

Silent: about unknown workers, and below `min_texts`.

Naive reading: count flagged answers. That misses a worker whose texts all fit badly,
but none of them beyond the limit. A plain sum would let one good text of twenty words
outweigh five that were written about nothing. So the evidence for a text counts up to
`most_for`, and the evidence against it up to `most_against`. Texts with the same words
are not independent: a sentence pasted fifty times is one doubt and not fifty. Together
they count as much as one text.

Edge cases: texts that `text_off_item` cannot judge are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from piecework.domain.late_modules import np, pd, scipy
from piecework.domain.text import plural
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Amount, Count, Counted, Ratio
from piecework.qc.scores import SHOWN_FROM, Codes, Facts, Scope, coded, scored, sentences, summed
from piecework.qc.text_fit import COLUMNS as COMPARED
from piecework.qc.text_fit import odds_for, text_fit

NAME = "texts_off_items"
TITLE = "Texts that fit other items"
VERSION = 2
SUBJECT: SubjectKind = "worker"
SCOPE: Scope = "campaign"
COLUMNS = COMPARED
FACTS = Facts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The limit, and how many texts it takes.

    Attributes:
        min_texts: texts of the worker that can be compared (ours).
        min_odds: flag from these odds, to one, for other items (ours).
        most_for: a text speaks for its worker up to this logarithm of odds (ours).
        most_against: and against them up to this one (ours).
    """

    min_texts: Annotated[Count, Counted.OF_WORKER] = 3
    min_odds: Ratio = 25.0
    most_for: Amount = 2.0
    most_against: Amount = 5.0


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per worker, in the order of their ids."""
    fits = text_fit(table).assign(worker=table["worker_id"]).sort_index()
    subjects = pd.Index(sorted(table["worker_id"].unique()), dtype="str", name="worker_id")
    compared = fits[fits["log_odds"].notna() & (fits["worker"] != "")]
    codes = subjects.get_indexer(compared["worker"])
    amounts = compared[["words", "shared", "by_chance"]].assign(texts=1.0)
    sums = summed(amounts, codes, len(subjects))
    sums = sums.join(_wordings(compared, codes, len(subjects), params))
    enough = (sums["texts"] >= params.min_texts).to_numpy()
    against = -sums["bounded"].to_numpy()
    flag = enough & (against >= np.log(params.min_odds))
    # Two neutral texts more: a mean of three is less certain than one of twenty.
    graded = scipy.special.expit(2 * against / (sums["wordings"].to_numpy() + 2) - 1)
    graded = np.where(flag, np.maximum(graded, 0.5), np.minimum(graded, 0.5))
    suspicion = np.where(enough, graded, 0.0)

    def sentence(against: float, texts: float, words: float, shared: float, chance: float) -> str:
        compared = "better than" if against > 0 else "as well as"
        return (
            f"writes texts that fit other items {compared} their own: shares "
            f"{shared:.0f} of {plural(words, 'different word')} in "
            f"{plural(texts, 'text')} with others' texts about the same items, where "
            f"chance gives {chance:.1f}; word by word, {odds_for(against)} for other "
            "items"
        )

    return scored(
        subjects,
        suspicion=suspicion,
        flag=flag,
        evidence=sentences(
            suspicion >= SHOWN_FROM,
            sentence,
            against,
            sums["texts"],
            sums["words"],
            sums["shared"],
            sums["by_chance"],
        ),
    )


def _wordings(compared: pd.DataFrame, workers: Codes, size: int, params: Params) -> pd.DataFrame:
    """By code of a worker, how many `wordings`, and the sum of their evidence.

    Args:
        compared: texts that can be compared, in the order of their ids.
        workers: the code of each text's worker.
        size: how many workers there are.
        params: the limits of what a wording counts.
    """
    wordings, n_wordings = coded(compared["wording"])
    pairs, different = pd.factorize(workers * n_wordings + wordings)
    of_wording = summed(compared[["log_odds"]], pairs, len(different))["log_odds"]
    bounded = of_wording.clip(-params.most_against, params.most_for)
    amounts = pd.DataFrame({"bounded": bounded, "wordings": 1.0})
    return summed(amounts, different // max(n_wordings, 1), size)
