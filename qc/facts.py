"""What the module of a heuristic states about it, for what runs it or reads it.

The registry, the policy's check, the reasons for silence and the judging of a table in
parts read these facts. None of them names a heuristic.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from piecework.qc.tallies import Tally


@dataclass(frozen=True, slots=True)
class Tallied:
    """Two phases: each part is counted, then scored by what the counts of all say.

    Attributes:
        tally: the counts of a part, which add up (`piecework.qc.tallies`).
        usual_of: what the sum of all counts says is usual.
        score: the scores of a part, by what is usual.
    """

    tally: Callable[[pd.DataFrame, Any], Tally]
    usual_of: Callable[[Tally, Any], pd.DataFrame]
    score: Callable[[pd.DataFrame, Any, pd.DataFrame], pd.DataFrame]


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is true of a heuristic; the defaults are true of most.

    Attributes:
        is_on: it runs unless a campaign file switches it off. One that is off flags
            the honest as often as others, on every labelled set.
        may_reject_alone: pay may depend on it alone; not where honest workers do what
            it flags.
        amounts: words of amount in a policy's reason that its measure supports.
        silence: from a table and its parameters, why it can flag nothing there, beyond
            columns and counts (`COLUMNS`, `Params`) that are not there.
        flags_below_counts: from its parameters, whether it flags something below what
            they count (`piecework.qc.parameters.Counted`).
        tallied: how it judges a table that is cut into parts, where that takes two
            phases.
        together: which rows of a part decide; they are taken from all parts and scored
            in one place, and no other row can be flagged.
    """

    is_on: bool = True
    may_reject_alone: bool = True
    amounts: frozenset[str] = frozenset()
    silence: Callable[[pd.DataFrame, Any], Iterator[str]] | None = None
    flags_below_counts: Callable[[Any], bool] | None = None
    tallied: Tallied | None = None
    together: Callable[[pd.DataFrame, Any], npt.NDArray[np.bool_]] | None = None
