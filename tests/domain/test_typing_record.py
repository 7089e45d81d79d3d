"""A record of typing is read whole, or not at all: a worker's browser sends it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.domain.assignment import MOST_CHARACTERS, TypingRecord, typing_record, typing_records
from tests.for_each import for_each
from tests.typing_records import record


def test_a_record_survives_the_wire() -> None:
    """What is written is what is read."""
    own = record(kinds={"insertText": (40, 40), "deleteContentBackward": (2, 0)})
    assert typing_record(own.as_json()) == own
    assert len(own.as_json()) < 500
    sent = f'{{"caption": {own.as_json()}}}'
    assert typing_records(sent, ["caption", "flaw_other"]) == {"caption": own}
    assert typing_records("{}", ["caption"]) == {}


@for_each(
    ("name", "value"),
    [
        ("quick", -1),
        ("quick", 1.5),
        ("quick", True),
        ("quick", "1"),
        ("quick", 10**8),
        ("median", None),
        ("pauses", [1]),
        ("pauses", [1, 2, 3]),
        ("bursts", 3),
        ("kinds", []),
        ("kinds", {"insertText": 3}),
        ("kinds", {"<script>": [1, 1]}),
        ("kinds", {f"kind{'x' * n}": [1, 1] for n in range(21)}),
        ("keys", ["a", "b"]),  # nothing else is kept
    ],
)
def test_a_forged_record_is_no_record(name: str, value: object) -> None:
    """Each number is in bounds, each name is known, and no name is missing."""
    fields = json.loads(record().as_json())
    assert typing_record(json.dumps(fields)) is not None
    assert typing_record(json.dumps(fields | {name: value})) is None
    del fields["removed"]
    assert typing_record(json.dumps(fields)) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "{",
        "[" * 7_000,
        '{"caption": 1}',
        '{"colour": {}}',
        '{"caption": ' + "9" * 5_000 + "}",
        "{}" + " " * MOST_CHARACTERS,
    ],
)
def test_what_is_no_document_of_records_is_none(text: str) -> None:
    """Neither deep nor long documents cost anything."""
    assert typing_records(text, ["caption"]) is None


@given(st.text() | st.dictionaries(st.text(), st.integers()).map(json.dumps))
def test_no_text_is_an_error(text: str) -> None:
    """Any text is a record, or none."""
    read = typing_record(text)
    assert read is None or isinstance(read, TypingRecord)
