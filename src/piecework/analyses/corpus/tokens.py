"""Captions as tokens of the Penn Treebank, the way coco-caption counts them.

Published caption metrics are computed on the output of Stanford's PTBTokenizer,
lower-cased and without punctuation. That program is Java; these rules agree with it on
the captions of VizWiz (docs/measurements/captions.md says how far). Punctuation inside
numbers and words (3.5, 10:30, t-shirt, 1/2) stays.
"""

import re

_PARTS = re.compile(
    r"""
    (?:[^\W\d_]\.){2,}              # u.s.a.
    | \d+(?:[.,:/]\d+)+ (?!\w)      # 3.5  1,000  10:30  1/2
    | [\w]+(?:[-'.&/@_]\w+)*        # words, t-shirt, o'clock, dot.com, at&t
    | \S                            # anything else, a sign at a time
    """,
    re.VERBOSE,
)
_CLITIC = re.compile(r"(?<=\w)(n't|'s|'re|'ve|'ll|'d|'m)$")
_SPLIT = {"cannot": ("can", "not"), "gonna": ("gon", "na"), "wanna": ("wan", "na")}
_QUOTES = str.maketrans("\u2018\u2019\u00b4`", "''''")


def tokens(text: str) -> list[str]:
    """Return lower-case tokens without punctuation.

    >>> tokens("It's a T-shirt, isn't it?  3.5 oz.")
    ['it', "'s", 'a', 't-shirt', 'is', "n't", 'it', '3.5', 'oz']
    """
    return [token.lower() for token in cased_tokens(text)]


def cased_tokens(text: str) -> list[str]:
    """Return the tokens with their case, which a tagger needs.

    >>> cased_tokens("A can of Coke.")
    ['A', 'can', 'of', 'Coke']
    """
    cased: list[str] = []
    for part in _PARTS.findall(text.translate(_QUOTES)):
        if _is_word(part):
            cased += _split(part)
    return cased


def punctuation_marks(text: str) -> int:
    """Return the number of tokens that are punctuation.

    >>> punctuation_marks("A can, a cup (3.5 oz).")
    4
    """
    return sum(not _is_word(part) for part in _PARTS.findall(text.translate(_QUOTES)))


def _is_word(part: str) -> bool:
    return any(character.isalnum() for character in part)


def _split(word: str) -> list[str]:
    if pair := _SPLIT.get(word.lower()):
        return [word[: len(pair[0])], word[len(pair[0]) :]]
    clitic = _CLITIC.search(word.lower())
    if clitic:
        return [word[: clitic.start()], word[clitic.start() :]]
    return [word]
