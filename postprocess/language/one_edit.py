"""Find words that are one edit apart without comparing all pairs."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from rapidfuzz.distance import OSA


def one_edit_apart(words: Iterable[str], others: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each pair of words that differ by one letter or swap, once.

    >>> sorted(one_edit_apart(["kitebord", "kite"], ["kiteboard", "kit", "kite"]))
    [('kite', 'kit'), ('kitebord', 'kiteboard')]
    """
    # Words one edit apart are equal after one or both of them lose a letter.
    one_less: defaultdict[str, list[str]] = defaultdict(list)
    for other in others:
        for rest in _one_less(other):
            one_less[rest].append(other)
    for word in words:
        near = {other for rest in _one_less(word) for other in one_less.get(rest, ())}
        yield from ((word, each) for each in near if OSA.distance(word, each) == 1)


def _one_less(word: str) -> Iterator[str]:
    """Yield a word, and the word without each of its letters."""
    yield word
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]
