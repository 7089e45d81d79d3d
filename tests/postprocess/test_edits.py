"""Laws of edits: what is replayed can be undone, two passes can be told as one."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.domain.edit import Edit
from piecework.postprocess.edits import compose, replay, undo

TEXT = st.text(max_size=30)


@st.composite
def edits_of(draw: st.DrawFn, text: str, rule: str = "any") -> list[Edit]:
    """Some edits of `text`, in order and without overlap."""
    places = st.integers(min_value=0, max_value=len(text))
    cuts = sorted(draw(st.lists(places, max_size=8)))
    return [
        Edit(
            start=start,
            end=end,
            before=text[start:end],
            after=draw(st.text(max_size=4)),
            rule=rule,
            reason="drawn",
        )
        for start, end in zip(cuts[::2], cuts[1::2], strict=False)
    ]


@given(st.data(), TEXT)
def test_undo_takes_replay_back(data: st.DataObject, text: str) -> None:
    """Whatever the edits are, undoing them gives the original."""
    edits = data.draw(edits_of(text))
    assert undo(replay(text, edits), edits) == text


@given(st.data(), TEXT)
def test_composed_edits_do_what_two_passes_do(data: st.DataObject, text: str) -> None:
    """One list of edits leads from the original to the end of the second pass."""
    first = data.draw(edits_of(text, rule="first"))
    middle = replay(text, first)
    second = data.draw(edits_of(middle, rule="second"))
    composed = compose(text, first, second)
    assert replay(text, composed) == replay(middle, second)
    assert undo(replay(middle, second), composed) == text


def _edit(start: int, before: str, after: str, rule: str = "any") -> Edit:
    return Edit(
        start=start,
        end=start + len(before),
        before=before,
        after=after,
        rule=rule,
        reason=f"because of {rule}",
    )


def test_edits_apart_stay_apart_and_point_into_the_original() -> None:
    """Only the place of the later edit is counted back."""
    # "a  dgo" -> "a dgo" -> "a dog": `dgo` stands at 2 in between, at 3 at first.
    space, word = _edit(1, "  ", " ", "space"), _edit(2, "dgo", "dog", "word")
    assert compose("a  dgo", [space], [word]) == (space, _edit(3, "dgo", "dog", "word"))


def test_an_edit_on_an_edit_is_signed_by_both() -> None:
    """The merged edit says which rules made it and why."""
    # "d\0go" -> "dgo" -> "dog": the second edit covers the place of the first.
    first, second = _edit(1, "\0", "", "space"), _edit(0, "dgo", "dog", "word")
    (merged,) = compose("d\0go", [first], [second])
    assert (merged.before, merged.after) == ("d\0go", "dog")
    assert merged.rule == "space+word"
    assert merged.reason == "because of space; because of word"


def test_two_edits_of_a_place_are_as_probable_as_the_less_probable() -> None:
    """What rests on a guess is no surer than the guess."""
    first = replace(_edit(1, "\0", "", "space"), probability=1.0)
    second = replace(_edit(0, "dgo", "dog", "word"), probability=0.8)
    (merged,) = compose("d\0go", [first], [second])
    assert merged.probability == 0.8


def test_edits_that_cancel_out_leave_nothing() -> None:
    """A change that is taken back later is no change."""
    assert compose("cat", [_edit(0, "cat", "dog")], [_edit(0, "dog", "cat")]) == ()


@pytest.mark.parametrize(
    "edits",
    [
        pytest.param([_edit(0, "dog", "cow")], id="another text"),
        pytest.param([_edit(1, "at", "ow"), _edit(0, "c", "b")], id="out of order"),
        pytest.param([_edit(0, "ca", "do"), _edit(1, "at", "og")], id="overlapping"),
        pytest.param([_edit(2, "ttt", "d")], id="beyond the end"),
    ],
)
def test_edits_that_do_not_fit_are_refused(edits: list[Edit]) -> None:
    """An edit is never applied somewhere else than it was made for."""
    with pytest.raises(ValueError, match="out of order or replaces"):
        replay("cat", edits)


def test_undo_refuses_a_text_that_the_edits_did_not_make() -> None:
    """Undoing needs the very text that replaying made."""
    with pytest.raises(ValueError, match="made 'dog'"):
        undo("a cow", [_edit(2, "cat", "dog")])
