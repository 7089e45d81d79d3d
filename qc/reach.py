"""How much data a heuristic needs before it can flag anything.

`check` warns before a campaign starts that is too small for a heuristic, and the report
says which heuristics had too little data.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pandas as pd

from piecework.qc.parameters import Counted, counted
from piecework.qc.scores import is_first


class Unreached(NamedTuple):
    """A parameter that requires more than there is.

    Attributes:
        wanted: how many of what is `counted` the parameter requires.
        there: the most that there are.
    """

    parameter: str
    wanted: int
    counted: Counted
    there: int


def unreached(params: object, most: Mapping[Counted, int]) -> Iterator[Unreached]:
    """Yield each parameter of a heuristic that requires more than there is.

    Args:
        params: the heuristic's.
        most: the most that there are of what is counted; absent means enough.
    """
    for parameter, kind in counted(type(params)).items():
        wanted = getattr(params, parameter)
        if kind in most and wanted > most[kind]:
            yield Unreached(parameter, wanted, kind, most[kind])


def most_of(table: pd.DataFrame) -> Mapping[Counted, int]:
    """Return the most that a table of answers has of each count, except gold."""
    voices = table[is_first(table).to_numpy()]
    known = voices["worker_id"][voices["worker_id"] != ""]
    answers = int(voices["item_id"].value_counts().max())
    of_batch = table.groupby("batch")
    return {
        Counted.OF_WORKER: int(known.value_counts().max()) if len(known) else 0,
        Counted.OF_HIT: int(table["assignment_id"].value_counts().max()),
        Counted.ITEMS: int(table["item_id"].nunique()),
        Counted.ASSIGNMENTS: int(of_batch["assignment_id"].nunique().max()),
        Counted.ANSWERS: answers,
        Counted.OTHERS: answers - 1,
    }
