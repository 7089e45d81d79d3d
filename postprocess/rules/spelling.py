"""Typos in ordinary words: `skatebaord` becomes `skateboard`, `onthe` `on the`.

Of the words that a dictionary does not know most are right: brands, new words,
compounds. Correcting blindly does far more harm than good (`tv` to `to`, `macbook` to
`facebook`), so the question is less which word was meant than whether to touch one.
Whatever could be meant and leaving the word alone are weighed against each other
(`piecework.postprocess.language.features`); each edit says how probable it is.

Refuses to touch: words of the dictionary and their possessives; longer words that are
common in English at large; inner capitals, quoted text, addresses, whatever digits or
signs stick to; texts in another language; words of the item's own columns.
docs/explanation/cleaning.md says how often it is right.
"""

from collections.abc import Iterator, Mapping, Sequence

from piecework.domain.edit import Edit
from piecework.postprocess.language import channel
from piecework.postprocess.language.candidates import candidates
from piecework.postprocess.language.corpus import Corpus
from piecework.postprocess.language.features import Typos, chances, rivals
from piecework.postprocess.language.suspects import Suspect, find_suspects
from piecework.postprocess.language.weights import WEIGHTS
from piecework.postprocess.text import Text

NAME = "spelling"
VERSION = 7

SURE = 0.6
"""Least probability of an edit that is made without asking: with it nineteen of twenty
changes are right (docs/explanation/cleaning.md)."""

WORTH_A_LOOK = 0.2
"""Least probability of an edit that a person is asked about."""

_AT_ONCE = 2_000
"""Suspects weighed in one go: bounds the table to some 30 MB."""


def propose(texts: Sequence[Text], corpus: Corpus) -> Mapping[str, Sequence[Edit]]:
    """The likeliest word for every unknown one that may be a typo of it."""
    suspects = find_suspects(texts, corpus)
    words = {suspect.word for suspect in suspects}
    typos = Typos(candidates(words, corpus, channel.shipped()), corpus)
    edits: dict[str, list[Edit]] = {}
    for at in range(0, len(suspects), _AT_ONCE):
        for suspect, edit in _edits(suspects[at : at + _AT_ONCE], typos, corpus):
            edits.setdefault(suspect.text_id, []).append(edit)
    return edits


def is_sure(edit: Edit) -> bool:
    """Whether an edit is made without asking."""
    return edit.probability >= SURE


def _edits(
    suspects: Sequence[Suspect], typos: Typos, corpus: Corpus
) -> Iterator[tuple[Suspect, Edit]]:
    weighed = rivals(suspects, typos, corpus)
    probable = chances(weighed, WEIGHTS)
    ends = [*weighed.first[1:].tolist(), len(probable)]
    for suspect, start, end in zip(suspects, weighed.first.tolist(), ends, strict=True):
        if start + 1 < end:
            # Equal chances: the first of its candidates.
            best = start + 1 + int(probable[start + 1 : end].argmax())
            meant, probability = weighed.meant[best], float(probable[best])
            if probability >= WORTH_A_LOOK and not _is_a_name(suspect, meant):
                yield suspect, _edit(suspect, meant, probability)


def _is_a_name(suspect: Suspect, meant: str) -> bool:
    """Whether `a` would be cut off a name; inside a sentence no `A` stands alone."""
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
        reason=f"in no word list; {meant!r} is meant with probability "
        f"{probability:.2f}",
        probability=round(probability, 4),
    )
