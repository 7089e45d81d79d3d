"""Tokens are those of the Penn Treebank, lower-case, without punctuation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.analyses.corpus.captions import cased_tokens, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # What Stanford's PTBTokenizer makes of them, as coco-caption calls it.
        ("A person's hand isn't visible.", "a person 's hand is n't visible"),
        ("It\u2019s 10:30 and 3.5 oz", "it 's 10:30 and 3.5 oz"),
        ('A t-shirt that says "1,000 miles"!', "a t-shirt that says 1,000 miles"),
        ("I cannot see it; I'm sorry...", "i can not see it i 'm sorry"),
        ("www.vizwiz.org on a screen", "www.vizwiz.org on a screen"),
        ("1/2 cup, an on/off switch", "1/2 cup an on/off switch"),
        ("?!", ""),
        ("", ""),
    ],
)
def test_a_caption_is_cut_as_the_treebank_cuts_it(text: str, expected: str) -> None:
    """Clitics come off, numbers and compounds stay whole, punctuation goes."""
    assert tokens(text) == expected.split()


@given(st.text())
def test_a_token_holds_a_letter_or_digit_and_no_space(text: str) -> None:
    """Whatever a stranger typed."""
    for token in cased_tokens(text):
        assert any(character.isalnum() for character in token)
        assert token.split() == [token]
