"""Every sentence of evidence, reckoned again from raw answers in plain Python.

Each kind of sentence has a pattern and a check beside it; a check knows the sentence,
whom it is about, and what had come in when it was said. No heuristic is called, and no
number of the sentence is taken for granted. Where a sentence is the evidence of a flag,
its own numbers have to show it: what is told as below a line reads as below it.
"""

import re
from collections.abc import Sequence

from tests.end_to_end.evidence import joined, ratings, texts, times
from tests.end_to_end.evidence.raw_answers import RawAnswer
from tests.end_to_end.evidence.world import World

CLAIMS = (*texts.CLAIMS, *times.CLAIMS, *ratings.CLAIMS, *joined.CLAIMS)


def fault_of(
    heuristic: str, evidence: str, own: Sequence[RawAnswer], world: World, *, is_flag: bool
) -> str:
    """What is untrue about a sentence; "" where nothing is.

    Args:
        heuristic: that said it.
        evidence: the sentence.
        own: the answers of whom or what it is about.
        world: what was known.
        is_flag: whether it is why something is flagged.
    """
    for claim in CLAIMS:
        match = re.fullmatch(claim.pattern, evidence, re.DOTALL)
        if claim.heuristic != heuristic or not match:
            continue
        if not claim.is_true(match, own, world):
            return f"{heuristic}: untrue: {evidence}"
        if is_flag and not claim.shows_why(match, world):
            return f"{heuristic}: does not show why it flags: {evidence}"
        return ""
    return f"{heuristic}: a sentence that no check knows: {evidence}"
