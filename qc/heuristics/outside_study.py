"""A worker who does not belong in the study, by what they say about themselves.

Idea: a study may be about fluent speakers with normal color vision and still admit
everyone, because people who are asked before they are paid learn what to answer. The
task says which options exclude a worker (`excludes` of an option that is asked once per
HIT).

Silent: if no option of the task excludes workers.

Naive reading: the work is bad. But it is paid like any other work, and is only left out
of the means.

Edge cases: the evidence does not say which answer it was, since reports show findings
and color vision is private; the store has it. All answers of the assignment are
flagged, one by one.
"""

from __future__ import annotations

from dataclasses import dataclass

from piecework.domain.late_modules import np, pd
from piecework.domain.verdicts import SubjectKind
from piecework.qc.ratings import OUTSIDE
from piecework.qc.scores import Facts, Scope, scored, sentences

NAME = "outside_study"
TITLE = "Outside the study"
VERSION = 1
SUBJECT: SubjectKind = "answer"
SCOPE: Scope = "row"
COLUMNS = (OUTSIDE,)
FACTS = Facts()

EVIDENCE = "comes from a worker who is outside the study by an answer about themselves"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """There is nothing to set: the task says which options exclude a worker."""


def score(table: pd.DataFrame, _params: Params) -> pd.DataFrame:
    """One row per answer."""
    outside = table.get(OUTSIDE)
    nothing = np.zeros(len(table), dtype="bool")
    flag = nothing if outside is None else outside.to_numpy("bool")
    return scored(
        table.index,
        suspicion=flag.astype("float64"),
        flag=flag,
        evidence=sentences(flag, lambda _: EVIDENCE, table.index),
    )
