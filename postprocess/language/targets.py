"""Find the words similar to a typed one, and the likeliest among them.

pyspellchecker finds words within two edits by generating every string two edits away,
which takes a third of a second per word. Comparing with all words of about the same
length takes about a millisecond.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import chain

import numpy as np
import numpy.typing as npt
from rapidfuzz import process
from rapidfuzz.distance import OSA

from piecework.postprocess.language import lexicon
from piecework.postprocess.language.sounds import sound, sounds

Ints = npt.NDArray[np.int64]

_NEAR = 2
_LONG = 7
_MOST_EDITS_HEARD = 5

_NATS_A_ZIPF = 1.6
_NATS_AN_EDIT = 4.0
_NATS_ALIKE = 3.0

_AT_ONCE = 256
"""The number of words compared at once; bounds the table to about 20 MB."""


class Targets:
    """All words that a typo may be corrected to, with a search by typed word.

    An edit adds, drops or replaces a letter, or swaps two neighbours (optimal string
    alignment). A word is near if it is within two edits (three for long words), or
    sounds alike and is within five.
    """

    def __init__(self, by_length: Mapping[int, Sequence[str]]) -> None:
        """Number the words by length and alphabet, and group them by sound."""
        lengths = sorted(by_length)
        self._words = list(chain.from_iterable(by_length[n] for n in lengths))
        self._lengths = np.array([len(word) for word in self._words], dtype=np.int64)
        self._zipfs = np.array([lexicon.zipf(word) for word in self._words])
        self._alike: defaultdict[str, list[int]] = defaultdict(list)
        for n, heard in enumerate(sounds(self._words)):
            self._alike[heard].append(n)
        self._groups = np.zeros(len(self._words), dtype=np.int64)
        for group in self._alike.values():
            self._groups[group] = group[0]

    def near(self, words: Iterable[str]) -> dict[str, dict[str, int]]:
        """Return the words near each word, with their distance in edits."""
        return {
            word: {
                self._words[n]: distance
                for n, distance in zip(which.tolist(), edits.tolist(), strict=True)
            }
            for word, which, edits in self._near(words)
        }

    def likeliest(self, words: Iterable[str], most: int) -> dict[str, list[str]]:
        """Return the `most` likeliest words near each word, the best first.

        A word is likely if it is common, few edits away and sounds alike.
        """
        ranked_words = {}
        for word, which, edits in self._near(words):
            promises = (
                _NATS_A_ZIPF * self._zipfs[which]
                - _NATS_AN_EDIT * edits
                + _NATS_ALIKE * (self._groups[which] == self._group(word))
            )
            good = np.arange(len(which))
            if len(which) > most:
                # Include all ties with the last one, so that the alphabet decides.
                good = np.flatnonzero(promises >= np.partition(promises, -most)[-most])
            both = zip(which[good].tolist(), promises[good].tolist(), strict=True)
            ranked = sorted((-promise, self._words[n]) for n, promise in both)
            ranked_words[word] = [meant for _, meant in ranked[:most]]
        return ranked_words

    def _near(self, words: Iterable[str]) -> Iterator[tuple[str, Ints, Ints]]:
        """Yield each word, the numbers of the words near it, and their distances."""
        by_length: defaultdict[int, list[str]] = defaultdict(list)
        for word in sorted(set(words)):
            by_length[len(word)].append(word)
        for length, group in by_length.items():
            most = _NEAR + (length >= _LONG)
            low, high = np.searchsorted(self._lengths, [length - most, length + most + 1]).tolist()
            pool = self._words[low:high]
            for at in range(0, len(group), _AT_ONCE):
                some = group[at : at + _AT_ONCE]
                table = process.cdist(
                    some, pool, scorer=OSA.distance, score_cutoff=most, dtype=np.uint8
                )
                for word, row in zip(some, table, strict=True):
                    which = np.flatnonzero(row <= most)
                    heard = self._heard(word, frozenset((which + low).tolist()))
                    yield (
                        word,
                        np.concatenate([which + low, heard[:, 0]]),
                        np.concatenate([row[which], heard[:, 1]]),
                    )

    def _heard(self, word: str, others: AbstractSet[int]) -> Ints:
        """Return the words that only sound alike and their distances, a row each."""
        heard = [
            (n, edits)
            for n in self._alike.get(sound(word), ())
            if n not in others
            and (edits := OSA.distance(word, self._words[n])) <= _MOST_EDITS_HEARD
        ]
        return np.array(heard, dtype=np.int64).reshape(-1, 2)

    def _group(self, word: str) -> int:
        return self._alike.get(sound(word), (-1,))[0]


@cache
def targets() -> Targets:
    """Return the targets of the lexicon."""
    return Targets(lexicon.targets())
