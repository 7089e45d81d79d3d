"""Laws of the words of texts."""

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from piecework.qc.plain_text import (
    plain,
    plain_of,
    plain_texts,
    with_texts,
    word_counts_of,
)

TEXTS = st.text() | st.text(st.characters(codec="ascii"))


@given(st.lists(TEXTS))
def test_many_texts_have_the_words_of_each(texts: list[str]) -> None:
    """The quick way for texts in ASCII gives what the way for all texts gives."""
    assert plain_texts(texts) == [plain(text) for text in texts]


def test_a_mark_belongs_to_its_word() -> None:
    """Vowel signs of Hindi and Thai, and the dot that a capital of Turkish leaves."""
    assert plain("राम की किताब!") != plain("राम का किताब!")
    assert plain("\u0130stanbul").split() == [plain("\u0130stanbul")]


def test_the_words_of_a_table_are_read_once() -> None:
    """What a table has is taken as it is; without it, it is read from the texts."""
    table = pd.DataFrame({"text": ["Two  cats.", "Zwölf Äpfel!", ""]})
    ready = with_texts(table)
    assert plain_of(ready) == plain_of(table) == ["two cats", "zwölf äpfel", ""]
    assert word_counts_of(ready).tolist() == word_counts_of(table).tolist() == [2.0, 2.0, 0.0]
    assert plain_of(ready.assign(text="other")) == plain_of(table)
