"""A pseudonym stands for one worker and tells nobody who that is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.domain.ids import WorkerId
from piecework.domain.imported import UNNAMED
from piecework.postprocess.pseudonyms import pseudonym

# RFC 4231, test case 2: HMAC-SHA-256 with key "Jefe" of "what do ya want for nothing?"
# begins 5bdcc146bf60754e.
RFC_KEY = b"Jefe"
RFC_TEXT = WorkerId("what do ya want for nothing?")


def test_it_is_the_published_hmac() -> None:
    """The first 16 digits of the RFC's own example."""
    assert pseudonym(RFC_TEXT, RFC_KEY) == "5bdcc146bf60754e"


@given(st.text(min_size=1), st.text(min_size=1), st.binary(min_size=1))
def test_workers_differ_and_stay_the_same(first: str, second: str, key: bytes) -> None:
    """Equal ids have equal pseudonyms, others have others."""
    is_same = pseudonym(WorkerId(first), key) == pseudonym(WorkerId(second), key)
    assert is_same == (first == second)


def test_another_key_gives_another_pseudonym() -> None:
    """Datasets with different keys cannot be joined by worker."""
    assert pseudonym(RFC_TEXT, b"Jeff") != pseudonym(RFC_TEXT, RFC_KEY)


def test_an_empty_key_is_refused() -> None:
    """Without a key anyone could hash all worker ids and compare."""
    with pytest.raises(ValueError, match="key of the pseudonyms is empty"):
        pseudonym(RFC_TEXT, b"")


def test_one_who_was_not_named_is_not_named_after_it_either() -> None:
    """Two assignments of nobody are two people, who are seen to have no name."""
    first, second = (pseudonym(WorkerId(f"{UNNAMED}{row}"), RFC_KEY) for row in ("row_1", "row_2"))
    assert first != second
    assert first.startswith(UNNAMED)
    assert "row" not in first
