"""Laws of text about the photo instead of its content."""

import pytest

from piecework.qc.heuristics.quality_words import Params, score
from tests.qc.tables import CANNED, evidence, flagged, row, table


def is_flagged(text: str, params: Params | None = None) -> bool:
    """Whether a text alone is flagged."""
    return bool(flagged(score(table(row("a", text=text)), params or Params())))


@pytest.mark.parametrize(
    "text",
    [
        "The image quality is poor and nothing can be seen",
        "Quality issues are too severe to recognize the content",
        "A BLURRY photo of a dog on grass",
        "something blurred on a table",
        "a high quality photo of a dog",
        "it has been very high quality, because we can find that thing",
        "in low quality",
        "Quality Street candies in a photo of bad quality",
    ],
)
def test_words_about_the_photo_are_found(text: str) -> None:
    """Whole words with their endings, in any case, names beside them or not."""
    assert is_flagged(text)


@pytest.mark.parametrize(
    "text",
    [
        "A large package of quality street wrapped candies",
        "A can of premium quality carrots with a green label",
        "a bag of high quality coffee beans",
        "a top-quality leather shoe",
        "the qualityless word is not a word",
        "",
        CANNED,
        CANNED.upper(),
    ],
)
def test_words_about_the_thing_are_not(text: str) -> None:
    """Names, grades of goods, parts of words and the canned text itself."""
    rows = table(row("a", text=text, is_canned=text.casefold() == CANNED.casefold()))
    assert flagged(score(rows, Params())) == set()


def test_evidence_names_each_word_once() -> None:
    """What was found is shown, in the order of the text."""
    scores = score(table(row("a", text="Blurry, blurry, bad quality")), Params())
    assert "(blurry, quality)" in evidence(scores, "a")


def test_the_campaign_chooses_the_words() -> None:
    """Words are parameters, phrases included; none at all switches the rule off."""
    assert is_flagged("all is out  of focus", Params(words=("out of focus",)))
    assert not is_flagged("blurry", Params(words=()))
    assert is_flagged("quality street", Params(names=(), grades=()))
    assert not is_flagged("high quality photo", Params(pictures=()))


def test_words_are_no_patterns() -> None:
    """Signs that mean something to a regular expression mean themselves."""
    assert not is_flagged("axb", Params(words=("a.b",)))


def test_an_empty_table_has_no_answers() -> None:
    """No answers, no rows."""
    assert score(table(), Params()).empty
