"""A text that shares no more with others' texts about its item than chance gives.

Idea: people who describe the same thing share words. A text that was written about
another picture, or about none, shares only the words that appear in every text. The
odds compare, word by word, whether another answer about the item uses it with how often
answers to other items do (`qc/text_fit.py`).

Silent: if no other worker wrote about the item, or the batch has fewer than ten answers
to other items.

Naive reading: count shared words. But all texts share *a* and *of*, and a text of
thirty words shares some words by chance. A word that only this worker uses says little
where everyone uses words of their own. Of 40,460 captions in Flickr8k, and of 16,634 in
half of VizWiz-Captions val, two in a hundred honest captions look more like a text
about another picture, for example because a worker saw something that four others
overlooked. So the limit is odds of 25 to 1, and a policy should not reject for this
alone.

Edge cases: if the texts of a task share nothing anyway (wishes, names), a text that
shares nothing is not evidence. Chinese, Japanese and Thai are compared by pairs of
characters. A worker's second answer about an item is judged, but others are not
compared with it.
"""

from __future__ import annotations

from dataclasses import dataclass

from piecework.domain.late_modules import np, pd, scipy
from piecework.domain.text import plural
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Ratio
from piecework.qc.scores import SHOWN_FROM, Facts, Scope, scored, sentences
from piecework.qc.text_fit import COLUMNS as COMPARED
from piecework.qc.text_fit import odds_for, text_fit

NAME = "text_off_item"
TITLE = "Text that fits another item"
VERSION = 1
SUBJECT: SubjectKind = "answer"
SCOPE: Scope = "batch"
COLUMNS = COMPARED
FACTS = Facts(may_reject_alone=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The limit.

    Attributes:
        min_odds: flag from these odds, to one, for another item (ours; see above).
    """

    min_odds: Ratio = 25.0


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per answer."""
    fits = text_fit(table)
    against = -fits["log_odds"].to_numpy()
    flag = against >= np.log(params.min_odds)
    suspicion = np.nan_to_num(scipy.special.expit(against - np.log(params.min_odds)))

    def sentence(against: float, words: float, shared: float, chance: float, others: float) -> str:
        return (
            f"fits another item better: shares {shared:.0f} of "
            f"{plural(words, 'different word')} with "
            f"{plural(others, 'other text')} about this item, where chance gives "
            f"{chance:.1f}; word by word, {odds_for(against)} for another item"
        )

    return scored(
        table.index,
        suspicion=suspicion,
        flag=flag,
        evidence=sentences(
            suspicion >= SHOWN_FROM,
            sentence,
            against,
            fits["words"],
            fits["shared"],
            fits["by_chance"],
            fits["others"],
        ),
    )
