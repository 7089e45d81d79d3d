"""What speaks for a correction and what for leaving a word alone, as named numbers.

Leaving the word and every candidate are rivals: each gets a weighted sum, and the sums
become probabilities (a conditional logit). What is said about the word itself speaks
for leaving it; what is said about a candidate, how likely that typo and that word are
in this place. `NAMES` lists all, `postprocess.language.weights` what they weigh.
"""

import math
import re
from collections.abc import Mapping

from postprocess.language import lexicon
from postprocess.language.corpus import Corpus
from postprocess.language.suspects import Suspect
from postprocess.language.typos import KINDS, PLACES, typos

Features = Mapping[str, float]

NAMES = (
    *KINDS,
    *PLACES,
    "second", "second_short", "long_single", "sounds_alike", "in_dictionary",
    "split", "split_short", "split_pull",
    "log_share", "fits_after", "fits_before", "log_items", "same_item",
    "leave", "zipf", "in_wordfreq", "log_other_items", "again_about_item", "capitals",
    "opens", "hyphened", "compound", "inflected", "length", "cue",
)  # fmt: skip

_CUES = frozenset(
    {
        "brand", "brands", "called", "company", "label", "labeled", "labelled", "logo",
        "marked", "named", "read", "reading", "reads", "say", "saying", "says",
        "titled", "word", "words",
    },
)  # fmt: skip
"""Beside these stands what is written on something, to the letter."""

_ENDINGS = (
    "s", "es", "ed", "d", "ing", "er", "ers", "r", "y", "ish", "like", "less", "ly",
    "'s", "ness", "able", "ies", "ied",
)  # fmt: skip
_BEGINNINGS = (
    "un", "re", "non", "pre", "multi", "semi", "over", "under", "mini", "anti",
)  # fmt: skip
_LEAST_PART = 3
_COMMON_ZIPF = 3.0
_SHORT = 5
_LONG = 7

_HEARD = tuple(
    (re.compile(written), heard)
    for written, heard in (
        ("'", ""),
        ("ph", "f"),
        ("gh(?=t)", ""),
        ("wh", "w"),
        ("tch", "ch"),
        ("c(?=[eiy])|z|sc(?=[eiy])", "s"),
        ("ck|q|c(?!h)", "k"),
        ("dg|[jg](?=[eiy])", "j"),
        ("(?<=.)[aeiouyhw]", ""),
        ("^[aeiouy]", "a"),
        (r"(.)\1+", r"\1"),
    )
)
"""A rough cut of Philips' Metaphone (1990): consonants stay, as they are heard."""


def of_typo(word: str, meant: str) -> Features:
    """Features of a candidate that hold wherever the word stands."""
    if " " in meant:
        shortest = min(map(len, meant.split(" ")))
        return {"split": 1.0, "split_short": float(shortest < _LEAST_PART)}
    kinds = typos(word, meant)
    edits = sum(n for kind, n in kinds.items() if kind in KINDS)
    return {
        **{kind: float(n) for kind, n in kinds.items()},
        "second": float(edits > 1),
        "second_short": float(edits > 1 and len(word) <= _SHORT),
        "long_single": float(edits == 1 and len(word) >= _LONG),
        "sounds_alike": float(sound(word) == sound(meant)),
        "in_dictionary": float(lexicon.is_known(meant)),
    }


def of_meaning(meant: str, *, suspect: Suspect, corpus: Corpus) -> Features:
    """Features of a candidate in its place: how common it is, and how well it fits."""
    parts = meant.split(" ")
    pull = corpus.fits_after(*parts) if len(parts) > 1 else 0.0
    return {
        "split_pull": pull,
        "log_share": sum(map(corpus.log_share, parts)),
        "fits_after": corpus.fits_after(suspect.left, parts[0]),
        "fits_before": corpus.fits_before(parts[-1], suspect.right),
        "log_items": math.log1p(corpus.items[meant]),
        "same_item": float(suspect.about.get(meant, 0) > 0),
    }


def of_leaving(suspect: Suspect, corpus: Corpus) -> Features:
    """Features of the word as it stands."""
    word, zipf = suspect.word, lexicon.zipf(suspect.word)
    place = suspect.place
    return {
        "leave": 1.0,
        "zipf": zipf,
        "in_wordfreq": float(zipf > 0),
        "log_other_items": math.log(max(1, corpus.items[word])),
        "again_about_item": float(suspect.about.get(word, 0) > 1),
        "capitals": corpus.capital_share(word),
        "opens": float(place.opens),
        "hyphened": float(place.is_hyphened),
        "compound": float(_is_compound(word)),
        "inflected": float(_is_inflected(word)),
        "length": float(len(word)),
        "cue": float(not _CUES.isdisjoint((suspect.left, suspect.right))),
    }


def weighted(features: Features, weights: Features) -> float:
    """The weighted sum; exact, so that no order of adding can matter."""
    return math.fsum(weights[name] * value for name, value in features.items())


def sound(word: str) -> str:
    """The consonants that are heard, roughly.

    >>> sound("hefeweizen") == sound("hefewiezen"), sound("frisbie")
    (True, 'frsb')
    """
    for written, heard in _HEARD:
        word = written.sub(heard, word)
    return word


def _is_compound(word: str) -> bool:
    """Whether two common words make up the word, as in `nightstand`."""
    cuts = range(_LEAST_PART, len(word) - _LEAST_PART + 1)
    return any(_is_common(word[:cut]) and _is_common(word[cut:]) for cut in cuts)


def _is_common(word: str) -> bool:
    return lexicon.zipf(word) >= _COMMON_ZIPF and lexicon.is_known(word)


def _is_inflected(word: str) -> bool:
    stems = {word.removesuffix(ending) for ending in _ENDINGS}
    stems |= {word.removeprefix(beginning) for beginning in _BEGINNINGS}
    return any(lexicon.is_known(stem) for stem in stems if len(stem) >= _LEAST_PART)
