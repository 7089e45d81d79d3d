"""Text that is mostly in capitals.

Idea: a worker who leaves CAPS LOCK on has not looked at his text. A mechanism of
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

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from domain.verdicts import SubjectKind
from qc.parameters import Count, Share
from qc.scores import Scope, grade, quoted, scored, sentences

NAME = "capitals"
VERSION = 1
SUBJECT: SubjectKind = "answer"
SCOPE: Scope = "row"
COLUMNS = ("text",)

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """Where the line is.

    Attributes:
        more_than_share: flag above this share of capitals (paper: 50 %).
        letters_only: divide by letters instead of by all characters (original: all).
        min_letters: shorter texts are left alone; "TV" says nothing (ours).
    """

    more_than_share: Share = 0.5
    letters_only: bool = False
    min_letters: Count = 4


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row an answer."""
    texts = table["text"]
    shares = _shares(texts.tolist(), params)
    flag = shares > params.more_than_share
    suspicion = grade(shares, params.more_than_share, flag=flag)

    def sentence(share: float, text: str) -> str:
        whole = "letters" if params.letters_only else "characters"
        return f"{share:.0%} of the {whole} are capitals: {quoted(text)}"

    return scored(
        table.index,
        suspicion=suspicion,
        flag=flag,
        evidence=sentences((suspicion > 0) | flag, sentence, shares, texts),
    )


def _shares(texts: list[str], params: Params) -> Floats:
    """The share of capitals in each text; 0 where there are too few letters."""
    lengths = np.array([len(text) for text in texts], dtype="int64")
    letters, capitals = np.zeros((2, len(texts)), dtype="int64")
    is_ascii = np.array([text.isascii() for text in texts], dtype="bool")
    for alike in (is_ascii, ~is_ascii):  # the former take a quarter of the memory
        codes = _codes(list(itertools.compress(texts, alike)))
        letters[alike] = _counts(codes, lengths[alike], str.isalpha)
        capitals[alike] = _counts(codes, lengths[alike], str.isupper)
    whole = letters if params.letters_only else lengths
    enough = letters >= params.min_letters
    return np.divide(capitals, whole, out=np.zeros(len(texts)), where=enough)


def _codes(texts: list[str]) -> Codes:
    """The code of every character, text after text."""
    whole = "".join(texts)
    if whole.isascii():
        return np.frombuffer(whole.encode("ascii"), "uint8")
    # A worker may have sent half a character (a lone surrogate); it is counted too.
    return np.frombuffer(whole.encode("utf-32-le", "surrogatepass"), "uint32")


def _counts(codes: Codes, lengths: Counts, is_wanted: Callable[[str], bool]) -> Counts:
    """How many characters of each text are wanted; each different one is asked once."""
    wanted = np.zeros(int(codes.max(initial=0)) + 1, dtype="bool")
    for code in np.flatnonzero(np.bincount(codes)).tolist():
        wanted[code] = is_wanted(chr(code))
    before: Counts = np.concatenate([[0], np.cumsum(wanted[codes])])
    ends = np.cumsum(lengths)
    counts: Counts = before[ends] - before[ends - lengths]
    return counts
