"""Answer documents: everything typed survives, whatever it was."""

import pytest
from defusedxml.ElementTree import fromstring
from hypothesis import given
from hypothesis import strategies as st

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.workers.hit_forms import NAMESPACE, OWN, answer_xml
from tests.examples import examples

TEXTS = st.text(st.characters(codec="utf-8"), max_size=60)


def read(document: str) -> dict[str, str]:
    """Fields by name, as a requester reads them."""
    place = f"{{{NAMESPACE}}}"
    return {
        answer.findtext(f"{place}QuestionIdentifier", ""): answer.findtext(f"{place}FreeText", "")
        for answer in fromstring(document.encode()).iter(f"{place}Answer")
    }


def carried(text: str) -> str:
    """The text with what XML 1.0 cannot carry replaced, character by character."""
    allowed = {0x9, 0xA, 0xD}
    return "".join(
        letter
        if ord(letter) in allowed or (ord(letter) >= 0x20 and ord(letter) not in BAD)
        else "\ufffd"
        for letter in text
    )


BAD = {0xFFFE, 0xFFFF}


@examples(200)
@given(fields=st.dictionaries(TEXTS, TEXTS, min_size=1, max_size=5))
def test_typed_text_survives_the_xml(fields: dict[str, str]) -> None:
    """What a parser reads is what was typed, but for what XML cannot carry."""
    fields = {k: v for k, v in fields.items() if k != OWN}
    wanted: dict[str | None, str | None] = {
        carried(name): carried(value) for name, value in fields.items()
    }
    if len(wanted) == len(fields) > 0:
        assert read(answer_xml(fields.items())) == wanted


def test_repeated_fields_are_joined_and_only_the_assignment_s_id_is_left_out() -> None:
    """MTurk kept the other ids that pages send; psiTurk's last form has only ids."""
    form = [("a", "1"), ("b", "x"), ("a", "2"), ("assignmentId", "3"), ("hitId", "4")]
    assert read(answer_xml(form)) == {"a": "1|2", "b": "x", "hitId": "4"}
    last = [("assignmentId", "A"), ("hitId", "H"), ("workerId", "W")]
    assert read(answer_xml(last)) == {"hitId": "H", "workerId": "W"}


def test_an_answer_without_a_field_is_refused() -> None:
    """The assignment's id alone is no answer."""
    with pytest.raises(Refusal) as caught:
        answer_xml([("assignmentId", "A")])
    assert caught.value.status == 400


def test_an_answer_has_at_most_65535_bytes() -> None:
    """One byte more is refused with the size in the sentence."""
    room = 65_535 - len(answer_xml([("a", "")]).encode())
    assert answer_xml([("a", "x" * room)])
    with pytest.raises(Refusal, match="65536 bytes") as caught:
        answer_xml([("a", "x" * (room + 1))])
    assert caught.value.status == 413
