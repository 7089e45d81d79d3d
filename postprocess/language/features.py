"""The features for and against correcting a word, as named numbers.

Leaving the word competes with every candidate: each gets a weighted sum, and the sums
become probabilities (a conditional logit). Features of the word itself favour leaving it;
features of a candidate rate how likely that typo and that word are in this place.

A campaign's own texts show best how well words fit their neighbours (`corpus`) if there are
many of them. Otherwise the trigrams of general English in pocketsphinx, made for speech
recognition, are used: 70,000 words and three and a half million pairs and triples of them.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import distribution

import numpy as np
import numpy.typing as npt
from pocketsphinx import LogMath, NGramModel
from rapidfuzz.distance import OSA

from piecework.postprocess.language import channel, lexicon
from piecework.postprocess.language.candidates import Candidate, sound
from piecework.postprocess.language.corpus import EDGE, Corpus, Suspect
from piecework.postprocess.language.lexicon import (
    begins_compounds,
    compounding,
    ends_compounds,
    is_agent,
    is_compound,
    is_ending,
    is_inflected,
)

ENGLISH_NAMES = (
    "english_unknown", "english_share", "english_after", "english_before",
    "english_far_after", "english_inside",
)  # fmt: skip
"""In order: whether the model lacks a word (then the others are 0); the logarithm of
its share of all words; how much more often than by chance, in nats, it follows the two
words before it; the same for the next word; for the word after that; and for the second
of two words after the first."""

Fits = tuple[float, float, float, float, float, float]

_MODEL = "pocketsphinx/model/en-us/en-us.lm.bin"
UNKNOWN: Fits = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
_BEGIN, _END = "<s>", "</s>"
_REMEMBERED = 100_000


def fits(before: tuple[str, str], meant: str, after: tuple[str, str]) -> Fits:
    """Return `ENGLISH_NAMES` for a word, or two words separated by a space, in a place.

    Args:
        before: the two words before it, casefolded, `EDGE` at the text's beginning.
        meant: the candidate.
        after: the two words after it, `EDGE` at the text's end.
    """
    head, *rest = meant.split(" ")
    tail = rest[-1] if rest else head
    share, share_of_tail = _share(head), _share(tail)
    if share is None or share_of_tail is None:
        return UNKNOWN
    far, last = before[0] or _BEGIN, before[1] or _BEGIN
    following, share_of_following, far_following, known = _following(after)
    fits_before = fits_far = 0.0
    if share_of_following is not None:
        before_that = head if rest else last
        fits_before = _nats([following, tail, before_that]) - share_of_following
        if known is not None:
            fits_far = _nats([far_following, following, tail]) - known
    return (
        0.0,
        min(share, share_of_tail),
        _nats([head, last, far] if before[1] != EDGE else [head, last]) - share,
        fits_before,
        fits_far,
        _nats([tail, head, last]) - share_of_tail if rest else 0.0,
    )


@lru_cache(maxsize=_REMEMBERED // 10)
def _following(after: tuple[str, str]) -> tuple[str, float | None, str, float | None]:
    """Return the two words after a place, each with a log probability that ignores the place.

    That of the second is `None` if the text ends before it or the model lacks a word. All
    candidates for a place share them.
    """
    following, far_following = after[0] or _END, after[1] or _END
    share = _share(following)
    known = None
    if share is not None and after[0] != EDGE and _share(far_following) is not None:
        known = _nats([far_following, following])
    return following, share, far_following, known


@lru_cache(maxsize=_REMEMBERED)
def _share(word: str) -> float | None:
    """Return the logarithm of a word's share of all words; None if it is unknown."""
    model, log_math = _model()
    log = model.prob([word])
    return None if log <= log_math.get_zero() else log_math.log_to_ln(log)


def _nats(words: Sequence[str]) -> float:
    """Return a word's log probability after others, given nearest first."""
    model, log_math = _model()
    return float(log_math.log_to_ln(model.prob(words)))


@lru_cache(maxsize=1)
def _model() -> tuple[NGramModel, LogMath]:
    """Load the model once; it takes 30 MB."""
    path = distribution("pocketsphinx").locate_file(_MODEL)
    return NGramModel.readfile(str(path)), LogMath()


Floats = npt.NDArray[np.float64]
HalfFloats = npt.NDArray[np.float32]
"""Half-precision floats, because many candidates are cached for ten million texts."""
Ints = npt.NDArray[np.int64]

OF_TYPO = (
    "channel", "channel_per_letter", "one_edit", "two_edits", "more_edits",
    "sounds_alike", "first_letter", "ending", "last_letter", "plural", "new_word",
    "own_word", "zipf_meant", *channel.NAMES,
    "split", "split_edited", "split_article",
    "split_short", "split_rarer", "split_content",
    "split_function", "split_contents", "split_begins", "split_ends",
    "split_in_wordfreq",
)  # fmt: skip
"""Features that do not depend on the place; the last ones are for two words."""

OF_MEANING = (
    "log_share", "log_items", "same_item", "split_met", "split_name",
    "fits_after", "fits_before", "met_between", "met_over_one", "excess_zipf",
    "excess_items", *ENGLISH_NAMES,
)  # fmt: skip
"""The likelihood in its place, by the campaign and by general English. The excess is
how much more common the written word is than such a typo would be, in English and in
the campaign."""

OF_LEAVING = (
    "leave", "zipf", "in_wordfreq", "zipf_over_2", "log_other_items",
    "again_about_item", "capitals", "name_like", "shouted", "hyphened",
    "compound", "compounding", "inflected", "agent",
    "length", "vowelless", "apostrophe",
    "cue", "beside_name", "company",
)  # fmt: skip

FEATURE_NAMES = (*OF_TYPO, *OF_MEANING, *OF_LEAVING)

_PRICE = OF_TYPO.index("channel")
"""The first one; of two words, only this one and those for two words can differ
from 0."""

_OF_SPLITS = len(OF_TYPO) - OF_TYPO.index("split")

_CUES = frozenset(
    {
        "brand", "brands", "called", "company", "label", "labeled", "labelled", "logo",
        "marked", "named", "read", "reading", "reads", "say", "saying", "says",
        "titled", "word", "words",
    },
)  # fmt: skip
"""Words that introduce text written on things, which is copied exactly."""

_SHORT_PART = 3
_FUNCTION_ZIPF = 5.8
_SURELY_FUNCTION_ZIPF = 6.0
_MORE_EDITS = 3
_COMMON_STRANGER_ZIPF = 2.0
_NATS_A_ZIPF = math.log(10)
_NATS_A_SPLIT = 6.0
_TYPOS_OF_ALL = 1.5
"""Added to a typo's price, because not every word is mistyped."""

_NAME_SHARE = 0.5
_REMEMBERED_FEATURES = 30_000
"""The number of words with cached candidate features."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rivals:
    """The rivals for some places, and their features.

    Attributes:
        first: the row at which each suspect's rivals begin; leaving the word is first.
        meant: the text of each rival; "" for leaving.
        features: a row per rival, a column for each of `FEATURE_NAMES`.
    """

    first: Ints
    meant: Sequence[str]
    features: Floats


class Typos:
    """Words with their candidates, and features that do not depend on the place."""

    def __init__(self, candidates: Mapping[str, Sequence[Candidate]], corpus: Corpus) -> None:
        """Compute the features of each candidate that do not depend on the place."""
        self.meant: list[str] = []
        self.of_word: dict[str, slice] = {}
        rows = [np.zeros((0, len(OF_TYPO)), dtype=np.float32)]
        for word, word_candidates in candidates.items():
            start = len(self.meant)
            rows.append(_of_typos(word, tuple(word_candidates)))
            self.meant += [each.meant for each in word_candidates]
            self.of_word[word] = slice(start, len(self.meant))
        self.rows = np.concatenate(rows)
        parts = [meant.split(" ") for meant in self.meant]
        self.is_split = np.array([len(part) > 1 for part in parts], dtype=bool)
        self.head, self.head_share = _counted((part[0] for part in parts), corpus)
        self.tail, self.tail_share = _counted((part[-1] for part in parts), corpus)


def rivals(suspects: Sequence[Suspect], typos: Typos, corpus: Corpus) -> Rivals:
    """Return the rivals of every suspect, in order."""
    places = [typos.of_word[suspect.word] for suspect in suspects]
    sizes = np.array([1 + place.stop - place.start for place in places], dtype=np.int64)
    first = np.cumsum(sizes) - sizes
    table = np.zeros((int(sizes.sum()), len(FEATURE_NAMES)))
    leaving = len(OF_TYPO) + len(OF_MEANING)
    table[first, leaving:] = [_of_leaving(suspect, corpus) for suspect in suspects]
    rows = np.delete(np.arange(len(table)), first)
    owner = np.repeat(np.arange(len(suspects)), sizes - 1)
    which = np.concatenate([np.arange(place.start, place.stop) for place in places]).astype(
        np.int64
    )
    table[rows, : len(OF_TYPO)] = typos.rows[which]
    table[rows, len(OF_TYPO) : leaving] = _in_place(
        suspects, owner, typos=typos, which=which, corpus=corpus
    )
    meant = [""] * len(table)
    for row, candidate in zip(rows.tolist(), which.tolist(), strict=True):
        meant[row] = typos.meant[candidate]
    return Rivals(first=first, meant=meant, features=table)


def chances(rivals: Rivals, weights: Mapping[str, float]) -> Floats:
    """Return the probability of each rival; those of one suspect add up to 1."""
    sums = rivals.features @ np.array([weights[name] for name in FEATURE_NAMES])
    sizes = np.diff(np.append(rivals.first, len(sums)))
    sums -= np.repeat(np.maximum.reduceat(sums, rivals.first), sizes)
    odds = np.exp(sums)
    result: Floats = odds / np.repeat(np.add.reduceat(odds, rivals.first), sizes)
    return result


@lru_cache(maxsize=_REMEMBERED_FEATURES)
def _of_typos(word: str, candidates: Sequence[Candidate]) -> HalfFloats:
    """Return `OF_TYPO`, a row for each of a word's candidates."""
    rows = [_of_typo(word, each.meant, each.price) for each in candidates]
    return np.array(rows, dtype=np.float32).reshape(-1, len(OF_TYPO))


def _of_typo(word: str, meant: str, price: float) -> tuple[float, ...]:
    if " " in meant:
        head, tail = meant.split(" ")
        nothing = (0.0,) * (len(OF_TYPO) - _OF_SPLITS - 1)
        return price, *nothing, *_of_split(head, tail, is_edited=head + tail != word)
    edits = OSA.distance(word, meant)
    return (
        price,
        price / len(meant),
        edits == 1,
        edits == 2,  # noqa: PLR2004 - the name says it
        edits >= _MORE_EDITS,
        sound(word) == sound(meant),
        word[0] != meant[0],
        is_ending(word, meant) or is_ending(meant, word),
        word[-1] != meant[-1],
        word.endswith("s") != meant.endswith("s"),
        not lexicon.is_known(meant),
        not lexicon.is_surely_right(meant),
        lexicon.zipf(meant),
        *channel.slips(word, meant),
        *(0.0,) * _OF_SPLITS,
    )


def _of_split(head: str, tail: str, *, is_edited: bool) -> tuple[float, ...]:
    rarer, commoner = sorted((lexicon.zipf(head), lexicon.zipf(tail)))
    shorter = min(len(head), len(tail))
    is_content, is_function = rarer < _FUNCTION_ZIPF, commoner >= _SURELY_FUNCTION_ZIPF
    return (
        1,
        is_edited,
        head == "a",
        shorter < _SHORT_PART,
        rarer,
        is_content,
        is_function,
        is_content and not is_function and shorter >= _SHORT_PART,
        begins_compounds(head) if is_content else 0,
        ends_compounds(tail) if is_content else 0,
        lexicon.zipf(head + tail) > 0,
    )


def _in_place(
    suspects: Sequence[Suspect], owner: Ints, *, typos: Typos, which: Ints, corpus: Corpus
) -> Floats:
    """Return `OF_MEANING`, a row for each candidate of each suspect."""
    far, _ = _counted((suspect.before[0] for suspect in suspects), corpus)
    before, _ = _counted((suspect.before[1] for suspect in suspects), corpus)
    after, after_share = _counted((suspect.after[0] for suspect in suspects), corpus)
    far_after, _ = _counted((suspect.after[1] for suspect in suspects), corpus)
    far, before, after, far_after = (numbers[owner] for numbers in (far, before, after, far_after))
    after_share = after_share[owner]
    head, tail = typos.head[which], typos.tail[which]
    share, tail_share = typos.head_share[which], typos.tail_share[which]
    is_split = typos.is_split[which]
    last_but_one = np.where(is_split, head, before)
    items = np.minimum(corpus.items[head], corpus.items[tail])
    price = typos.rows[which, _PRICE] + _NATS_A_SPLIT * is_split
    words, _ = _counted((suspect.word for suspect in suspects), corpus)
    zipfs = np.array([_zipf(suspect.word) for suspect in suspects])[owner]
    likeliest = lexicon.CERTAIN_ZIPF + np.minimum(share, tail_share) / _NATS_A_ZIPF
    expected = np.maximum(0, np.log(items + 1) - price + _TYPOS_OF_ALL)
    named = np.array([suspect.place.is_name_like for suspect in suspects], dtype=bool)
    meant = [typos.meant[n] for n in which.tolist()]
    both = [(suspects[n], each) for n, each in zip(owner.tolist(), meant, strict=True)]
    same_item = [suspect.about.get(each, 0) > 0 for suspect, each in both]
    at_large = [fits(suspect.before, each, suspect.after) for suspect, each in both]
    return np.column_stack(
        [
            share + np.where(is_split, tail_share, 0),
            np.log1p(items),
            np.array(same_item, dtype=np.float64),
            np.where(is_split, np.log1p(corpus.pairs(head, tail)), 0),
            is_split & named[owner],
            np.log(corpus.follows_two(far, before, head, share)) - share,
            np.log(corpus.follows_two(last_but_one, tail, after, after_share)) - after_share,
            np.where(is_split, 0, np.log1p(corpus.triples(before, head, after))),
            corpus.over_one(far, head) + corpus.over_one(tail, far_after),
            np.maximum(0, zipfs - (likeliest - price / _NATS_A_ZIPF)),
            np.maximum(0, np.log(np.maximum(1, corpus.items[words[owner]])) - expected),
            np.array(at_large).reshape(-1, len(ENGLISH_NAMES)),
        ]
    )


def _of_leaving(suspect: Suspect, corpus: Corpus) -> tuple[float, ...]:
    word, place = suspect.word, suspect.place
    zipf = _zipf(word)
    around = (suspect.before[1], suspect.after[0])
    return (
        1.0,
        zipf,
        zipf > 0,
        max(0.0, zipf - _COMMON_STRANGER_ZIPF),
        math.log(max(1, corpus.about(word))),
        suspect.about.get(word, 0) > 1,
        corpus.capital_share(word),
        place.is_name_like,
        place.is_shouted,
        place.is_hyphened,
        is_compound(word),
        compounding(word),
        is_inflected(word),
        is_agent(word),
        len(word),
        not any(letter in "aeiouy" for letter in word),
        "'" in word,
        not _CUES.isdisjoint({*suspect.before, *suspect.after}),
        any(corpus.capital_share(each) > _NAME_SHARE for each in around),
        suspect.company,
    )


def _zipf(word: str) -> float:
    """Return how common an unknown word is, as evidence that it is a word."""
    return 0.0 if lexicon.is_two_words(word) else lexicon.zipf(word)


def _counted(words: Iterable[str], corpus: Corpus) -> tuple[Ints, Floats]:
    """Return the number and the logarithm of the share of each word."""
    both = [(corpus.number(word), corpus.log_share(word)) for word in words]
    numbers = np.array([number for number, _ in both], dtype=np.int64)
    return numbers, np.array([share for _, share in both], dtype=np.float64)


def forget_texts() -> None:
    """Clear what is cached about texts."""
    _of_typos.cache_clear()
