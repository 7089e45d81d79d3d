"""Which words may have been meant where another stands: from several generators.

Fingers: everything within two edits, and within three for long words. Ears: whatever
sounds alike. Spaces: two words without the space between them. The campaign: words of
its own that no list has. Then the channel and how common a word is leave the likeliest.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from piecework.postprocess.language import lexicon
from piecework.postprocess.language.channel import OUT_OF_REACH, Channel
from piecework.postprocess.language.corpus import Corpus
from piecework.postprocess.language.one_edit import one_edit_apart
from piecework.postprocess.language.targets import targets
from piecework.postprocess.language.word_shapes import is_spelling_variant

_PRICED = 36
"""Candidates whose way through the channel is looked at."""

_KEPT = 16
"""Candidates whose place is looked at; the right one is further down in 1 of 100."""

_NATS_A_SPLIT = 3.0
_PART_ZIPF = 3.0
_LONG_PART_ZIPF = 1.5
_LONG_PART = 5
_ONE_LETTER_WORDS = frozenset("a")

_SHORTEST_OWN = 5
_LONGEST_OWN = 30
"""Nobody's word is longer; of endless ones every letter would be left out once."""

_OWN_ITEMS = 2
_OWN_ZIPF = 1.2
"""A word that no list is sure of may be meant if it was written about so many items, or
is so common on the web."""


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
    own = _of_campaign(wanted, corpus, channel)
    return {
        word: _kept([*channel.known[word], *own.get(word, ()), *_split(word)], corpus)
        for word in wanted
    }


def _of_campaign(
    words: Sequence[str], corpus: Corpus, channel: Channel
) -> dict[str, list[tuple[str, float]]]:
    """What may be meant by each word that is in no list either, but that others wrote.

    Only what was written about more items, or is commoner, is meant by another: so
    nothing is changed back.
    """
    own = _own_words(corpus, corpus.changes)
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
def _own_words(corpus: Corpus, _changes: int) -> Sequence[str]:
    """Looked for once, where the texts of a campaign are looked at in parts."""
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
    """Have the channel know the prices of what may be meant by each word.

    That takes most of the time, and holds whatever the campaign says.
    """
    ranked = {
        word: [meant for meant in likely if _may_be_meant(word, meant)]
        for word, likely in targets().likeliest(words, _PRICED).items()
    }
    pairs = [(word, meant) for word, likely in ranked.items() for meant in likely]
    prices = iter(channel.price(pairs).tolist() if pairs else ())
    for word, likely in ranked.items():
        priced = [(meant, next(prices)) for meant in likely]
        channel.known[word] = [each for each in priced if each[1] < OUT_OF_REACH]


def _may_be_meant(word: str, meant: str) -> bool:
    return lexicon.is_surely_right(meant) and not is_spelling_variant(word, meant)


def _split(word: str) -> list[tuple[str, float]]:
    return [(meant, 0.0) for meant in splits(word)]


def splits(word: str) -> Iterator[str]:
    """The ways to read a word as two common ones without the space between them.

    Two words that are the same are none: `aa` is an `a` too many.

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


def _kept(priced: Sequence[tuple[str, float]], corpus: Corpus) -> list[Candidate]:
    promises = {
        meant: sum(map(corpus.log_share, meant.split(" ")))
        - (_NATS_A_SPLIT if " " in meant else price)
        for meant, price in priced
    }
    order = sorted(priced, key=lambda each: (-promises[each[0]], each[0]))
    return [Candidate(meant=meant, price=price) for meant, price in order[:_KEPT]]


def forget_texts() -> None:
    """Let go of what is remembered of texts."""
    _own_words.cache_clear()
