"""Answer documents: fields as they were sent, and nothing from a hostile one."""

from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.domain.assignment import fields_of

XSD = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/"
    "QuestionFormAnswers.xsd"
)


def document(*answers: str, head: str = "") -> str:
    """A document with these answers."""
    inside = "".join(f"<Answer>{answer}</Answer>" for answer in answers)
    return f'{head}<QuestionFormAnswers xmlns="{XSD}">{inside}</QuestionFormAnswers>'


def free_text(name: str, text: str) -> str:
    """One answer in the worker's own words."""
    return (
        f"<QuestionIdentifier>{escape(name)}</QuestionIdentifier>"
        f"<FreeText>{escape(text)}</FreeText>"
    )


def test_free_text_and_selections_become_fields() -> None:
    """Several selections of one question are joined as a form's would be."""
    selected = "".join(
        f"<SelectionIdentifier>{name}</SelectionIdentifier>" for name in ("blur", "dark")
    )
    answers = document(
        free_text("caption.1", "a <dog> & a cat"),
        f"<QuestionIdentifier>flaws.1</QuestionIdentifier>{selected}",
        "<QuestionIdentifier>empty.1</QuestionIdentifier><FreeText/>",
        "<QuestionIdentifier>none.1</QuestionIdentifier>",
        "<FreeText>an answer to nothing</FreeText>",
    )
    assert fields_of(answers) == {
        "caption.1": "a <dog> & a cat",
        "flaws.1": "blur|dark",
        "empty.1": "",
        "none.1": "",
    }


# What XML can carry; a carriage return would come back as a line feed.
_carried = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\ufffe\uffff").filter(
        lambda c: c >= " " or c in "\t\n"
    )
)


@given(_carried)
def test_any_text_comes_back_as_it_was_typed(text: str) -> None:
    """White space, markup and letters of all planes."""
    assert fields_of(document(free_text("caption.1", text))) == {"caption.1": text}


@pytest.mark.parametrize(
    "hostile",
    [
        "",
        "not XML",
        document(free_text("a", "b"))[:-5],
        document("\x00"),
        document(
            "<QuestionIdentifier>a</QuestionIdentifier><FreeText>&x;</FreeText>",
            head='<!DOCTYPE x [<!ENTITY x "boom">]>',
        ),
        document(
            "<QuestionIdentifier>a</QuestionIdentifier><FreeText>&x;</FreeText>",
            head='<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/hostname">]>',
        ),
        document(free_text("a", "b")).replace("2005-10-01", "1999-01-01"),
    ],
)
def test_what_cannot_be_read_has_no_fields(hostile: str) -> None:
    """Broken, with entities, or of another schema: the raw text is kept elsewhere."""
    assert fields_of(hostile) == {}
