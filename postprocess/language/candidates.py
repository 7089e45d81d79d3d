"""Which words a typo may have been: everything within two edits, found at once.

Two edits cover nine in ten real typos. pyspellchecker finds the same candidates by
writing out every string two edits away, a third of a second a word; comparing with all
words of about the same length takes about a millisecond.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import OSA

from postprocess.language import lexicon
from postprocess.language.corpus import Corpus

_MOST_EDITS = 2
_AT_ONCE = 256
"""Words compared in one go: bounds the table to some 20 MB."""

_KEPT = 25
"""Candidates worth a closer look; the right one is further down in under 1 in 100."""

_NATS_AN_EDIT = 4.0
_NATS_A_SPLIT = 3.0
_PART_ZIPF = 3.3
_ONE_LETTER_WORDS = frozenset("a")


def candidates(words: Iterable[str], corpus: Corpus) -> dict[str, list[str]]:
    """For every word what it may have been meant to be, the likeliest first.

    Two words where a space may be missing have a space between them.
    """
    targets_of = near(words)
    return {
        word: _ranked(word, targets, corpus) for word, targets in targets_of.items()
    }


def near(words: Iterable[str]) -> dict[str, list[str]]:
    """For every word the lexicon's targets within two edits, in no order that counts.

    An edit is a letter too many, too few, another, or two neighbours swapped (optimal
    string alignment).
    """
    by_length: dict[int, list[str]] = {}
    for word in sorted(set(words)):
        by_length.setdefault(len(word), []).append(word)
    targets_of: dict[str, list[str]] = {}
    for length, group in by_length.items():
        lengths = range(length - _MOST_EDITS, length + _MOST_EDITS + 1)
        pool = [
            word
            for target_length in lengths
            for word in lexicon.targets().get(target_length, ())
        ]
        for at in range(0, len(group), _AT_ONCE):
            targets_of |= _compared(group[at : at + _AT_ONCE], pool)
    return targets_of


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
    return lexicon.zipf(word) >= _PART_ZIPF and lexicon.is_known(word)


def _ranked(word: str, targets: Iterable[str], corpus: Corpus) -> list[str]:
    promises = {
        meant: _promise(word, meant, corpus) for meant in (*targets, *splits(word))
    }
    return sorted(promises, key=lambda meant: (-promises[meant], meant))[:_KEPT]


def _promise(word: str, meant: str, corpus: Corpus) -> float:
    """A first guess of how likely a candidate is, before its place is looked at."""
    if " " in meant:
        return sum(map(corpus.log_share, meant.split(" "))) - _NATS_A_SPLIT
    return corpus.log_share(meant) - _NATS_AN_EDIT * OSA.distance(word, meant)


def _compared(words: Sequence[str], pool: Sequence[str]) -> dict[str, list[str]]:
    table = process.cdist(
        words,
        pool,
        scorer=OSA.distance,
        score_cutoff=_MOST_EDITS,
        dtype=np.uint8,
    )
    return {
        word: [pool[column] for column in np.flatnonzero(row <= _MOST_EDITS).tolist()]
        for word, row in zip(words, table, strict=True)
    }
