"""How words that are written alike hang together without one being a typo."""

from functools import cache

from postprocess.language import lexicon

_ENDINGS = (
    "s", "es", "ed", "d", "ing", "er", "ers", "r", "y", "ish", "like", "less", "ly",
    "'s", "ness", "able", "ies", "ied",
)  # fmt: skip
_BEGINNINGS = (
    "un", "re", "non", "pre", "multi", "semi", "over", "under", "mini", "anti",
)  # fmt: skip
_MEANT_ENDINGS = frozenset({"s", "es", "d", "ed", "r", "er", "y", "ing", "ly", "n"})
_VARIANTS = (
    ("our", "or"), ("is", "iz"), ("ys", "yz"), ("tre", "ter"), ("ogue", "og"),
    ("ll", "l"), ("ae", "e"), ("ence", "ense"), ("grey", "gray"), ("blonde", "blond"),
)  # fmt: skip
"""British and American ways to write one word."""

_LEAST_PART = 3
_COMMON_ZIPF = 3.0


@cache
def is_compound(word: str) -> bool:
    """Whether two common words make up the word.

    >>> is_compound("nightstand"), is_compound("teapott")
    (True, False)
    """
    cuts = range(_LEAST_PART, len(word) - _LEAST_PART + 1)
    return any(_is_common(word[:cut]) and _is_common(word[cut:]) for cut in cuts)


@cache
def is_inflected(word: str) -> bool:
    """Whether a known word and an ending or a beginning make up the word.

    >>> is_inflected("unfrosted"), is_inflected("tabel")
    (True, False)
    """
    stems = {word.removesuffix(ending) for ending in _ENDINGS}
    stems |= {word.removeprefix(beginning) for beginning in _BEGINNINGS}
    return any(lexicon.is_known(stem) for stem in stems if len(stem) >= _LEAST_PART)


def is_ending(longer: str, shorter: str) -> bool:
    """Whether one word is the other and an ending that may be meant."""
    return longer.startswith(shorter) and longer[len(shorter) :] in _MEANT_ENDINGS


def is_spelling_variant(word: str, other: str) -> bool:
    """Whether British and American English may write one word so and so.

    >>> is_spelling_variant("colourfully", "colorfully")
    True
    """
    return _american(word) == _american(other)


def _is_common(word: str) -> bool:
    return lexicon.zipf(word) >= _COMMON_ZIPF and lexicon.is_known(word)


@cache
def _american(word: str) -> str:
    for british, american in _VARIANTS:
        word = word.replace(british, american)
    return word
