"""What was changed between two texts."""

import doctest

from hypothesis import given
from hypothesis import strategies as st

from piecework.domain import differences
from piecework.domain.differences import Change, changes, size

WORDS = st.lists(st.sampled_from(["a", "red", "cat", "on", "mat"]), max_size=12)


def test_the_examples_of_the_docstrings_hold() -> None:
    """What the page of the function shows is what it gives."""
    assert doctest.testmod(differences).failed == 0


def test_changes_apart_from_each_other_are_several() -> None:
    """Equal words part them; each counts its longer side, here 1, 1 and 1."""
    found = changes(
        ["a", "red", "cat", "on", "a", "mat"], ["a", "cat", "under", "a", "big", "mat"]
    )
    assert found == (
        Change(("red",), ()),
        Change(("on",), ("under",)),
        Change((), ("big",)),
    )
    assert size(found) == 3


@given(before=WORDS, after=WORDS)
def test_undoing_all_changes_gives_the_text_before(
    before: list[str], after: list[str]
) -> None:
    """Kept and removed words are the one text, kept and inserted ones the other."""
    found = changes(before, after)
    kept = len(before) - sum(len(one.removed) for one in found)
    assert kept == len(after) - sum(len(one.inserted) for one in found)
    assert (found == ()) == (before == after)
    assert all(one.removed or one.inserted for one in found)
