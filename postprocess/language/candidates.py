"""Which words may have been meant where another stands: from several generators.

Fingers: everything within two edits, and within three for long words. Ears: whatever
sounds alike. Spaces: two words without the space between them. Then the channel and
how common a word is leave the likeliest.

pyspellchecker finds what is within two edits by writing out every string two edits
away, a third of a second a word; comparing with all words of about the same length
takes about a millisecond.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA

from postprocess.language import lexicon
from postprocess.language.channel import Channel
from postprocess.language.corpus import Corpus
from postprocess.language.sounds import sound

_AT_ONCE = 256
"""Words compared in one go: bounds the table to some 20 MB."""

_LONG = 7
_MOST_EDITS_HEARD = 5

_PRICED = 36
"""Candidates whose way through the channel is looked at."""

_KEPT = 16
"""Candidates whose place is looked at; the right one is further down in 1 of 100."""

_NATS_A_ZIPF = 1.6
_NATS_AN_EDIT = 4.0
_NATS_ALIKE = 3.0
_NATS_A_SPLIT = 3.0
_PART_ZIPF = 3.0
_LONG_PART_ZIPF = 1.5
_LONG_PART = 5
_ONE_LETTER_WORDS = frozenset("a")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A word that may have been meant, or two with a space between them.

    Attributes:
        price: what its way through the channel costs, in nats; 0 for two words.
    """

    meant: str
    price: float


def candidates(
    words: Iterable[str], corpus: Corpus, channel: Channel
) -> dict[str, list[Candidate]]:
    """For every word what it may have been meant to be, the likeliest first."""
    wanted = sorted(set(words))
    _look_up([word for word in wanted if word not in channel.known], channel)
    return {
        word: _kept([*channel.known[word], *_split(word)], corpus) for word in wanted
    }


def _look_up(words: Sequence[str], channel: Channel) -> None:
    """Have the channel know the prices of what may be meant by each word.

    That takes most of the time, and holds whatever the campaign says.
    """
    ranked = {word: _ranked(word, edits) for word, edits in near(words).items()}
    pairs = [(word, meant) for word, likely in ranked.items() for meant in likely]
    prices = iter(channel.price(pairs).tolist() if pairs else ())
    for word, likely in ranked.items():
        channel.known[word] = [(meant, next(prices)) for meant in likely]


def _split(word: str) -> list[tuple[str, float]]:
    return [(meant, 0.0) for meant in splits(word)]


def near(words: Iterable[str]) -> dict[str, dict[str, int]]:
    """For every word the lexicon's targets that are near, and how many edits away.

    An edit is a letter too many, too few, another, or two neighbours swapped (optimal
    string alignment). Near is within two edits, three for long words, or alike in
    sound.
    """
    by_length: dict[int, list[str]] = {}
    for word in sorted(set(words)):
        by_length.setdefault(len(word), []).append(word)
    found: dict[str, dict[str, int]] = {}
    for length, group in by_length.items():
        edits = 3 if length >= _LONG else 2
        pool = [
            word
            for target_length in range(length - edits, length + edits + 1)
            for word in lexicon.targets().get(target_length, ())
        ]
        for at in range(0, len(group), _AT_ONCE):
            found |= _compared(group[at : at + _AT_ONCE], pool, edits)
    heard = _by_sound()
    for word, edits_of in found.items():
        for other in heard.get(sound(word), ()):
            distance = OSA.distance(word, other, score_cutoff=_MOST_EDITS_HEARD)
            if distance <= _MOST_EDITS_HEARD:
                edits_of.setdefault(other, distance)
    return found


def splits(word: str) -> Iterator[str]:
    """The ways to read a word as two common ones without the space between them.

    >>> list(splits("ontop")), list(splits("teapott"))
    (['on top'], [])
    """
    for cut in range(1, len(word)):
        parts = (word[:cut], word[cut:])
        if all(map(_may_be_a_part, parts)):
            yield " ".join(parts)


def _may_be_a_part(word: str) -> bool:
    if len(word) == 1:
        return word in _ONE_LETTER_WORDS
    least = _PART_ZIPF if len(word) < _LONG_PART else _LONG_PART_ZIPF
    return lexicon.zipf(word) >= least and lexicon.is_surely_right(word)


def _ranked(word: str, edits: Mapping[str, int]) -> list[str]:
    """A first guess of the likeliest, before the channel is asked."""
    heard, sounds = sound(word), target_sounds()
    promises = {
        meant: _NATS_A_ZIPF * lexicon.zipf(meant)
        - _NATS_AN_EDIT * distance
        + _NATS_ALIKE * (sounds[meant] == heard)
        for meant, distance in edits.items()
    }
    likely = sorted(promises, key=lambda meant: (-promises[meant], meant))[:_PRICED]
    return [meant for meant in likely if lexicon.is_surely_right(meant)]


def _kept(priced: Sequence[tuple[str, float]], corpus: Corpus) -> list[Candidate]:
    promises = {
        meant: sum(map(corpus.log_share, meant.split(" ")))
        - (_NATS_A_SPLIT if " " in meant else price)
        for meant, price in priced
    }
    order = sorted(priced, key=lambda each: (-promises[each[0]], each[0]))
    return [Candidate(meant=meant, price=price) for meant, price in order[:_KEPT]]


@cache
def target_sounds() -> Mapping[str, str]:
    """How each target sounds."""
    return {word: sound(word) for words in lexicon.targets().values() for word in words}


@cache
def _by_sound() -> Mapping[str, Sequence[str]]:
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for word, heard in target_sounds().items():
        alike[heard].append(word)
    return alike


def _compared(
    words: Sequence[str], pool: Sequence[str], most: int
) -> dict[str, dict[str, int]]:
    table = process.cdist(
        words, pool, scorer=OSA.distance, score_cutoff=most, dtype=np.uint8
    )
    return {
        word: {
            pool[column]: int(row[column])
            for column in np.flatnonzero(row <= most).tolist()
        }
        for word, row in zip(words, table, strict=True)
    }
