"""Words that are words, but not the ones that were meant: `form` for `from`.

The campaign's other texts raise the doubt: where they have another word between the
same neighbours again and again, and none has this one. How both fit into English at
large is weighed too. A small campaign gets little of it. Refuses to touch names,
whatever is quoted, joined by a hyphen or stuck to digits, British for American ways to
write and the other way round, words of the item's own columns, and what another text
about the item says as well. It does not try grammar.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from piecework.domain.edit import Edit
from piecework.postprocess.language import channel
from piecework.postprocess.language.confusions import NAMES, doubts, is_ordinary
from piecework.postprocess.language.corpus import Corpus
from piecework.postprocess.language.tokens import words
from piecework.postprocess.language.weights import REAL_WORD_WEIGHTS
from piecework.postprocess.text import Text

NAME = "real_words"
VERSION = 2

SURE = 0.7
"""The least probability of an automatic edit (docs/explanation/cleaning.md)."""

WORTH_A_LOOK = 0.5
"""Least probability of an edit that a person is asked about; not below a half, since
only what is likelier than leaving the word is looked at."""


def propose(texts: Sequence[Text], corpus: Corpus) -> Mapping[str, Sequence[Edit]]:
    """The word that others wrote in such places, where a text has one like it."""
    weights = np.array([REAL_WORD_WEIGHTS[name] for name in NAMES])
    doubtful = doubts(texts, corpus, channel.shipped(), weights)
    sums = doubtful.features @ weights
    edits: dict[str, list[Edit]] = {}
    for first, after in pairwise(doubtful.first.tolist()):
        # Against every other word stands leaving this one, whose sum is 0.
        odds = np.exp(np.minimum(sums[first:after], 500))
        best = int(odds.argmax())
        probability = float(odds[best] / (1 + odds.sum()))
        text, at = texts[int(doubtful.text[first])], int(doubtful.at[first])
        if probability >= WORTH_A_LOOK and is_ordinary(text, at):
            edit = _edit(
                text.text,
                at,
                meant=doubtful.meant[first + best],
                probability=probability,
            )
            edits.setdefault(text.text_id, []).append(edit)
    return edits


def is_sure(edit: Edit) -> bool:
    """Whether an edit is made without asking."""
    return edit.probability >= SURE


def _edit(text: str, at: int, *, meant: str, probability: float) -> Edit:
    word = words(text)[at]
    surface = text[word.start : word.end]
    after = meant
    if len(surface) > 1 and surface.isupper():
        after = meant.upper()
    elif word.is_capital:
        after = meant[0].upper() + meant[1:]
    return Edit(
        start=word.start,
        end=word.end,
        before=surface,
        after=after,
        rule=NAME,
        reason=f"other texts say {meant!r} in such a place; meant with probability "
        f"{probability:.2f}",
        probability=round(probability, 4),
    )
