"""Correct real words used by mistake: `form` for `from`.

A word is suspect if the campaign's other texts repeatedly have another word between the
same neighbours, and none has this one. How well both fit into general English also
counts. In a small campaign the rule finds little. It never changes names, quoted text,
hyphenated words or words with digits, British or American variants, words of the item's
own columns, or words that another text about the item also has. It does not correct
grammar.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from piecework.domain.edit import Edit
from piecework.postprocess.language import channel
from piecework.postprocess.language.confusions import NAMES, doubts, is_ordinary
from piecework.postprocess.language.corpus import Corpus
from piecework.postprocess.language.tokens import Text, words
from piecework.postprocess.language.weights import REAL_WORD_WEIGHTS

NAME = "real_words"
VERSION = 5

SURE = 0.95
"""The lowest probability of an automatic edit. On captions that no weight was fitted to,
94 of a hundred such changes are right (docs/explanation/cleaning.md)."""

WORTH_A_LOOK = 0.5
"""The lowest probability of an edit proposed to a person; at least a half, since only
edits likelier than leaving the word are considered."""


def propose(texts: Sequence[Text], corpus: Corpus) -> Mapping[str, Sequence[Edit]]:
    """Return edits to the words that others wrote in the same places."""
    weights = np.array([REAL_WORD_WEIGHTS[name] for name in NAMES])
    doubtful = doubts(texts, corpus, channel.shipped(), weights)
    sums = doubtful.features @ weights
    edits: dict[str, list[Edit]] = {}
    for first, after in pairwise(doubtful.first.tolist()):
        # Every other word competes with leaving this one, with a sum of 0.
        odds = np.exp(np.minimum(sums[first:after], 500))
        best = int(odds.argmax())
        probability = float(odds[best] / (1 + odds.sum()))
        text, at = texts[int(doubtful.text[first])], int(doubtful.at[first])
        if probability >= WORTH_A_LOOK and is_ordinary(text, at):
            edit = _edit(text.text, at, meant=doubtful.meant[first + best], probability=probability)
            edits.setdefault(text.text_id, []).append(edit)
    return edits


def least_sure(_corpus: Corpus) -> float:
    """Return the lowest probability of an edit that is made without asking."""
    return SURE


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
        reason=f"other texts have {meant!r} in the same place; its probability is "
        f"{probability:.2f}",
        probability=round(probability, 4),
    )
