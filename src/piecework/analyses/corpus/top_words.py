"""The most common words of a dataset, and those that another dataset never uses.

Follows the supplement of the VizWiz-Captions paper (0.C.2, Figures 9 to 11): for nouns,
verbs and adjectives the hundred most common ones, and the hundred most common ones that
do not occur in MSCOCO-Captions.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from piecework.analyses.corpus.composition import WORD_PARTS, Part, parts_of
from piecework.analyses.corpus.tagging import Tagged


def word_counts(captions: Iterable[Tagged]) -> Mapping[Part, Counter[str]]:
    """Count the occurrences of each word by part of speech, ignoring case."""
    counts: dict[Part, Counter[str]] = {part: Counter() for part in WORD_PARTS}
    for caption in captions:
        for part, words in parts_of(caption).items():
            counts[part].update(words)
    return counts


def top_words(counts: Counter[str], many: int) -> list[str]:
    """Return the most common words, equally common ones alphabetically.

    >>> top_words(Counter("abbc"), 2)
    ['b', 'a']
    """
    return sorted(counts, key=lambda word: (-counts[word], word))[:many]


def novel_words(here: Counter[str], vocabulary: Iterable[str], many: int) -> Sequence[str]:
    """Return the most common words that the other vocabulary lacks.

    >>> novel_words(Counter("abbc"), "b", 5)
    ['a', 'c']
    """
    known = frozenset(vocabulary)
    novel = {word: number for word, number in here.items() if word not in known}
    return top_words(Counter(novel), many)
