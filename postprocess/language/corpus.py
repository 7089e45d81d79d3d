"""What the campaign's own texts say: how often words, neighbours and items occur.

A campaign has its own English: `frisbee` follows `a red` here, and a word that people
wrote about many pictures is no slip. Where the campaign is small, wordfreq's counts of
English at large weigh in instead.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from postprocess.language import lexicon
from postprocess.language.tokens import Word

EDGE = ""
"""Stands for the beginning and the end of a text among its neighbours."""

_ENGLISH_WEIGHT = 5_000
"""English at large counts like this many words of the campaign."""

_NEIGHBOUR_WEIGHT = 50
"""Chance counts like this many meetings: a neighbour met less tells little."""

_UNMET_ZIPF = 0.5


class Corpus:
    """Counts over texts, each given as its item's id and its words.

    Attributes:
        counts: how often a word occurs.
        items: about how many items somebody wrote it.
    """

    def __init__(self, texts: Iterable[tuple[str, Sequence[Word]]]) -> None:
        self.counts: Counter[str] = Counter()
        self.items: Counter[str] = Counter()
        self._capitals: Counter[str] = Counter()
        self._pairs: Counter[tuple[str, str]] = Counter()
        self._about: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for item_id, found in texts:
            words = [each.word for each in found]
            self.counts.update(words)
            self.counts[EDGE] += 1
            self._capitals.update(w.word for w in found if w.start and w.is_capital)
            self._pairs.update(zip([EDGE, *words], [*words, EDGE], strict=True))
            self._about[item_id].update(set(words))
        for about in self._about.values():
            self.items.update(about.keys())
        self._total = self.counts.total() + _ENGLISH_WEIGHT

    def log_share(self, word: str) -> float:
        """Natural logarithm of a word's share of all words, here and at large."""
        zipf = lexicon.zipf(word) or _UNMET_ZIPF
        at_large = _ENGLISH_WEIGHT * 10 ** (zipf - lexicon.CERTAIN_ZIPF)
        return math.log((self.counts[word] + at_large) / self._total)

    def fits_after(self, left: str, word: str) -> float:
        """Logarithm of how much more often `word` follows `left` than by chance."""
        return self._fit(word, beside=left, together=self._pairs[left, word])

    def fits_before(self, word: str, right: str) -> float:
        """The same for a word and the one it stands before."""
        return self._fit(word, beside=right, together=self._pairs[word, right])

    def texts_about(self, item_id: str, word: str) -> int:
        """How many texts about an item hold a word."""
        return self._about[item_id][word] if item_id in self._about else 0

    def capital_share(self, word: str) -> float:
        """The share of a word's occurrences that have a capital inside a text."""
        return self._capitals[word] / max(1, self.counts[word])

    def _fit(self, word: str, *, beside: str, together: int) -> float:
        share = math.exp(self.log_share(word))
        by_chance = (self.counts[beside] + _NEIGHBOUR_WEIGHT) * share
        return math.log((together + _NEIGHBOUR_WEIGHT * share) / by_chance)
