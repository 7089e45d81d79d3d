"""Answers held against a form: what is taken, and what is said about the rest."""

import logging

import pytest

from piecework.marketplace.forms.form import Answer, Taken, gathered, take
from piecework.marketplace.forms.patterns import Unmatched, matched
from piecework.marketplace.forms.schema import read_form
from piecework.marketplace.workers import form_views
from tests.for_each import for_each
from tests.marketplace.documents import choice, form, free_text, question

TWO_OF_THREE = choice(
    "a",
    "b",
    "c",
    least=2,
    most=3,
    other='<OtherSelection><Constraints><Length maxLength="5"/></Constraints></OtherSelection>',
)
OTHER = "q.OtherSelectionText"


def taken(answer: str, *, required: bool = True, **typed: list[str]) -> Taken:
    """What comes of a form with one question, q."""
    values = gathered(
        (name.replace("__", "."), entry) for name, entries in typed.items() for entry in entries
    )
    asked = read_form(form(question("q", answer, required=required)))
    try:
        return take(asked, values)
    except Unmatched as unmatched:
        return take(asked, values, matched(unmatched.matches))


def complaint_about(answer: str, *values: str, required: bool = True) -> str:
    """The complaint about the values of q; empty if there is none."""
    outcome = taken(answer, required=required, q=list(values))
    return outcome.complaints.get("q", "")


@for_each(
    ("constraints", "text", "complaint"),
    [
        ("", "anything", ""),
        ("", "", "Please answer this question."),
        ("<IsNumeric/>", "-3.5", ""),
        ("<IsNumeric/>", " 7 ", ""),
        ("<IsNumeric/>", "7,5", "Please write a number."),
        ("<IsNumeric/>", "1e5", "Please write a number."),
        ("<IsNumeric/>", "nan", "Please write a number."),
        ("<IsNumeric/>", "\u0663", "Please write a number."),
        ("<IsNumeric/>", "9" * 101, "Please write a number."),
        ('<IsNumeric minValue="100"/>', "99.9", "a number that is 100 or more"),
        ('<IsNumeric maxValue="999"/>', "999.01", "a number that is 999 or less"),
        ('<IsNumeric minValue="100" maxValue="999"/>', "100", ""),
        ('<Length minLength="3"/>', "ab", "at least 3 characters"),
        ('<Length maxLength="3"/>', "abcd", "at most 3 characters (you wrote 4)"),
        # A browser counts a line break once and sends two characters.
        ('<Length maxLength="3"/>', "a\r\nb", ""),
        ('<AnswerFormatRegex regex="\\S"/>', "   ", "Invalid input supplied."),
        ('<AnswerFormatRegex regex="b" errorText="No b."/>', "abc", ""),
        ('<AnswerFormatRegex regex="^b" errorText="No b."/>', "abc", "No b."),
        ('<AnswerFormatRegex regex="REGEX" flags="i"/>', "a regex", ""),
        ('<AnswerFormatRegex regex="REGEX"/>', "a regex", "Invalid input supplied."),
        (
            ('<AnswerFormatRegex regex="a"/><AnswerFormatRegex regex="b" errorText="No b."/>'),
            "a",
            "No b.",
        ),
        ('<AnswerFormatRegex regex="^[12][0-9]{3}-[01]?\\d-[0-3]?\\d$"/>', "2026-11-20", ""),
    ],
)
def test_texts_are_held_to_their_constraints(constraints: str, text: str, complaint: str) -> None:
    """Numbers, lengths and formats, in kind words."""
    shown = complaint_about(free_text(constraints), text)
    assert complaint in shown
    assert bool(complaint) == bool(shown)


def test_what_is_not_required_may_be_left_out_whatever_it_would_have_to_be() -> None:
    """But if it is answered, it is held to all of it; minLength makes it required."""
    assert complaint_about(free_text("<IsNumeric/>"), required=False) == ""
    assert complaint_about(free_text("<IsNumeric/>"), "x", required=False) != ""
    assert complaint_about(TWO_OF_THREE, required=False) == ""
    assert complaint_about(TWO_OF_THREE, "a", required=False) != ""
    assert complaint_about(free_text('<Length minLength="1"/>'), required=False) != ""


def test_a_choice_is_held_to_its_counts_and_to_its_list() -> None:
    """The worker's own selection counts as one, and is held to its own constraints."""
    assert complaint_about(choice("a", "b"), "a") == ""
    assert complaint_about(choice("a", "b"), "") == "Please choose an answer."
    assert complaint_about(choice("a", "b"), "a", "b") == ("Please choose at most 1 (you chose 2).")
    assert complaint_about(choice("a", "b"), "z") == "Please choose from the list."
    assert complaint_about(TWO_OF_THREE, "a") == "Please choose at least 2 (you chose 1)."
    own = taken(TWO_OF_THREE, q=["a"], q__OtherSelectionText=["mine"])
    assert own.complaints == {}
    assert own.answers == (Answer(question="q", chosen=("a",), other="mine"),)
    long = taken(TWO_OF_THREE, q=["a"], q__OtherSelectionText=["too long"])
    assert long.complaints == {"q": "Please write at most 5 characters (you wrote 8)."}
    unasked = taken(choice("a"), q__OtherSelectionText=["mine"])
    assert unasked.complaints == {"q": "There is no field for your own answer here."}


def test_selections_are_kept_in_the_forms_order() -> None:
    """Whatever order they were sent in, and once each."""
    outcome = taken(TWO_OF_THREE, q=["c", "a", "c"])
    assert outcome.answers == (Answer(question="q", chosen=("a", "c")),)


def test_a_field_that_was_never_asked_is_noticed() -> None:
    """Whoever sends it meant something, and must not think that it was stored."""
    assert taken(free_text(), q=["x"], typo=["y"]).strangers == ("typo",)


def test_a_pattern_that_takes_for_ever_is_given_up(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a tenth of a second, in the worker's favour, with a line in the log."""
    # A server that ran in this process holds the logger to one such line a second.
    monkeypatch.setattr(logging.getLogger("piecework.marketplace.forms.patterns"), "filters", [])
    slow = free_text('<AnswerFormatRegex regex="(.*a){20}$"/>')
    with caplog.at_level(logging.WARNING):
        assert complaint_about(slow, "a" * 30_000 + "b") == ""
    assert "too long" in caplog.text


@for_each(
    ("answer", "control"),
    [
        (free_text(), "text"),
        (choice("a", "b"), "radio"),
        (choice("a", "b", most=2), "checkbox"),
        (choice("a", "b", style="radiobutton"), "radio"),
        (choice("a", "b", most=2, style="radiobutton"), "checkbox"),
        (choice("a", "b", style="checkbox"), "checkbox"),
        (choice("a", "b", style="dropdown"), "select"),
        (choice("a", "b", style="combobox"), "select"),
        (choice("a", "b", style="list"), "select"),
        (choice("a", "b", most=2, style="multichooser"), "select"),
        (
            choice("a", "b", style="dropdown").replace(
                "<Text>A</Text>", "<FormattedContent><![CDATA[<b>A</b>]]></FormattedContent>"
            ),
            "radio",  # a drop-down list can show plain text only
        ),
    ],
)
def test_a_style_is_followed_where_it_can_be(answer: str, control: str) -> None:
    """A suggestion that cannot show or hold the answer gives way."""
    (view,) = form_views.shown(read_form(form(question("q", answer)))).parts
    assert isinstance(view, form_views.View)
    assert view.control == control
