"""What a heuristic's module states about it, for the code that runs it or reads it.

The registry, the policy check, the reasons for silence and the judging of a table in
parts read these facts. None of them names a heuristic.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from piecework.qc.scores import Tally


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
