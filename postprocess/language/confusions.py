"""Find real words used by mistake: `form` for `from`.

Only the context can show it. So a word is doubtful if no other text has it between the
same two neighbours, while others have a word there that looks or sounds similar. Only
words that are frequent in the campaign are considered.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, compress, pairwise

import numpy as np
from rapidfuzz.distance import OSA

from piecework.postprocess.language import features as language_features
from piecework.postprocess.language import lexicon
from piecework.postprocess.language.candidates import one_edit_apart, sound
from piecework.postprocess.language.channel import Channel
from piecework.postprocess.language.codes import Ints
from piecework.postprocess.language.corpus import EDGE, MET, Corpus, Floats, word_counts_by_item
from piecework.postprocess.language.lexicon import is_spelling_variant
from piecework.postprocess.language.tokens import Text, place, words

NAMES = (
    "instead", "channel", "commoner", "fits_after", "fits_before", "fits_far_after",
    "between", "between_share", "left_met", "right_met", "same_item",
    "again_about_item", "short", "ending", "word_items", "english_unknown",
    "english_other_unknown", "english_after", "english_before", "english_far_after",
)  # fmt: skip
"""The features for the other word; leaving the word has the sum 0."""

_OF_ITEM = [NAMES.index("same_item"), NAMES.index("again_about_item")]
"""The features from the other texts about the item."""

_ENGLISH = [n for n, name in enumerate(NAMES) if name.startswith("english")]

_WORTH_ENGLISH = 4.0
"""English is consulted only if the other features are at most this many nats against a
word; otherwise it changed none of the labelled places."""

_LEAST_ITEMS = 5
"""The approximate number of items a word must be written about to be considered."""

_WORDS_AT_ONCE = 200_000
"""The number of words of the texts processed at once, which bounds all tables."""

_AT_ONCE = 5_000
"""The number of places processed at once, with dozens of rows of other words each."""

_MOST_EDITS_HEARD = 2
_SHORT = 3
_NEIGHBOUR_WEIGHT = 20.0
_PAIR_WEIGHT = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubts:
    """Places where another word fits better, a row per place and other word.

    Attributes:
        text: the index of the text; `at`: the index of the word in it.
        first: the row at which each place begins, and finally the end.
        meant: the other word.
        features: a column for each of `NAMES`.
    """

    text: Ints
    at: Ints
    first: Ints
    meant: Sequence[str]
    features: Floats


def doubts(
    texts: Sequence[Text], corpus: Corpus, channel: Channel, weights: Floats | None = None
) -> Doubts:
    """Return the doubtful places, in order of texts, words and other words.

    Args:
        texts: all texts about each of their items.
        corpus: the counts of these texts, and of all others of the campaign.
        channel: the cost of slips.
        weights: leave out places where, by these weights of `NAMES`, no other word can
            be likelier than the written one.
    """
    alike = _alike(corpus, channel)
    pieces = [
        _doubts(texts[start:end], start, alike, corpus, weights)
        for start, end in pairwise(_ends(texts))
    ]
    owner, at, meant, features = zip(*pieces, strict=True)
    of_text, of_word, others = np.concatenate(owner), np.concatenate(at), [*chain(*meant)]
    rows = np.concatenate(features)
    rows[:, _OF_ITEM] = _of_item(texts, of_text, of_word, others)
    is_first = (np.diff(of_text, prepend=-1) != 0) | (np.diff(of_word, prepend=-1) != 0)
    return Doubts(
        text=of_text,
        at=of_word,
        first=np.append(np.flatnonzero(is_first), len(rows)),
        meant=others,
        features=rows,
    )


def _ends(texts: Sequence[Text]) -> list[int]:
    """Return where each piece of the texts begins, and finally the end."""
    words_so_far = np.cumsum([0, *(len(text.words) for text in texts)])
    fresh = np.flatnonzero(np.diff(words_so_far[:-1] // _WORDS_AT_ONCE)) + 1
    return [0, *fresh.tolist(), len(texts)]


def _doubts(
    texts: Sequence[Text], start: int, alike: "_Alike", corpus: Corpus, weights: Floats | None
) -> tuple[Ints, Ints, Sequence[str], Floats]:
    """Return columns of `Doubts` for texts from `start` on, without `_OF_ITEM`."""
    line, owner, at = _line(texts, corpus)
    places = np.flatnonzero((alike.sizes[line] > 0) & (owner >= 0))
    rows, other = _likely(_alone(places, line, corpus), line, alike, corpus)
    features = np.column_stack(
        [
            np.ones(len(rows)),
            alike.prices[other],
            *_fits(line, rows, alike.others[other], corpus),
            *np.zeros((len(_OF_ITEM), len(rows))),
            alike.are_short[other],
            alike.are_endings[other],
            np.log(np.maximum(corpus.items[line[rows]], 1)),
            *np.zeros((len(_ENGLISH), len(rows))),
        ]
    ).reshape(-1, len(NAMES))
    best = 0.0 if weights is None else float(weights[_OF_ITEM].clip(0).sum())
    if weights is not None:
        are_kept = features @ weights + best >= -_WORTH_ENGLISH
        rows, other, features = rows[are_kept], other[are_kept], features[are_kept]
    meant = [alike.names[n] for n in other.tolist()]
    features[:, _ENGLISH] = _in_english(texts, owner[rows], at[rows], meant)
    if weights is not None:
        are_kept = np.isin(rows, rows[features @ weights + best >= 0])
        rows, features = rows[are_kept], features[are_kept]
        meant = [*compress(meant, are_kept.tolist())]
    return start + owner[rows], at[rows], meant, features


def _alone(places: Ints, line: Ints, corpus: Corpus) -> Ints:
    """Return the places with a word that no other text has between these two."""
    before, word, after = line[places - 1], line[places], line[places + 1]
    may_be_met = corpus.may_be_met(before, word, after)
    is_alone = ~may_be_met
    is_alone[may_be_met] = (
        corpus.triples(before[may_be_met], word[may_be_met], after[may_be_met]) < MET
    )
    return places[is_alone]


def _likely(places: Ints, line: Ints, alike: "_Alike", corpus: Corpus) -> tuple[Ints, Ints]:
    """Return places and the words that others wrote there, a row each."""
    # In parts: a place has dozens of other words, but hardly any remain.
    pieces = np.array_split(places, len(places) // _AT_ONCE + 1)
    met_pairs = [_met(piece, line, alike, corpus) for piece in pieces]
    rows, others = zip(*met_pairs, strict=True)
    return np.concatenate(rows), np.concatenate(others)


def _met(places: Ints, line: Ints, alike: "_Alike", corpus: Corpus) -> tuple[Ints, Ints]:
    rows, other = alike.expanded(places, line)
    meant = alike.others[other]
    may_be = corpus.may_be_pairs(line[rows - 1], meant)
    rows, other, meant = rows[may_be], other[may_be], meant[may_be]
    may_be = corpus.may_be_pairs(meant, line[rows + 1])
    rows, other, meant = rows[may_be], other[may_be], meant[may_be]
    far, before, after, far_after = (line[rows + n] for n in (-2, -1, 1, 2))
    may_be = corpus.may_be_met(before, meant, after)
    may_be |= corpus.may_be_met(far, before, meant)
    may_be |= corpus.may_be_met(meant, after, far_after)
    rows, other, meant = rows[may_be], other[may_be], meant[may_be]
    far, before, after, far_after = (line[rows + n] for n in (-2, -1, 1, 2))
    met = np.maximum(
        corpus.triples(before, meant, after),
        np.maximum(corpus.triples(far, before, meant), corpus.triples(meant, after, far_after)),
    )
    seldom = np.minimum(corpus.pairs(before, meant), corpus.pairs(meant, after))
    likely = (met >= MET) & (seldom > 0)
    return rows[likely], other[likely]


def is_ordinary(text: Text, at: int) -> bool:
    """Return whether a word of a text may be changed at all."""
    word = words(text.text)[at]
    where = place(text.text, word)
    is_special = where.is_fixed or where.is_name_like or where.is_hyphened
    return not is_special and word.word not in text.protected


@lru_cache(maxsize=1)
def _alike(corpus: Corpus, channel: Channel) -> "_Alike":
    """Cached, because the texts of a campaign are processed in parts."""
    return _Alike(corpus, channel)


class _Alike:
    """The words that look or sound like each word, by word number."""

    def __init__(self, corpus: Corpus, channel: Channel) -> None:
        known = sorted(filter(_is_plain, corpus.words()))
        common = [word for word in known if corpus.about(word) >= _LEAST_ITEMS]
        pairs = sorted(_pairs(known, common), key=lambda pair: (corpus.number(pair[0]), pair[1]))
        self.names = [other for _, other in pairs]
        self.prices = channel.price(pairs).astype(np.float64)
        self.are_short = np.array([len(word) <= _SHORT for word, _ in pairs])
        self.are_endings = np.array(
            [word.removesuffix("s") == other.removesuffix("s") for word, other in pairs]
        )
        self.others = corpus.numbers(self.names)
        owners = corpus.numbers([word for word, _ in pairs])
        self.sizes = np.bincount(owners, minlength=len(corpus.counts))
        self._starts = np.cumsum(self.sizes) - self.sizes

    def expanded(self, places: Ints, line: Ints) -> tuple[Ints, Ints]:
        """Return each place repeated for every other word, and that word."""
        sizes = self.sizes[line[places]]
        rows = np.repeat(places, sizes)
        first = np.repeat(np.cumsum(sizes) - sizes, sizes)
        starts = np.repeat(self._starts[line[places]], sizes)
        return rows, starts + np.arange(len(rows)) - first


def _is_plain(word: str) -> bool:
    return (
        word.isascii()
        and word.replace("'", "").isalpha()
        and (len(word) > 1 or word == "a")
        and lexicon.is_known(word)
    )


def _pairs(words: Sequence[str], others: Sequence[str]) -> Sequence[tuple[str, str]]:
    """Return pairs of words one edit apart, or two apart and alike in sound."""
    pairs = set(one_edit_apart(words, others))
    by_sound: defaultdict[str, list[str]] = defaultdict(list)
    for other in others:
        by_sound[sound(other)].append(other)
    for word in words:
        for other in by_sound.get(sound(word), ()):
            if OSA.distance(word, other) <= _MOST_EDITS_HEARD:
                pairs.add((word, other))
    return [
        (word, other)
        for word, other in pairs
        if word != other and not is_spelling_variant(word, other)
    ]


def _line(texts: Sequence[Text], corpus: Corpus) -> tuple[Ints, Ints, Ints]:
    """Return word numbers, with two edges between texts, and their positions."""
    with_edges = ((*text.words, EDGE, EDGE) for text in texts)
    line = [EDGE] * 2 + list(chain.from_iterable(with_edges))
    lengths = np.array([len(text.words) + 2 for text in texts], dtype=np.int64)
    starts = 2 + np.cumsum(lengths) - lengths
    owner = np.full(len(line), -1)
    owner[2:] = np.repeat(np.arange(len(texts)), lengths)
    at = np.arange(len(line))
    at[2:] -= np.repeat(starts, lengths)
    ends = starts + lengths
    owner[ends - 1] = owner[ends - 2] = -1
    return corpus.numbers(line), owner, at


def _fits(line: Ints, rows: Ints, other: Ints, corpus: Corpus) -> Iterable[Floats]:
    """Yield how much better the other word fits, not counting this occurrence."""
    far, before, word, after, far_after = (line[rows + n] for n in (-2, -1, 0, 1, 2))
    share, other_share = corpus.shares(word), corpus.shares(other)

    def follows(left: Ints, right: Ints, part: Floats, own: int, base: int) -> Floats:
        chance = _NEIGHBOUR_WEIGHT * part
        whole = corpus.counts[left] - base + _NEIGHBOUR_WEIGHT
        result: Floats = (corpus.pairs(left, right) - own + chance) / whole
        return result

    def far_follows(
        left: Ints, middle: Ints, right: Ints, part: Floats, own: int, base: int
    ) -> Floats:
        expected = _PAIR_WEIGHT * follows(middle, right, part, own, base)
        whole = corpus.pairs(left, middle) - base + _PAIR_WEIGHT
        result: Floats = np.log((corpus.triples(left, middle, right) - own + expected) / whole)
        return result

    next_share, far_share = corpus.shares(after), corpus.shares(far_after)
    between = corpus.triples(before, other, after)
    alone = corpus.triples(before, word, after) - 1
    yield np.log(other_share) - np.log(share)
    yield far_follows(far, before, other, other_share, 0, 1) - far_follows(
        far, before, word, share, 1, 1
    )
    yield far_follows(before, other, after, next_share, 0, 0) - far_follows(
        before, word, after, next_share, 1, 1
    )
    yield far_follows(other, after, far_after, far_share, 0, 0) - far_follows(
        word, after, far_after, far_share, 1, 1
    )
    yield np.log1p(between) - np.log1p(alone)
    yield np.log1p(between) - np.log1p(corpus.counts[other])
    yield np.log1p(np.maximum(0, corpus.pairs(before, word) - 1))
    yield np.log1p(np.maximum(0, corpus.pairs(word, after) - 1))


def _in_english(texts: Sequence[Text], owner: Ints, at: Ints, meant: Sequence[str]) -> Floats:
    """Return how much better the other word fits in general English.

    It is 0 if one of the two is unknown there; also return which one is.
    """
    features = np.zeros((len(owner), len(_ENGLISH)))
    place, own = (-1, -1), language_features.UNKNOWN
    for row, (n, position) in enumerate(zip(owner.tolist(), at.tolist(), strict=True)):
        line = texts[n].words
        far, before, word, after, far_after = (
            line[near] if 0 <= near < len(line) else EDGE
            for near in range(position - 2, position + 3)
        )
        if place != (n, position):
            own = language_features.fits((far, before), word, (after, far_after))
            place = (n, position)
        other = language_features.fits((far, before), meant[row], (after, far_after))
        if own[0] or other[0]:
            features[row, :2] = own[0], other[0]
        else:
            features[row, 2:] = np.subtract(other, own)[2:5]
    return features


def _of_item(texts: Sequence[Text], owner: Ints, at: Ints, meant: Sequence[str]) -> Floats:
    """Return whether other texts about the item have the other word, and this one."""
    about = word_counts_by_item({texts[n].item_id for n in set(owner.tolist())}, texts)
    features = np.zeros((len(owner), len(_OF_ITEM)))
    for row, (n, position) in enumerate(zip(owner.tolist(), at.tolist(), strict=True)):
        counts = about[texts[n].item_id]
        has_other = counts.get(meant[row], 0) > 0
        features[row] = has_other, counts.get(texts[n].words[position], 0) > 1
    return features


def forget_texts() -> None:
    """Clear what is cached about texts."""
    _alike.cache_clear()
