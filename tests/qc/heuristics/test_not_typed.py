"""Laws of text that was hardly typed on the page."""

import pytest

from piecework.qc.heuristics.not_typed import Params, score
from tests.qc.tables import CANNED, NAN, evidence, flagged, row, table

TEXT = "x" * 50


@pytest.mark.parametrize(
    ("pastes", "keystrokes", "is_flagged"),
    [
        (1.0, 0.0, True),
        (1.0, 9.0, True),  # 9/50 = 0.18
        (1.0, 10.0, False),  # 10/50 = 0.2 is not below
        (3.0, 60.0, False),  # moved text around
        (0.0, 0.0, False),  # dictated
        (NAN, 0.0, False),
        (1.0, NAN, False),
    ],
)
def test_a_paste_counts_without_keystrokes(
    pastes: float,
    keystrokes: float,
    is_flagged: bool,  # noqa: FBT001 - a case
) -> None:
    """Both must hold: a paste, and almost no typing for the text's length."""
    answer = row("a", text=TEXT, pastes=pastes, keystrokes=keystrokes)
    assert bool(flagged(score(table(answer), Params()))) is is_flagged


@pytest.mark.parametrize("text", [CANNED, "", "   "])
def test_nothing_to_type_is_nothing_to_paste(text: str) -> None:
    """The canned text comes by a click, and an empty text by doing nothing."""
    answer = row("a", text=text, pastes=1.0, keystrokes=0.0)
    assert flagged(score(table(answer), Params())) == set()


def test_fewer_keystrokes_are_more_suspicious() -> None:
    """None at all is 1; 5 of a limit of 10 is 1 - 0.5*0.5 = 0.75."""
    none = row("a", text=TEXT, pastes=1.0, keystrokes=0.0)
    some = row("b", text=TEXT, pastes=1.0, keystrokes=5.0)
    scores = score(table(none, some), Params())
    assert scores["suspicion"].tolist() == pytest.approx([1.0, 0.75])
    sentence = evidence(scores, "b")
    for fact in ("50 characters", "5 keystrokes", "1 paste", "40.0 seconds"):
        assert fact in sentence


@pytest.mark.parametrize(
    ("others", "losses", "seconds", "is_flagged"),
    [
        (60.0, 1.0, 40.0, True),  # away, and no key pressed
        (60.0, 0.0, 5.0, True),  # eleven words in five seconds
        (60.0, 0.0, 40.0, False),  # dictated, or a phone's suggestions
        (2.0, 1.0, 40.0, False),  # no one types here: the page begins with a text
    ],
)
def test_without_a_paste_something_else_must_speak_and_others_must_type(
    others: float,
    losses: float,
    seconds: float,
    is_flagged: bool,  # noqa: FBT001 - a case
) -> None:
    """Few keystrokes alone are no evidence of anything."""
    own = row("a", keystrokes=0.0, focus_losses=losses, shown_seconds=seconds)
    rows = [row(f"b{n}", keystrokes=others) for n in range(3)]
    assert flagged(score(table(own, *rows), Params())) == (
        {"a"} if is_flagged else set()
    )


def test_an_empty_table_has_no_answers() -> None:
    """No answers, no rows."""
    assert score(table(), Params()).empty


def test_a_time_of_almost_nothing_is_infinitely_fast_and_no_error() -> None:
    """The browser's clock may say anything above zero."""
    rows = [row(f"b{n}") for n in range(3)]
    own = row("a", keystrokes=0.0, shown_seconds=5e-324)
    assert flagged(score(table(own, *rows), Params())) == {"a"}
