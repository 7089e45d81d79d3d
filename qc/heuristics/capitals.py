"""Text that is mostly in capitals.

Idea: somebody who leaves CAPS LOCK on has not looked at what he wrote. A mechanism of
VizWiz-Captions (Gurari et al. 2020, appendix A.1): "workers who used CAPS LOCK for more
than 50% of the caption text".

Naive reading: the original code divides by all characters, spaces and digits
included, so a text in capitals with many digits passes. Counting letters only finds
those, but also flags what people copy from packages ("A can of LA CROIX 12 FL OZ").
The paper's reading is the default; `letters_only` gives the other.

Edge cases: an empty text, or one without letters, is no suspicion. Exactly half is not
more than half. Letters without case (Arabic, Chinese) count as letters, never as
capitals. The canned text is judged like any other.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from domain.verdicts import SubjectKind
from qc.parameters import Count, Share
from qc.scores import grade, quoted, sentences, table

NAME = "capitals"
VERSION = 1
SUBJECT: SubjectKind = "answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """Where the line is.

    Attributes:
        more_than_share: flag above this share of capitals (paper: 50 %).
        letters_only: divide by letters instead of by all characters (original: all).
        least_letters: shorter texts are left alone; "TV" says nothing (ours).
    """

    more_than_share: Share = 0.5
    letters_only: bool = False
    least_letters: Count = 4


def score(frame: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row an answer."""
    texts = frame["text"].tolist()
    shares = np.array([_share(text, params) for text in texts], dtype="float64")
    flag = shares > params.more_than_share
    suspicion = grade(shares, params.more_than_share, flag=flag)

    def sentence(share: float, text: str) -> str:
        whole = "letters" if params.letters_only else "characters"
        return f"{share:.0%} of the {whole} are capitals: {quoted(text)}"

    return table(
        frame.index,
        suspicion=suspicion,
        flag=flag,
        evidence=sentences((suspicion > 0) | flag, sentence, shares, texts),
    )


def _share(text: str, params: Params) -> float:
    letters = sum(map(str.isalpha, text))
    if letters < params.least_letters:
        return 0.0
    whole = letters if params.letters_only else len(text)
    return sum(map(str.isupper, text)) / whole
