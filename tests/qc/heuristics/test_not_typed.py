"""Laws of text that was hardly typed on the page."""

import pytest

from piecework.domain.assignment import TypingRecord
from piecework.qc.heuristics.not_typed import Params, score
from tests.for_each import for_each
from tests.qc.tables import CANNED, NAN, cells, evidence, flagged, row, table
from tests.typing_records import TYPED, record

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
    assert flagged(score(table(own, *rows), Params())) == ({"a"} if is_flagged else set())


def test_an_empty_table_has_no_answers() -> None:
    """No answers, no rows."""
    assert score(table(), Params()).empty


def test_a_time_of_almost_nothing_is_infinitely_fast_and_no_error() -> None:
    """The browser's clock may say anything above zero."""
    rows = [row(f"b{n}") for n in range(3)]
    own = row("a", keystrokes=0.0, shown_seconds=5e-324)
    assert flagged(score(table(own, *rows), Params())) == {"a"}


PASTED = record(kinds={"insertFromPaste": (1, 50)}, outside=50, intervals=0)
EVEN = record(median=80, spread=3)


def test_a_record_decides_whatever_the_counts_say() -> None:
    """A text pasted in one browser and dictated in another: the same counts."""
    dictated = record(
        kinds={"insertText": (3, 50)}, bursts=(3, 50), intervals=0, median=0, spread=0
    )
    counts = {"text": TEXT, "pastes": 1.0, "keystrokes": 0.0, "focus_losses": 1.0}
    scores = score(
        table(
            row("pasted", typing=PASTED.as_json(), **counts),
            row("dictated", typing=dictated.as_json(), **counts),
            row("typed", typing=record().as_json(), **counts),
            row("even", typing=EVEN.as_json(), text=TEXT, keystrokes=50.0),
        ),
        Params(),
    )
    assert flagged(scores) == {"pasted", "even"}
    assert scores["suspicion"]["typed"] == scores["suspicion"]["dictated"] < 0.1
    sentence = evidence(scores, "pasted")
    for fact in ("50 characters pasted from outside", "9", "%", "cannot know who"):
        assert fact in sentence
    assert "intervals (80 ms)" in evidence(scores, "even")


@for_each(
    ("own", "text", "is_flagged"),
    [
        (record(), "x" * 120, False),  # 70 of 120 are missing: no more than probable
        (record(), "x" * 400, True),  # a record that accounts for an eighth
        (record(kinds={}, length=50), TEXT, True),  # no event at all
        (record(kinds={}, start=50, length=50), TEXT, False),  # left as it was
        (record(kinds={}, start=50, length=59), "x" * 59, False),  # little is new
        (record(untrusted=(9, 4)), TEXT, False),  # an extension that corrects a word
        (record(untrusted=(100, 50)), TEXT, True),
        (record(unseen=50, kinds={}), TEXT, True),
        (record(quick=50), TEXT, True),
        (record(inside=50), TEXT, False),  # moved within the page
        (record(intervals=19, spread=0), TEXT, False),  # too few keys for a rhythm
        (record(median=30, spread=20), TEXT, True),  # 400 words a minute
        (record(), "x" * 25 + "\r\n" + "x" * 24, False),  # the form's line ends
        (record(kinds={"insertText": (25, 50)}), "\N{PARTY POPPER}" * 25, False),
    ],
)
def test_what_no_person_entered_here_is_flagged(
    own: TypingRecord,
    text: str,
    is_flagged: bool,  # noqa: FBT001 - a case
) -> None:
    """Compared with the text itself, so that a short record hides nothing."""
    answer = row("a", text=text, typing=own.as_json())
    assert bool(flagged(score(table(answer), Params()))) is is_flagged


@pytest.mark.parametrize("text", [CANNED, "", "  "])
def test_a_record_of_what_nobody_types_flags_nothing(text: str) -> None:
    """The button brings the canned text without an event."""
    answer = row("a", text=text, typing=record(kinds={}, length=len(text)).as_json())
    assert cells(score(table(answer), Params()), "a") == (0.0, False, "")


def test_a_table_of_an_earlier_version_has_no_records() -> None:
    """Its counts decide."""
    answers = table(row("a", text=TEXT, pastes=1.0, keystrokes=0.0))
    assert flagged(score(answers.drop(columns="typing"), Params())) == {"a"}


def test_the_flag_begins_at_a_probability_of_the_campaigns_choice() -> None:
    """At 0.99 a paste of half of the text is not flagged, at 0.01 all are."""
    half = record(kinds=TYPED | {"insertFromPaste": (1, 50)}, outside=50, length=100)
    answers = table(row("a", text="x" * 100, typing=half.as_json()))
    assert flagged(score(answers, Params(flag_from=0.01))) == {"a"}
    assert flagged(score(answers, Params(flag_from=0.99))) == set()
