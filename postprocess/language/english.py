"""How well words fit their neighbours in English at large.

A campaign's own texts tell this best (`corpus`), where there are many of them. What
they cannot tell is asked of the trigrams of general English that pocketsphinx brings
along for recognising speech: 70,000 words, and three and a half million pairs and
triples of them.
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
"""Whether a word is none of the model's; then nothing else is said. The logarithm of
its share of all words. By how much oftener than by chance, in nats, it stands after the
two words before it; the next word after it; the word after that; and the second of two
words after the first."""

Fits = tuple[float, float, float, float, float, float]

_MODEL = "pocketsphinx/model/en-us/en-us.lm.bin"
UNKNOWN: Fits = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
_BEGIN, _END = "<s>", "</s>"
_REMEMBERED = 100_000


def fits(before: tuple[str, str], meant: str, after: tuple[str, str]) -> Fits:
    """`NAMES` of a word, or of two with a space between, that may stand in a place.

    Args:
        before: the two words before it, casefolded, `EDGE` where the text begins.
        meant: what may stand there.
        after: the two words after it, `EDGE` where the text ends.
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
    """The logarithm of a word's share of all words; None if it is not known."""
    model, log_math = _model()
    log = model.prob([word])
    return None if log <= log_math.get_zero() else log_math.log_to_ln(log)


def _nats(words: Sequence[str]) -> float:
    """The logarithm of the probability of a word after others, the nearest first."""
    model, log_math = _model()
    return float(log_math.log_to_ln(model.prob(words)))


@lru_cache(maxsize=1)
def _model() -> tuple[NGramModel, LogMath]:
    """Read once; 30 MB."""
    path = distribution("pocketsphinx").locate_file(_MODEL)
    return NGramModel.readfile(str(path)), LogMath()
