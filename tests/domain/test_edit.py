"""What was changed between two texts."""

import doctest

from hypothesis import given
from hypothesis import strategies as st

from piecework.domain import edit
from piecework.domain.edit import Change, changes, size_of_changes

WORDS = st.lists(st.sampled_from(["a", "red", "cat", "on", "mat"]), max_size=12)


def test_the_examples_of_the_docstrings_hold() -> None:
    """What the page of the function shows is what it gives."""
    assert doctest.testmod(edit).failed == 0


def test_changes_apart_from_each_other_are_several() -> None:
    """Equal words part them; each counts its longer side, here 1, 1 and 1."""
    all_changes = changes(
        ["a", "red", "cat", "on", "a", "mat"], ["a", "cat", "under", "a", "big", "mat"]
    )
    assert all_changes == (Change(("red",), ()), Change(("on",), ("under",)), Change((), ("big",)))
    assert size_of_changes(all_changes) == 3


@given(before=WORDS, after=WORDS)
def test_undoing_all_changes_gives_the_text_before(before: list[str], after: list[str]) -> None:
    """Kept and removed words are the one text, kept and inserted ones the other."""
    all_changes = changes(before, after)
    kept = len(before) - sum(len(change.removed) for change in all_changes)
    assert kept == len(after) - sum(len(change.inserted) for change in all_changes)
    assert (all_changes == ()) == (before == after)
    assert all(change.removed or change.inserted for change in all_changes)
