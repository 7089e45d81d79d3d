"""Correct typos in ordinary words: `skatebaord` to `skateboard`, `onthe` to `on the`.

Most words missing in a dictionary are correct: brands, new words, compounds. Blind
correction does far more harm than good (`tv` to `to`, `macbook` to `facebook`), so the
main question is whether to change a word at all. Leaving the word competes with all
candidates (`piecework.postprocess.language.features`); each edit has a probability.

It never changes words of the dictionary and their possessives, longer words that are
common in general English, words with inner capitals, quoted text, addresses, words with
accents, attached digits or signs, echoes (`tick-tocking`), texts in another language, or words of
the item's own columns. docs/explanation/cleaning.md says how often it is right.
"""

from collections.abc import Iterator, Mapping, Sequence

from piecework.domain.edit import Edit
from piecework.postprocess.language import channel
from piecework.postprocess.language.candidates import candidates
from piecework.postprocess.language.corpus import Corpus, Suspect, find_suspects
from piecework.postprocess.language.features import Typos, chances, rivals
from piecework.postprocess.language.tokens import Text
from piecework.postprocess.language.weights import WEIGHTS

NAME = "spelling"
VERSION = 11

SURE, SURE_IN_FEW = 0.65, 0.7
"""The lowest probability of an edit made without asking, among many texts and among fewer
than `MANY`: nineteen of twenty such changes are right (docs/explanation/cleaning.md)."""

MANY = 2_000
"""Fewer texts say little about a rare word, and a lower limit would fix hardly more."""

WORTH_A_LOOK = 0.2
"""The lowest probability of an edit proposed to a person."""

_AT_ONCE = 1_000
"""The number of suspects processed at once; bounds the table to about 15 MB."""


def propose(texts: Sequence[Text], corpus: Corpus) -> Mapping[str, Sequence[Edit]]:
    """Return edits to the likeliest word for each unknown one that may be a typo."""
    suspects = find_suspects(texts, corpus)
    words = {suspect.word for suspect in suspects}
    typos = Typos(candidates(words, corpus, channel.shipped()), corpus)
    edits: dict[str, list[Edit]] = {}
    for at in range(0, len(suspects), _AT_ONCE):
        for suspect, edit in _edits(suspects[at : at + _AT_ONCE], typos, corpus):
            edits.setdefault(suspect.text_id, []).append(edit)
    return edits


def least_sure(corpus: Corpus) -> float:
    """Return the lowest probability of an edit that is made without asking."""
    return SURE if corpus.n_texts >= MANY else SURE_IN_FEW


def _edits(
    suspects: Sequence[Suspect], typos: Typos, corpus: Corpus
) -> Iterator[tuple[Suspect, Edit]]:
    weighed = rivals(suspects, typos, corpus)
    probable = chances(weighed, WEIGHTS)
    ends = [*weighed.first[1:].tolist(), len(probable)]
    for suspect, start, end in zip(suspects, weighed.first.tolist(), ends, strict=True):
        if start + 1 < end:
            # Among equal probabilities, the first candidate.
            best = start + 1 + int(probable[start + 1 : end].argmax())
            meant, probability = weighed.meant[best], float(probable[best])
            if probability >= WORTH_A_LOOK and not _is_a_name(suspect, meant):
                yield suspect, _edit(suspect, meant, probability)


def _is_a_name(suspect: Suspect, meant: str) -> bool:
    """Return whether `a` would be split off a name: `A` is never lone mid-sentence."""
    return suspect.place.is_name_like and meant.startswith("a ")


def _edit(suspect: Suspect, meant: str, probability: float) -> Edit:
    surface = suspect.surface
    if suspect.place.is_shouted and len(surface) > 1 and surface.isupper():
        meant = meant.upper()
    elif surface[0].isupper():
        meant = meant[0].upper() + meant[1:]
    return Edit(
        start=suspect.start,
        end=suspect.end,
        before=surface,
        after=meant,
        rule=NAME,
        reason=f"not in any word list; the probability of {meant!r} is {probability:.2f}",
        probability=round(probability, 4),
    )
