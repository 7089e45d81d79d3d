"""Typos of the keyboard in ordinary words: `skatebaord` becomes `skateboard`.

Of the words that a dictionary does not know most are right: brands, new words,
compounds. Correcting blindly does far more harm than good (`tv` to `to`, `macbook` to
`facebook`), so the question is less which word was meant than whether to touch one.

Refuses to touch: words of the dictionary and their possessives; words that are common
in English at large, or that people wrote about a dozen items; anything under four
letters or with a letter outside a-z; names (a capital inside a sentence), inner
capitals, texts in capitals, quoted text, addresses, whatever digits or signs stick to;
words of the item's own columns; and whatever it is not sure enough about.
docs/cleaning.md says how often it is right.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from domain.edit import Edit
from postprocess.language import features
from postprocess.language.candidates import candidates
from postprocess.language.corpus import Corpus
from postprocess.language.suspects import Suspect, find_suspects
from postprocess.language.weights import WEIGHTS
from postprocess.text import Text

NAME = "spelling"
VERSION = 1

SURE = 0.75
"""Least probability of a correction: with it, of the right but unknown words of
VizWiz-Captions about one in 200 is changed (docs/cleaning.md)."""


def propose(texts: Sequence[Text], corpus: Corpus) -> Mapping[str, Sequence[Edit]]:
    """A known word for every unknown one that is clearly a typo of it."""
    suspects = find_suspects(texts, corpus)
    meant_by = candidates({suspect.word for suspect in suspects}, corpus)
    constant = {word: _constant_scores(word, meant_by[word]) for word in meant_by}
    edits: dict[str, list[Edit]] = {}
    for suspect in suspects:
        meant, chance = _likeliest(suspect, constant[suspect.word], corpus)
        if chance >= SURE:
            edits.setdefault(suspect.text_id, []).append(_edit(suspect, meant, chance))
    return edits


def _constant_scores(word: str, meant: Iterable[str]) -> Mapping[str, float]:
    """What a candidate scores wherever the word stands."""
    score = partial(features.weighted, weights=WEIGHTS)
    return {candidate: score(features.of_typo(word, candidate)) for candidate in meant}


def _likeliest(
    suspect: Suspect,
    constant: Mapping[str, float],
    corpus: Corpus,
) -> tuple[str, float]:
    """The best candidate in its place and its probability; ("", 0.0) without any."""
    scores = {
        meant: score
        + features.weighted(
            features.of_meaning(meant, suspect=suspect, corpus=corpus),
            WEIGHTS,
        )
        for meant, score in constant.items()
    }
    if not scores:
        return "", 0.0
    # Equal scores: the first in the alphabet, whatever order they came in.
    best = min(scores, key=lambda meant: (-scores[meant], meant))
    leaving = features.weighted(features.of_leaving(suspect, corpus), WEIGHTS)
    rivals = [math.exp(min(score - scores[best], 700)) for score in scores.values()]
    return best, 1 / math.fsum([*rivals, math.exp(min(leaving - scores[best], 700))])


def _edit(suspect: Suspect, meant: str, chance: float) -> Edit:
    return Edit(
        start=suspect.start,
        end=suspect.end,
        before=suspect.surface,
        after=meant.capitalize() if suspect.surface[0].isupper() else meant,
        rule=NAME,
        reason=f"in no word list; {meant!r} is meant with probability {chance:.2f}",
    )
