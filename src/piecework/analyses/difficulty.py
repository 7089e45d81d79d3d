"""How hard an image is, by how many workers gave the canned answer.

Difficulty follows Gurari et al., "Captioning Images Taken by People Who Are Blind"
(ECCV 2020, section 3.2): of five workers none, a minority (1-2), a majority (3-4) or
all said that the image cannot be recognised. Here the same levels apply to any number
of answers; exactly half is not a majority.
"""

from typing import Literal

import numpy as np
import pandas as pd

Difficulty = Literal["easy", "medium", "difficult", "unrecognizable", "unknown"]


def difficulty(*, canned: int, answers: int) -> Difficulty:
    """Return how hard an item is, by how many of its answers are the canned text.

    >>> [difficulty(canned=n, answers=5) for n in (0, 2, 3, 5)]
    ['easy', 'medium', 'difficult', 'unrecognizable']

    Raises:
        ValueError: more canned answers than answers.
    """
    if not 0 <= canned <= answers:
        raise ValueError(f"{canned} canned answers of {answers}")
    if answers == 0:
        return "unknown"
    if canned == answers:
        return "unrecognizable"
    if canned == 0:
        return "easy"
    return "difficult" if 2 * canned > answers else "medium"


def difficulties(canned: "pd.Series[int]", answers: "pd.Series[int]") -> "pd.Series[str]":
    """Return `difficulty` of many items; str, with the index of `canned`."""
    names = np.select(
        [answers == 0, canned == answers, canned == 0, 2 * canned > answers],
        ["unknown", "unrecognizable", "easy", "difficult"],
        "medium",
    )
    return pd.Series(names, index=canned.index, dtype="str")
