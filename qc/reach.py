"""How much a heuristic has to see before it says anything at all.

A campaign that is too small for one is warned of before it starts, and where a
heuristic has seen too little, its silence is told as that.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pandas as pd

from piecework.qc.parameters import Counted, counted
from piecework.qc.scores import is_first


class Unreached(NamedTuple):
    """A parameter that counts more than there is.

    Attributes:
        wanted: how many the parameter asks for, of what is `counted`.
        there: how many there are at most.
    """

    parameter: str
    wanted: int
    counted: Counted
    there: int


def unreached(params: object, most: Mapping[Counted, int]) -> Iterator[Unreached]:
    """Each parameter of a heuristic that asks for more than there is.

    Args:
        params: the heuristic's.
        most: how many there are at most of what is counted; enough of what is absent.
    """
    for parameter, kind in counted(type(params)).items():
        wanted = getattr(params, parameter)
        if kind in most and wanted > most[kind]:
            yield Unreached(parameter, wanted, kind, most[kind])


def most_of(table: pd.DataFrame) -> Mapping[Counted, int]:
    """How many a table of answers has at most of what is counted, but for gold."""
    voices = table[is_first(table).to_numpy()]
    known = voices["worker_id"][voices["worker_id"] != ""]
    answers = int(voices["item_id"].value_counts().max())
    of_batch = table.groupby("batch")
    return {
        Counted.OF_WORKER: int(known.value_counts().max()) if len(known) else 0,
        Counted.OF_HIT: int(table["assignment_id"].value_counts().max()),
        Counted.OF_BATCH: int(of_batch["item_id"].nunique().max()),
        Counted.ASSIGNMENTS: int(of_batch["assignment_id"].nunique().max()),
        Counted.ANSWERS: answers,
        Counted.OTHERS: answers - 1,
    }
