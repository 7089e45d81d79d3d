"""What the campaign's own texts say: how often words, neighbours and items occur.

A campaign has its own English: `frisbee` follows `a red` here, and a word that people
wrote about many pictures is no typo. Where the campaign is small, wordfreq's counts of
English at large weigh in instead.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from postprocess.language import lexicon
from postprocess.language.tokens import capitals, folded

EDGE = ""
"""Stands for the beginning and the end of a text among its neighbours."""

_ENGLISH_WEIGHT = 5_000
"""English at large counts like this many words of the campaign."""

_NEIGHBOUR_WEIGHT = 50
"""Chance counts like this many meetings: a neighbour met less tells little."""

_UNMET_ZIPF = 0.5


class Corpus:
    """Counts over texts; corpora of different items add up.

    Attributes:
        counts: how often a word occurs.
        items: about how many items workers wrote it.
        capitals: how often it has a capital inside a text.
        pairs: how often two words stand side by side, `EDGE` at the ends of a text.
    """

    def __init__(self, texts: Iterable[tuple[str, str]] = ()) -> None:
        """Count texts, each given with its item's id; items may come in any order."""
        self.counts: Counter[str] = Counter()
        self.items: Counter[str] = Counter()
        self.capitals: Counter[str] = Counter()
        self.pairs: Counter[tuple[str, str]] = Counter()
        self._total = _ENGLISH_WEIGHT
        about: defaultdict[str, list[str]] = defaultdict(list)
        for item_id, text in texts:
            about[item_id].append(text)
        for texts_of_item in about.values():
            self._count(texts_of_item)
        self._total += self.counts.total()

    def add(self, other: "Corpus") -> None:
        """Count the other's texts too, which are about other items."""
        for counter, others in self._counters(other):
            counter.update(others)
        self._total += other.counts.total()

    def subtract(self, other: "Corpus") -> None:
        """Take out the other's texts: all that are counted here about its items."""
        for counter, others in self._counters(other):
            counter.subtract(others)
        self._total -= other.counts.total()

    def log_share(self, word: str) -> float:
        """Natural logarithm of a word's share of all words, here and at large."""
        zipf = lexicon.zipf(word) or _UNMET_ZIPF
        at_large = _ENGLISH_WEIGHT * 10 ** (zipf - lexicon.CERTAIN_ZIPF)
        return math.log((self.counts[word] + at_large) / self._total)

    def fits_after(self, left: str, word: str) -> float:
        """Logarithm of how much more often `word` follows `left` than by chance."""
        return self._fit(word, beside=left, together=self.pairs[left, word])

    def fits_before(self, word: str, right: str) -> float:
        """The same for a word and the one it stands before."""
        return self._fit(word, beside=right, together=self.pairs[word, right])

    def capital_share(self, word: str) -> float:
        """The share of a word's occurrences that have a capital inside a text."""
        return self.capitals[word] / max(1, self.counts[word])

    def _fit(self, word: str, *, beside: str, together: int) -> float:
        share = math.exp(self.log_share(word))
        by_chance = (self.counts[beside] + _NEIGHBOUR_WEIGHT) * share
        return math.log((together + _NEIGHBOUR_WEIGHT * share) / by_chance)

    def _counters(self, other: "Corpus") -> Iterator[tuple[Counter[Any], Counter[Any]]]:
        yield self.counts, other.counts
        yield self.items, other.items
        yield self.capitals, other.capitals
        yield self.pairs, other.pairs

    def _count(self, texts_of_item: Sequence[str]) -> None:
        line = [EDGE]
        for text in texts_of_item:
            line += folded(text)
            line.append(EDGE)
            self.capitals.update(capitals(text))
        self.pairs.update(pairwise(line))
        del line[0]
        self.counts.update(line)
        self.items.update(set(line) - {EDGE})
