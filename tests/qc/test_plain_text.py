"""Laws of the words of texts."""

from hypothesis import given
from hypothesis import strategies as st

from piecework.qc.plain_text import plain, plain_texts

TEXTS = st.text() | st.text(st.characters(codec="ascii"))


@given(st.lists(TEXTS))
def test_many_texts_have_the_words_of_each(texts: list[str]) -> None:
    """The quick way for texts in ASCII gives what the way for all texts gives."""
    assert plain_texts(texts) == [plain(text) for text in texts]
