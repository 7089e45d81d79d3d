"""Which words of a dataset no word list knows.

The VizWiz-Captions paper (supplement, 0.A.2) counts the captions with unknown tokens
when it checks their spelling: 23,424 of 169,073. Most of such words are brands and new
words, not errors (docs/measurements/cleaning.md).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from piecework.analyses.corpus.tagging import Tagged

_LETTERS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownWords:
    """Words that a word list lacks.

    Attributes:
        captions: captions with such a word.
        of_captions: all captions.
        tokens: occurrences of such words.
        of_tokens: occurrences of all words.
        words: occurrences by word.
    """

    captions: int
    of_captions: int
    tokens: int
    of_tokens: int
    words: Mapping[str, int]


def unknown_words(captions: Iterable[Tagged], is_known: Callable[[str], bool]) -> UnknownWords:
    """Count the words that a list lacks.

    A word with a digit is never unknown. A word with hyphens is known if its parts are.

    Args:
        captions: tokens with their kinds.
        is_known: whether the list has a lower-case word of letters and apostrophes.

    >>> caption = (("a", "other"), ("t-shirt", "noun"), ("zyx", "noun"))
    >>> unknown_words([caption], {"a", "t", "shirt"}.__contains__).words
    {'zyx': 1}
    """
    words: Counter[str] = Counter()
    of_captions = of_tokens = with_any = 0
    for caption in captions:
        unknown = [word for word, _ in caption if not _is_known(word, is_known)]
        words.update(unknown)
        of_captions += 1
        of_tokens += len(caption)
        with_any += bool(unknown)
    return UnknownWords(
        captions=with_any,
        of_captions=of_captions,
        tokens=words.total(),
        of_tokens=of_tokens,
        words=dict(sorted(words.items(), key=lambda pair: (-pair[1], pair[0]))),
    )


def _is_known(word: str, is_known: Callable[[str], bool]) -> bool:
    # "'s" and "n't" are parts of words, and "3d" is no word of a list.
    if "'" in word[:2] or any(map(str.isdigit, word)):
        return True
    return all(map(is_known, _LETTERS.findall(word)))
