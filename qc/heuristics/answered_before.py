"""A worker's second answer about the same item.

Idea: five answers should come from five people. piecework shows a worker no item twice;
other tools may, in results that you import.

Silent: about unknown workers.

Naive reading: the second answer is bad work. Usually it is the same honest work again.
It is paid, but does not count towards the number of answers wanted. All heuristics that
compare the answers of an item leave it out, so that one person cannot outvote another.

Edge cases: the first answer is the one submitted first; in a tie, the one whose answer
id sorts first. The third answer is flagged like the second.
"""

from __future__ import annotations

from dataclasses import dataclass

from piecework.domain.late_modules import np, pd
from piecework.domain.verdicts import SubjectKind
from piecework.qc.scores import FIRST_ANSWER, Facts, Scope, is_first, pair_codes, scored, sentences

NAME = "answered_before"
TITLE = "Second answer about an item"
VERSION = 1
SUBJECT: SubjectKind = "answer"
SCOPE: Scope = "item"
COLUMNS = FIRST_ANSWER
FACTS = Facts(is_on=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """There is nothing to set: an answer is the first or it is not."""


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:  # noqa: ARG001 - the contract's signature
    """One row per answer."""
    first = is_first(table).to_numpy()
    pairs = pair_codes(table)
    earlier = np.zeros(len(table), dtype="intp")
    earlier[pairs[first]] = np.flatnonzero(first)

    def sentence(answer_id: str) -> str:
        return f"is the worker's second about this item, after answer {answer_id}"

    return scored(
        table.index,
        suspicion=(~first).astype("float64"),
        flag=~first,
        evidence=sentences(~first, sentence, table.index[earlier[pairs]]),
    )
