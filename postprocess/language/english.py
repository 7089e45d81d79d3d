"""Rate how well words fit their neighbours in general English.

A campaign's own texts show this best (`corpus`) if there are many of them. Otherwise
the trigrams of general English in pocketsphinx, made for speech recognition, are used:
70,000 words and three and a half million pairs and triples of them.
"""

from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import distribution

from pocketsphinx import LogMath, NGramModel

from piecework.postprocess.language.corpus import EDGE

NAMES = (
    "english_unknown", "english_share", "english_after", "english_before",
    "english_far_after", "english_inside",
)  # fmt: skip
"""In order: whether the model lacks a word (then the others are 0); the logarithm of
its share of all words; how much more often than by chance, in nats, it follows the two
words before it; the same for the next word; for the word after that; and for the second
of two words after the first."""

Fits = tuple[float, float, float, float, float, float]

_MODEL = "pocketsphinx/model/en-us/en-us.lm.bin"
UNKNOWN: Fits = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
_BEGIN, _END = "<s>", "</s>"
_REMEMBERED = 100_000


def fits(before: tuple[str, str], meant: str, after: tuple[str, str]) -> Fits:
    """Return `NAMES` for a word, or two words separated by a space, in a place.

    Args:
        before: the two words before it, casefolded, `EDGE` at the text's beginning.
        meant: the candidate.
        after: the two words after it, `EDGE` at the text's end.
    """
    head, *rest = meant.split(" ")
    tail = rest[-1] if rest else head
    share, share_of_tail = _share(head), _share(tail)
    if share is None or share_of_tail is None:
        return UNKNOWN
    far, last = before[0] or _BEGIN, before[1] or _BEGIN
    following, far_following = after[0] or _END, after[1] or _END
    share_of_following = _share(following)
    fits_before = fits_far = 0.0
    if share_of_following is not None:
        before_that = head if rest else last
        fits_before = _nats([following, tail, before_that]) - share_of_following
        if after[0] != EDGE and _share(far_following) is not None:
            known = _nats([far_following, following])
            fits_far = _nats([far_following, following, tail]) - known
    return (
        0.0,
        min(share, share_of_tail),
        _nats([head, last, far] if before[1] != EDGE else [head, last]) - share,
        fits_before,
        fits_far,
        _nats([tail, head, last]) - share_of_tail if rest else 0.0,
    )


@lru_cache(maxsize=_REMEMBERED)
def _share(word: str) -> float | None:
    """Return the logarithm of a word's share of all words; None if it is unknown."""
    model, log_math = _model()
    log = model.prob([word])
    return None if log <= log_math.get_zero() else log_math.log_to_ln(log)


def _nats(words: Sequence[str]) -> float:
    """Return a word's log probability after others, given nearest first."""
    model, log_math = _model()
    return float(log_math.log_to_ln(model.prob(words)))


@lru_cache(maxsize=1)
def _model() -> tuple[NGramModel, LogMath]:
    """Load the model once; it takes 30 MB."""
    path = distribution("pocketsphinx").locate_file(_MODEL)
    return NGramModel.readfile(str(path)), LogMath()
