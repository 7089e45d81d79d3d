"""Laws of the word that a page asks programs for."""

import pytest

from piecework.qc.heuristics.canary import Params, planted_word, score
from tests.qc.tables import CANNED, evidence, flagged, row, table

ASKED = Params(word="heliotrope")


@pytest.mark.parametrize(
    "text", ["A dog beside a heliotrope on the grass", "Heliotrope: a dog on the grass"]
)
def test_the_word_is_found(text: str) -> None:
    """Whole, in any case."""
    scores = score(table(row("a", text=text)), ASKED)
    assert flagged(scores)
    sentence = evidence(scores, "a")
    assert "'heliotrope'" in sentence
    assert sentence.endswith(f": “{text}”")


@pytest.mark.parametrize("text", ["Two heliotropes and a dog", "A dog on the grass", "", CANNED])
def test_other_words_are_not(text: str) -> None:
    """Nor the canned text, whatever it is."""
    assert not flagged(score(table(row("a", text=text)), ASKED))


def test_no_word_finds_nothing() -> None:
    """An empty pattern would stand in every text."""
    assert not flagged(score(table(row("a", text="A dog")), Params()))
    assert planted_word({}) == planted_word({"canary": None}) == ""
    assert planted_word({"canary": {"word": "zinnia"}}) == "zinnia"
