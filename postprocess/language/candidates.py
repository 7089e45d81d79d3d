"""Generate candidates for the word that was meant.

Generators: typing errors (words within two edits, three for long words), sound (words
that sound alike), spaces (two words without the space between them, also with one more
typing error), and the campaign (its own words that are in no list). The channel and
word frequency then select the likeliest.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from piecework.postprocess.language import lexicon
from piecework.postprocess.language.channel import OUT_OF_REACH, Channel
from piecework.postprocess.language.corpus import Corpus
from piecework.postprocess.language.one_edit import one_edit_apart
from piecework.postprocess.language.targets import targets
from piecework.postprocess.language.word_shapes import (
    begins_compounds,
    ends_compounds,
    is_spelling_variant,
)

_PRICED = 36
"""The number of candidates priced with the channel."""

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
                [*channel.known[word], *own.get(word, ()), *_split(word, corpus)], corpus, _KEPT
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
