"""Which words are one edit apart, found without comparing all with all."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from rapidfuzz.distance import OSA


def one_edit_apart(
    words: Iterable[str], others: Iterable[str]
) -> Iterator[tuple[str, str]]:
    """Every word with each other one that is a letter or a swap away, once.

    >>> sorted(one_edit_apart(["kitebord", "kite"], ["kiteboard", "kit", "kite"]))
    [('kite', 'kit'), ('kitebord', 'kiteboard')]
    """
    # Words an edit apart are equal once each has lost a letter, or one of them.
    one_less: defaultdict[str, list[str]] = defaultdict(list)
    for other in others:
        for rest in _one_less(other):
            one_less[rest].append(other)
    for word in words:
        near = {other for rest in _one_less(word) for other in one_less.get(rest, ())}
        yield from ((word, each) for each in near if OSA.distance(word, each) == 1)


def _one_less(word: str) -> Iterator[str]:
    """A word, and it without each of its letters."""
    yield word
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]
