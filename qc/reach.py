"""How much a heuristic has to see before it says anything at all.

A campaign that is too small for one is warned of before it starts, and where a
heuristic has seen too little, its silence is told as that.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import pandas as pd

from piecework.qc.scores import is_first

OF_A_WORKER, OF_GOLD = "items of one worker", "items with known answers of one worker"
OF_A_HIT, OF_A_BATCH = "items of one HIT", "items of one batch"
ASSIGNMENTS, OTHERS = "assignments of one batch", "answers by others to an item"
ANSWERS = "answers to an item"

COUNTED: Mapping[str, Mapping[str, str]] = {
    "canned_share": {"min_images": OF_A_WORKER},
    "gold_failed": {"min_items": OF_GOLD},
    "ignored_page_warnings": {"min_items": OF_A_WORKER},
    "low_agreement": {"min_items": OF_A_WORKER, "min_others": OTHERS},
    "low_scale_variance": {"min_items": OF_A_WORKER},
    "minority_canned": {"min_answers": ANSWERS},
    "rushed": {"min_assignments": ASSIGNMENTS},
    "same_place": {"min_items": OF_A_WORKER},
    "same_sentence": {"min_images": OF_A_WORKER},
    "same_sentence_in_hit": {"min_items": OF_A_HIT},
    "sentence_off_items": {"min_items": OF_A_BATCH},
    "straight_line": {"min_items": OF_A_WORKER},
    "text_disagreement": {"min_votes": OTHERS},
    "texts_off_items": {"min_texts": OF_A_WORKER},
}
"""What each parameter counts that must be reached before a heuristic flags anything."""


class Unreached(NamedTuple):
    """A parameter that counts more than there is.

    Attributes:
        wanted: so many, of what is `counted`.
        there: how many there are at most.
    """

    parameter: str
    wanted: int
    counted: str
    there: int


def unreached(
    name: str, params: object, most: Mapping[str, int]
) -> Iterator[Unreached]:
    """Each parameter of a heuristic that cannot be reached.

    Args:
        name: of the heuristic.
        params: its parameters.
        most: how many there are at most of what is counted; enough of what is absent.
    """
    for parameter, counted in COUNTED.get(name, {}).items():
        wanted = getattr(params, parameter)
        if counted in most and wanted > most[counted]:
            yield Unreached(parameter, wanted, counted, most[counted])


def most_of(table: pd.DataFrame) -> Mapping[str, int]:
    """How many a table of answers has at most of what is counted, but for gold."""
    voices = table[is_first(table).to_numpy()]
    known = voices["worker_id"][voices["worker_id"] != ""]
    answers = int(voices["item_id"].value_counts().max())
    of_batch = table.groupby("batch")
    return {
        OF_A_WORKER: int(known.value_counts().max()) if len(known) else 0,
        OF_A_HIT: int(table["assignment_id"].value_counts().max()),
        OF_A_BATCH: int(of_batch["item_id"].nunique().max()),
        ASSIGNMENTS: int(of_batch["assignment_id"].nunique().max()),
        ANSWERS: answers,
        OTHERS: answers - 1,
    }
