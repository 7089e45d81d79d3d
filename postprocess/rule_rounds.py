"""The rounds in which cleaning rules run, and the texts that each round covers.

A round over all texts is expensive, and its changes affect few of them. So the next
rounds cover only texts near the changes. When these change nothing, the next round also
covers texts where a rule was not sure. The last covers all texts again, since each
change has a small effect everywhere.

Two texts may each be corrected to the other's wording, and back in the next round,
forever. So after some rounds, each round corrects only a random half of the texts.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import IntEnum
from hashlib import blake2b
from itertools import chain
from typing import NamedTuple

from piecework.postprocess.language.corpus import Corpus
from piecework.postprocess.registry import Rule

_MOST_ROUNDS = 1_000
"""Real texts converge in about ten rounds, a million texts in twenty, ten million in
seventy; most of these rounds cover few texts. Rules that undo each other never
converge."""

_ROUNDS_WITHOUT_DRAW = 8
"""The number of rounds in which all texts near the changes are corrected at once."""

_RECHECK_FROM = 100
"""A word is checked again everywhere once one in this many occurrences was replaced."""


class _Extent(IntEnum):
    NEAR = 0
    UNSURE = 1
    ALL = 2


class Selection(NamedTuple):
    """The texts that a round covers, with all others about their items.

    Texts that changed since the rule last ran are always included.

    Attributes:
        extent: how far around the changes.
        words: texts with one of these words are included.
        draw: from 1 on, about half of the texts are corrected, each in one place; each
            number draws another half. 0 corrects all.
    """

    extent: int = _Extent.NEAR
    words: AbstractSet[str] = frozenset()
    draw: int = 0

    @property
    def has_all(self) -> bool:
        """Whether the round covers all texts."""
        return self.extent == _Extent.ALL

    @property
    def has_unsure(self) -> bool:
        """Whether the round covers texts where the rule was not sure."""
        return self.extent >= _Extent.UNSURE

    def is_drawn(self, text_id: str) -> bool:
        """Return whether a text may be corrected; of two texts, often only one may."""
        drawn = blake2b(f"{self.draw} {text_id}".encode(), digest_size=1)
        return drawn.digest()[0] % 2 == 0


class Followed(NamedTuple):
    """The effect of a rule on the texts.

    Attributes:
        has_changed: whether any was changed, or waits to be drawn.
        rarer: words to check again everywhere (`rarer_words`).
    """

    has_changed: bool
    rarer: AbstractSet[str]


def until_settled(
    rules: Sequence[Rule], follow: Callable[[Rule, Selection], Followed]
) -> None:
    """Run rules one after the other until none has an edit left.

    Args:
        rules: the rules in order.
        follow: applies a rule to the selected texts.

    Raises:
        ValueError: they never finish.
    """
    latest: deque[Followed] = deque(maxlen=len(rules))
    extent, near = _Extent.ALL, 0
    for _ in range(_MOST_ROUNDS):
        draw = max(0, near - _ROUNDS_WITHOUT_DRAW)
        for rule in rules:
            words = frozenset(chain.from_iterable(each.rarer for each in latest))
            latest.append(follow(rule, Selection(extent, words, draw)))
        if any(each.has_changed for each in latest):
            extent, near = _Extent.NEAR, near + 1
        elif extent is _Extent.ALL:
            return
        else:
            extent, near = _Extent(extent + 1), 0
    names = ", ".join(rule.NAME for rule in rules)
    raise ValueError(f"these rules keep changing each other's work: {names}")


def rarer_words(replaced: Mapping[str, int], corpus: Corpus) -> AbstractSet[str]:
    """Return words replaced so often that the remaining ones must be checked again.

    Args:
        replaced: how often each word was replaced.
        corpus: the counts after that.
    """
    written = corpus.counts[corpus.numbers([*replaced])].tolist()
    both = zip(replaced.items(), written, strict=True)
    return frozenset(word for (word, n), now in both if now <= _RECHECK_FROM * n)
