"""What the campaign's own texts say: how often words, neighbours and items occur.

A campaign has its own English: `frisbee` follows `a red` here, and a word that people
wrote about many pictures is no typo. Where the campaign is small, wordfreq's counts of
English at large weigh in instead. Words are numbered, so that all places of a campaign
are looked up at once.
"""

import math
from array import array
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from postprocess.language import lexicon
from postprocess.text import Text

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

EDGE = ""
"""Stands for the beginning and the end of a text among its neighbours."""

_ENGLISH_WEIGHT = 5_000
"""English at large counts like this many words of the campaign."""

_NEIGHBOUR_WEIGHT = 50
"""Chance counts like this many meetings: a neighbour met less tells little."""

_PAIR_WEIGHT = 10
"""What follows one word counts like this many meetings with two."""

_UNMET_ZIPF = 0.5


class Corpus:
    """Counts over texts.

    Words go by their number (`number`); arrays of counts are indexed by it.

    Attributes:
        counts: how often a word occurs.
        items: about how many items workers wrote it.
        capitals: how often it has a capital inside a text.
    """

    def __init__(self, texts: Iterable[Text] = ()) -> None:
        """Count texts; items may come in any order."""
        self._numbers = {EDGE: 0}
        numbers = self._numbers
        line, items_of = array("q", [0] * 3), array("q", [0] * 3)
        with_capitals = array("q")
        items: dict[str, int] = {}
        for text in texts:
            item = items.setdefault(text.item_id, len(items) + 1)
            words = [numbers.setdefault(word, len(numbers)) for word in text.words]
            # Two edges, so that no three neighbours belong to two texts.
            line.extend([*words, 0, 0])
            items_of.extend([item] * (len(words) + 2))
            with_capitals.extend(numbers[word] for word in text.capitals)
        self._size = len(numbers) + 1
        stream = np.frombuffer(line, dtype=np.int64)
        self.counts = np.bincount(stream, minlength=self._size)
        self.counts[0] //= 2
        about = np.unique(np.frombuffer(items_of, dtype=np.int64) * self._size + stream)
        self.items = np.bincount(about % self._size, minlength=self._size)
        self.items[0] = 0
        self.capitals = np.bincount(
            np.frombuffer(with_capitals, dtype=np.int64), minlength=self._size
        )
        self._pairs = _Tally(self._code(stream[:-1], stream[1:]))
        self._triples = _Tally(self._code(stream[:-2], stream[1:-1], stream[2:]))
        self._total = _ENGLISH_WEIGHT + int(self.counts.sum())
        zipfs = [lexicon.zipf(word) or _UNMET_ZIPF for word in numbers]
        at_large = 10 ** (np.array([*zipfs, _UNMET_ZIPF]) - lexicon.CERTAIN_ZIPF)
        self._shares = (self.counts + _ENGLISH_WEIGHT * at_large) / self._total

    def __contains__(self, word: str) -> bool:
        return word in self._numbers

    def words(self) -> Iterable[str]:
        """Every word that was written, once."""
        return (word for word in self._numbers if word)

    def number(self, word: str) -> int:
        """The number of a word; all words that were never written share one."""
        return self._numbers.get(word, self._size - 1)

    def numbers(self, words: Iterable[str]) -> list[int]:
        """The numbers of words, in order."""
        strange = self._size - 1
        return [self._numbers.get(word, strange) for word in words]

    def about(self, word: str) -> int:
        """About how many items workers wrote a word."""
        return int(self.items[self.number(word)])

    def capital_share(self, word: str) -> float:
        """The share of a word's occurrences that have a capital inside a text."""
        number = self.number(word)
        return float(self.capitals[number] / max(1, int(self.counts[number])))

    def log_share(self, word: str) -> float:
        """Natural logarithm of a word's share of all words, here and at large."""
        zipf = lexicon.zipf(word) or _UNMET_ZIPF
        at_large = _ENGLISH_WEIGHT * 10 ** (zipf - lexicon.CERTAIN_ZIPF)
        return math.log((int(self.counts[self.number(word)]) + at_large) / self._total)

    def shares(self, words: Ints) -> Floats:
        """The share of each of the campaign's words of all, here and at large."""
        shares: Floats = self._shares[words]
        return shares

    def pairs(self, left: Ints, right: Ints) -> Ints:
        """How often two words stand side by side."""
        return self._pairs.of(self._code(left, right))

    def triples(self, left: Ints, middle: Ints, right: Ints) -> Ints:
        """How often three words stand side by side."""
        return self._triples.of(self._code(left, middle, right))

    def follows(self, before: Ints, word: Ints, log_share: Floats) -> Floats:
        """Probability of words after one other.

        Args:
            before: the word before each.
            word: the words.
            log_share: of the words, by which chance is told (`log_share`).
        """
        by_chance = _NEIGHBOUR_WEIGHT * np.exp(log_share)
        together = self.pairs(before, word) + by_chance
        result: Floats = together / (self.counts[before] + _NEIGHBOUR_WEIGHT)
        return result

    def follows_two(
        self, far: Ints, before: Ints, word: Ints, log_share: Floats
    ) -> Floats:
        """Probability of words after two others; `far` stands before `before`."""
        expected = _PAIR_WEIGHT * self.follows(before, word, log_share)
        together = self.triples(far, before, word) + expected
        result: Floats = together / (self.pairs(far, before) + _PAIR_WEIGHT)
        return result

    def _code(self, *words: Ints) -> Ints:
        code = words[0].astype(np.int64)
        for numbers in words[1:]:
            code = code * self._size + numbers
        return code


class _Tally:
    """How often each code occurs, looked up for many codes at once."""

    def __init__(self, codes: Ints) -> None:
        self._codes, self._counts = np.unique(codes, return_counts=True)

    def of(self, codes: Ints) -> Ints:
        at = np.minimum(np.searchsorted(self._codes, codes), len(self._codes) - 1)
        counts: Ints = np.where(self._codes[at] == codes, self._counts[at], 0)
        return counts
