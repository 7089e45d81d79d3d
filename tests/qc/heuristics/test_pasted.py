"""Laws of pasted text."""

import pytest

from qc.heuristics.pasted import Params, score
from tests.qc.tables import CANNED, NAN, evidence, flagged, row, table

TEXT = "x" * 50


@pytest.mark.parametrize(
    ("pastes", "keystrokes", "pasted"),
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
    pasted: bool,  # noqa: FBT001 - a case
) -> None:
    """Both must hold: a paste, and almost no typing for the text's length."""
    answer = row("a", text=TEXT, pastes=pastes, keystrokes=keystrokes)
    assert bool(flagged(score(table(answer), Params()))) is pasted


@pytest.mark.parametrize("text", [CANNED, "", "   "])
def test_nothing_to_type_is_nothing_to_paste(text: str) -> None:
    """The canned text comes by a click, and an empty text by doing nothing."""
    answer = row("a", text=text, pastes=1.0, keystrokes=0.0)
    assert flagged(score(table(answer), Params())) == set()


def test_fewer_keystrokes_are_more_suspicious() -> None:
    """None at all is 1; 5 of a limit of 10 is 1 - 0.5*0.5 = 0.75."""
    none = row("a", text=TEXT, pastes=1.0, keystrokes=0.0)
    some = row("b", text=TEXT, pastes=1.0, keystrokes=5.0)
    found = score(table(none, some), Params())
    assert found["suspicion"].tolist() == pytest.approx([1.0, 0.75])
    said = evidence(found, "b")
    assert said == "1 paste and 5 keystrokes for a text of 50 characters"


def test_an_empty_table_has_no_answers() -> None:
    """No answers, no rows."""
    assert score(table(), Params()).empty
