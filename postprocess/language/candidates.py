"""Generate candidates for the word that was meant.

Generators: typing errors (words within two edits, three for long words), sound (words that
sound alike), spaces (two words without the space between them, also with one more typing
error), and the campaign (its own words that are in no list). The channel and word frequency
then select the likeliest.

pyspellchecker finds words within two edits by generating every string two edits away, which
takes a third of a second per word. Comparing with all words of about the same length takes
about a millisecond. The key of a sound is rough: people who cannot spell a word write what
they hear.
"""

import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain

import numpy as np
import numpy.typing as npt
from rapidfuzz import process
from rapidfuzz.distance import OSA

from piecework.postprocess.language import lexicon
from piecework.postprocess.language.channel import OUT_OF_REACH, Channel
from piecework.postprocess.language.corpus import Corpus
from piecework.postprocess.language.lexicon import (
    begins_compounds,
    ends_compounds,
    is_spelling_variant,
)

_PRICED = 36
"""The number of candidates priced with the channel."""

_AT_ONCE = 256
"""The number of words looked up at once; bounds the tables to about 20 MB."""

_KEPT = 16
"""The number of candidates rated in context; the right one ranks lower in 1 of 100."""

_NATS_A_SPLIT = 3.0
_PART_ZIPF = 3.0
_LONG_PART_ZIPF = 1.5
_LONG_PART = 5
_ONE_LETTER_WORDS = frozenset("a")

_FUNCTION_ZIPF = 6.0
"""Two words that are both rarer than this may be a compound (`policeperson`). They are
a candidate only if the campaign has the pair."""

_SHORTEST_EDITED = 6
_SHORTEST_EDITED_PART = 3
_EDITED_KEPT = 3
_EDITED_ITEMS = 2
"""Two words with a typing error are candidates if the campaign has the pair, and both
words for this many items."""

_SHORTEST_OWN = 5
_LONGEST_OWN = 30
"""Longer words are not considered, because dropping each letter would take too long."""

_OWN_ITEMS = 2
_OWN_ZIPF = 1.2
"""An unlisted word is a candidate if it was written about this many items, or is this
common on the web."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A word that may have been meant, or two separated by a space.

    Attributes:
        price: its cost in the channel, in nats; 0 for two words without a typing error.
    """

    meant: str
    price: float


def candidates(
    words: Iterable[str], corpus: Corpus, channel: Channel
) -> dict[str, list[Candidate]]:
    """Return the candidates for each word, the likeliest first."""
    wanted = sorted(set(words))
    _look_up([word for word in wanted if word not in channel.known], channel)
    own = _of_campaign(wanted, corpus, channel)
    edited = _edited_splits(wanted, corpus, channel)
    return {
        word: [
            *_kept(
                [
                    *zip(*channel.known[word], strict=True),
                    *own.get(word, ()),
                    *_split(word, corpus),
                ],
                corpus,
                _KEPT,
            ),
            *_kept(edited.get(word, ()), corpus, _EDITED_KEPT),
        ]
        for word in wanted
    }


def _of_campaign(
    words: Sequence[str], corpus: Corpus, channel: Channel
) -> dict[str, list[tuple[str, float]]]:
    """Return candidates that are in no list but were written by others.

    A candidate must occur with more items, or be more common, than the word. So
    corrections are never reversed.
    """
    own = _own_words(corpus)
    short = [word for word in words if len(word) <= _LONGEST_OWN + 1]
    pairs = sorted(
        (word, meant)
        for word, meant in one_edit_apart(short, own)
        if _commonness(meant, corpus) > _commonness(word, corpus)
        and not is_spelling_variant(word, meant)
    )
    candidates: defaultdict[str, list[tuple[str, float]]] = defaultdict(list)
    for (word, meant), price in zip(pairs, channel.recall(pairs), strict=True):
        if price < OUT_OF_REACH:
            candidates[word].append((meant, price))
    return candidates


@lru_cache(maxsize=1)
def _own_words(corpus: Corpus) -> Sequence[str]:
    """Cached, because the texts of a campaign are processed in parts."""
    return [word for word in corpus.words() if _is_own(word, corpus)]


def _is_own(word: str, corpus: Corpus) -> bool:
    return (
        _SHORTEST_OWN <= len(word) <= _LONGEST_OWN
        and "'" not in word
        and lexicon.may_be_typo(word)
        and (corpus.about(word) >= _OWN_ITEMS or lexicon.zipf(word) >= _OWN_ZIPF)
    )


def _commonness(word: str, corpus: Corpus) -> tuple[int, float]:
    return corpus.about(word), lexicon.zipf(word)


def _look_up(words: Sequence[str], channel: Channel) -> None:
    """Let the channel cache the prices of the candidates for each word.

    This takes most of the time and does not depend on the campaign.
    """
    by_length = sorted(words, key=len)  # words of one length are compared together
    for at in range(0, len(words), _AT_ONCE):
        some = targets().likeliest(by_length[at : at + _AT_ONCE], _PRICED)
        ranked = {
            word: [meant for meant in likely if _may_be_meant(word, meant)]
            for word, likely in some.items()
        }
        pairs = [(word, meant) for word, likely in ranked.items() for meant in likely]
        prices = iter(channel.price(pairs).tolist() if pairs else ())
        for word, likely in ranked.items():
            all_priced = [(meant, next(prices)) for meant in likely]
            priced = [pair for pair in all_priced if pair[1] < OUT_OF_REACH]
            # An array takes a sixth of the memory of a list of pairs.
            channel.known[word] = (
                tuple(meant for meant, _ in priced),
                array("f", (price for _, price in priced)),
            )


def _may_be_meant(word: str, meant: str) -> bool:
    return lexicon.is_surely_right(meant) and not is_spelling_variant(word, meant)


def _split(word: str, corpus: Corpus) -> list[tuple[str, float]]:
    return [
        (meant, 0.0)
        for meant in splits(word)
        if not _may_be_compound(*meant.split(" ")) or _has_pair(meant, corpus)
    ]


def _may_be_compound(head: str, tail: str) -> bool:
    """Return whether English has compounds with this beginning and with this end."""
    return (
        max(lexicon.zipf(head), lexicon.zipf(tail)) < _FUNCTION_ZIPF
        and begins_compounds(head) > 0
        and ends_compounds(tail) > 0
    )


def _has_pair(meant: str, corpus: Corpus) -> bool:
    head, tail = corpus.numbers(meant.split(" "))
    return bool(corpus.pairs(np.array([head]), np.array([tail]))[0])


def _edited_splits(
    words: Sequence[str], corpus: Corpus, channel: Channel
) -> dict[str, list[tuple[str, float]]]:
    """Return pairs of the campaign that lost their space and have one typing error."""
    cuts = [
        (word, word[:cut], word[cut:])
        for word in words
        if _SHORTEST_EDITED <= len(word) <= _LONGEST_OWN
        for cut in range(2, len(word) - 1)
    ]
    usual = [word for word in corpus.words() if _is_usual(word, corpus)]
    as_typed = frozenset(usual)
    parts = {tail for _, head, tail in cuts if head in as_typed}
    parts |= {head for _, head, tail in cuts if tail in as_typed}
    near: defaultdict[str, list[str]] = defaultdict(list)
    for part, other in one_edit_apart(
        sorted(part for part in parts if len(part) >= _SHORTEST_EDITED_PART), usual
    ):
        near[part].append(other)
    rows = sorted(
        {
            (word, part, other, head, tail)
            for word, typed_head, typed_tail in cuts
            for part, other, head, tail in (
                *(
                    (typed_tail, other, typed_head, other)
                    for other in near.get(typed_tail, ())
                    if typed_head in as_typed
                ),
                *(
                    (typed_head, other, other, typed_tail)
                    for other in near.get(typed_head, ())
                    if typed_tail in as_typed
                ),
            )
            if head + tail != word
        }
    )
    met = corpus.pairs(
        corpus.numbers([head for *_, head, _ in rows]), corpus.numbers([tail for *_, tail in rows])
    )
    rows = [row for row, n in zip(rows, met.tolist(), strict=True) if n]
    prices = channel.recall([(part, other) for _, part, other, *_ in rows])
    candidates: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for (word, _, _, head, tail), price in zip(rows, prices, strict=True):
        if price < OUT_OF_REACH:
            of_word = candidates[word]
            meant = f"{head} {tail}"
            of_word[meant] = min(price, of_word.get(meant, price))
    return {word: [*of_word.items()] for word, of_word in candidates.items()}


def _is_usual(word: str, corpus: Corpus) -> bool:
    return (
        len(word) > 1
        and corpus.about(word) >= _EDITED_ITEMS
        and lexicon.zipf(word) >= _PART_ZIPF
        and lexicon.is_surely_right(word)
    )


def splits(word: str) -> Iterator[str]:
    """Yield the ways to split a word into two common ones.

    Two equal words do not count: `aa` is an extra `a`.

    >>> list(splits("ontop")), list(splits("teapott")), list(splits("aa"))
    (['on top'], [], [])
    """
    for cut in range(1, len(word)):
        parts = (word[:cut], word[cut:])
        if parts[0] != parts[1] and all(map(_may_be_a_part, parts)):
            yield " ".join(parts)


def _may_be_a_part(word: str) -> bool:
    if len(word) == 1:
        return word in _ONE_LETTER_WORDS
    least = _PART_ZIPF if len(word) < _LONG_PART else _LONG_PART_ZIPF
    return lexicon.zipf(word) >= least and lexicon.is_surely_right(word)


def _kept(priced: Sequence[tuple[str, float]], corpus: Corpus, most: int) -> list[Candidate]:
    promises = {
        meant: sum(map(corpus.log_share, meant.split(" ")))
        - (_NATS_A_SPLIT if " " in meant else price)
        for meant, price in priced
    }
    order = sorted(priced, key=lambda each: (-promises[each[0]], each[0]))
    return [Candidate(meant=meant, price=price) for meant, price in order[:most]]


def forget_texts() -> None:
    """Clear what is cached about texts."""
    _own_words.cache_clear()


Ints = npt.NDArray[np.int64]

_NEAR = 2
_LONG = 7
_MOST_EDITS_HEARD = 5

_NATS_A_ZIPF = 1.6
_NATS_AN_EDIT = 4.0
_NATS_ALIKE = 3.0


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


_HEARD = (
    ("'", ""), ("ph", "f"), ("ght", "t"), ("wh", "w"), ("tch", "ch"), ("sc", "s"),
    ("ce", "se"), ("ci", "si"), ("cy", "sy"), ("z", "s"), ("ck", "k"), ("ch", "x"),
    ("c", "k"), ("q", "k"), ("dg", "j"), ("ge", "je"), ("gi", "ji"), ("gy", "jy"),
)  # fmt: skip
"""A simplified version of Philips' Metaphone (1990), which keeps the consonants
heard."""

_FIRST_VOWEL = re.compile(r"^[aeiouy]", re.MULTILINE)
_SILENT = re.compile(r"(?<=[^\n])[aeiouyhw]+")
_DOUBLED = re.compile(r"(.)\1+")


@lru_cache(maxsize=50_000)
def sound(word: str) -> str:
    """Return the first letter and, roughly, the consonants heard after it.

    >>> sound("hefeweizen") == sound("hefewiezen"), sound("frisbie")
    (True, 'frsb')
    """
    return sounds([word])[0]


def sounds(words: Sequence[str]) -> list[str]:
    """Return the key of each word, in a third of the time of a call for each.

    The words have no line breaks.

    >>> sounds(["phone", "aunt", ""]), sounds([])
    (['fn', 'ant', ''], [])
    """
    if not words:
        return []
    lines = "\n".join(words)
    for written, heard in _HEARD:
        lines = lines.replace(written, heard)
    lines = _FIRST_VOWEL.sub("a", lines)
    lines = _SILENT.sub("", lines)
    return _DOUBLED.sub(r"\1", lines).split("\n")
