"""Text that is mostly in capitals.

Idea: a worker who leaves CAPS LOCK on may not have looked at their text.
VizWiz-Captions used this check.

Silent: if the text has no letters, or fewer than `min_letters`.

Naive reading: the original code divides by all characters, including spaces and digits,
so a text in capitals with many digits passes. Counting only letters finds those, but
also flags what people copy from packages ("A can of LA CROIX 12 FL OZ"). The paper's
reading is the default; `letters_only` gives the other.

Edge cases: exactly half is not more than half. Letters without case (Arabic, Chinese)
count as letters, never as capitals. The canned text is judged like any other. The paper
(Gurari et al. 2020, appendix A.1): "workers who used CAPS LOCK for more than 50% of the
caption text".
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from piecework.domain.late_modules import np, npt, pd
from piecework.domain.text import share
from piecework.domain.verdicts import SubjectKind
from piecework.qc.parameters import Count, Share
from piecework.qc.scores import Facts, Scope, grade, quoted, scored, sentences

NAME = "capitals"
TITLE = "Mostly capitals"
VERSION = 1
SUBJECT: SubjectKind = "answer"
SCOPE: Scope = "row"
COLUMNS = ("text",)
FACTS = Facts()

Floats: TypeAlias = "npt.NDArray[np.float64]"
Counts: TypeAlias = "npt.NDArray[np.int64]"
Flags: TypeAlias = "npt.NDArray[np.bool_]"


_AT_ONCE = 20_000
"""This many texts are counted at a time: each of their characters takes eight bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """The limit.

    Attributes:
        more_than_share: flag above this share of capitals (paper: 50 %).
        letters_only: divide by letters instead of all characters (original: all).
        min_letters: ignore texts with fewer letters, such as "TV" (ours).
    """

    more_than_share: Share = 0.5
    letters_only: bool = False
    min_letters: Count = 4


def score(table: pd.DataFrame, params: Params) -> pd.DataFrame:
    """One row per answer."""
    texts = table["text"]
    some = range(0, max(len(texts), 1), _AT_ONCE)
    shares = np.concatenate(
        [_shares(texts.iloc[first : first + _AT_ONCE].tolist(), params) for first in some]
    )
    flag = shares > params.more_than_share
    suspicion = grade(shares, params.more_than_share, flag=flag)

    def sentence(capitals: float, text: str) -> str:
        whole = "letters" if params.letters_only else "characters"
        return f"has {share(capitals, 1)} of its {whole} in capitals: {quoted(text)}"

    return scored(
        table.index,
        suspicion=suspicion,
        flag=flag,
        evidence=sentences((suspicion > 0) | flag, sentence, shares, texts),
    )


def _shares(texts: list[str], params: Params) -> Floats:
    """The share of capitals in each text; 0 if there are too few letters."""
    lengths = np.fromiter(map(len, texts), "int64", len(texts))
    letters, capitals = np.zeros((2, len(texts)), dtype="int64")
    is_ascii = np.fromiter(map(str.isascii, texts), "bool", len(texts))
    for alike, flags_of in ((is_ascii, _ascii_flags), (~is_ascii, _character_flags)):
        whole = "".join(itertools.compress(texts, alike))
        letters[alike] = _counts(flags_of(whole, str.isalpha), lengths[alike])
        capitals[alike] = _counts(flags_of(whole, str.isupper), lengths[alike])
    sizes = letters if params.letters_only else lengths
    enough = letters >= params.min_letters
    return np.divide(capitals, sizes, out=np.zeros(len(texts)), where=enough)


def _ascii_flags(text: str, is_wanted: Callable[[str], bool]) -> Flags:
    """Whether each ASCII character is wanted; ten times as fast as the next."""
    table = bytes(is_wanted(chr(code)) for code in range(256))
    return np.frombuffer(text.encode("ascii").translate(table), "bool")


def _character_flags(text: str, is_wanted: Callable[[str], bool]) -> Flags:
    """Whether each character is wanted; tests each different one once."""
    # A worker may have sent half a character (a lone surrogate); it counts too.
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "uint32")
    different, places = np.unique(codes, return_inverse=True)
    wanted = [is_wanted(chr(code)) for code in different.tolist()]
    return np.array(wanted, dtype="bool")[places]


def _counts(is_wanted: Flags, lengths: Counts) -> Counts:
    """How many characters of each text are wanted.

    Args:
        is_wanted: by character, text after text.
        lengths: of the texts, in characters.
    """
    counts = np.zeros(len(lengths), dtype="int64")
    some = lengths > 0  # an empty text has no place to add up from
    starts = (np.cumsum(lengths) - lengths)[some]
    if starts.size:
        counts[some] = np.add.reduceat(is_wanted, starts, dtype="int64")
    return counts
