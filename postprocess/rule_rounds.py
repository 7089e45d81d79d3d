"""In which rounds cleaning rules follow one another, and at which texts they look.

A round over all texts is expensive, and what it changes matters to few of them. So
rounds that look near the changes follow it. When they change nothing, the next also
looks where a rule was not sure, and the last at all texts again, since each change
weighs a little everywhere.

Two texts may each be mended into what the other was, and back in the next round, for
ever. So after some rounds near the changes each round draws the half that is mended.
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
"""Real texts settle in about ten rounds, a million texts in twenty, ten million in
seventy; most of these rounds look at few texts. Rules that undo each other never
settle."""

_ROUNDS_WITHOUT_DRAW = 8
"""Rounds near the changes in which all texts are mended at once."""

_RECHECK_FROM = 100
"""A word is judged again everywhere once one in this many of it was replaced."""


class _Extent(IntEnum):
    NEAR = 0
    UNSURE = 1
    ALL = 2


class Selection(NamedTuple):
    """The texts that a rule looks at in a round, with all others about their items.

    Texts that changed since the rule last looked are always among them.

    Attributes:
        extent: how far around the changes.
        words: texts that hold one of these are among them.
        draw: from 1 on, about half of the texts is mended, and these in one place;
            each number draws another half. 0: all are.
    """

    extent: int = _Extent.NEAR
    words: AbstractSet[str] = frozenset()
    draw: int = 0

    @property
    def has_all(self) -> bool:
        """Whether the rule looks at all texts."""
        return self.extent == _Extent.ALL

    @property
    def has_unsure(self) -> bool:
        """Whether it looks again where it was not sure: there a little is enough."""
        return self.extent >= _Extent.UNSURE

    def is_drawn(self, text_id: str) -> bool:
        """Whether a text may be mended; of two texts, one alone every other time."""
        drawn = blake2b(f"{self.draw} {text_id}".encode(), digest_size=1)
        return drawn.digest()[0] % 2 == 0


class Followed(NamedTuple):
    """What following a rule did to the texts.

    Attributes:
        has_changed: whether any was changed, or waits until it is drawn.
        rarer: words to judge again everywhere (`rarer_words`).
    """

    has_changed: bool
    rarer: AbstractSet[str]


def until_settled(
    rules: Sequence[Rule], follow: Callable[[Rule, Selection], Followed]
) -> None:
    """Have rules follow one another until none has anything left to make.

    Args:
        rules: in their order.
        follow: makes the edits of a rule, of the texts that it looks at.

    Raises:
        ValueError: they never come to an end.
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
    """Words that were replaced so often that the remaining ones are judged again.

    Args:
        replaced: how often each word was.
        corpus: the counts after that.
    """
    written = corpus.counts[corpus.numbers([*replaced])].tolist()
    both = zip(replaced.items(), written, strict=True)
    return frozenset(word for (word, n), now in both if now <= _RECHECK_FROM * n)
