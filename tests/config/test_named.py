"""Every key of a campaign file that takes text says whether the text is opened."""

import re
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, StringConstraints, ValidationError

from piecework.config.named import Named, Names, Words, keys_of, texts_of
from piecework.config.schema import CampaignTables

KEYS = [*keys_of(CampaignTables)]
_OPENED = re.compile(
    r"(^|_)(file|folder|path|url|database|store|records|replay|pictures|to|hosts|"
    r"address|endpoint|sink|webhook|source)s?(_|$)"
)
SHOWN = {"fees.*.source", "dataset.pictures"}
"""Texts with such a name that are only shown, or are one of a few words."""


def test_every_key_with_text_says_what_it_names() -> None:
    """A new key with plain `str` fails here until its type has a mark of `Names`."""
    assert [".".join(key) for key, _, names in KEYS if names is None] == []


def test_a_key_named_as_a_file_or_address_is_marked_as_one() -> None:
    """Else a new key of type `Words` could open what it names."""
    unmarked = {
        ".".join(named.key)
        for named in KEYS
        if named.names is Names.NOTHING and any(_OPENED.search(part) for part in named.key[-1:])
    }
    assert unmarked <= SHOWN


def test_no_other_type_can_hold_text() -> None:
    """The walk sees all types that the schema is made of."""

    class Unmarked(BaseModel):
        plain: str
        several: dict[str, tuple[str | int, ...]]
        optional: Annotated[list[str], Names.INPUT] | None = None
        inner: Annotated[Words, Names.DATABASE] | None = None

    assert [named.names for named in keys_of(Unmarked)] == [
        *(None, None, Names.INPUT, Names.DATABASE)
    ]


@pytest.mark.parametrize("character", ["\0", "\n", "\x1b", "\x7f", "\x85"])
@pytest.mark.parametrize(
    "key", [key for key, _, names in KEYS if names is not Names.NOTHING], ids=".".join
)
def test_no_path_or_address_has_a_control_character(key: tuple[str, ...], character: str) -> None:
    """Each key that is opened or leads somewhere says so, also of a list or table."""
    text, messages = f"https://a.org/b{character}c", []
    for is_list in (True, False):
        document: Any = text
        for part in reversed(key):
            has_list = part == "*" and is_list
            document = [document] if has_list else {part: document}
        with pytest.raises(ValidationError) as raised:
            CampaignTables.model_validate(document)
        messages += [
            error["msg"]
            for error in raised.value.errors()
            if error["input"] == text or "address cannot have" in error["msg"]
        ]
    words = ("address cannot have", "should match pattern", "name a task")
    assert any(word in message for word in words for message in messages)


@pytest.mark.parametrize(
    ("table", "names"),
    [
        ({"machine": {"votes": "a.csv"}}, {"machine.votes.0": "a.csv"}),
        ({"machine": {"votes": ["a", "b"]}}, {"machine.votes.1": "b"}),
        (
            {"prolific": {"custom_allowlist": {"file": "ids"}}},
            {"prolific.custom_allowlist.file": "ids"},
        ),
        ({"sink": "s3://a"}, {"sink.0.0": "s3://a"}),
        (
            {"requirements": {"no_workers_of": ["b.toml"]}},
            {"requirements.no_workers_of.0": "b.toml"},
        ),
        ({"earned": [{"name": "n", "kind": "k"}]}, {"earned.0.records": "earned.db"}),
    ],
)
def test_the_texts_of_a_file_come_with_their_marks(
    table: dict[str, object], names: dict[str, str]
) -> None:
    """Through lists, tables of any name, and unions."""
    tables = CampaignTables.model_validate(
        {
            "name": "birds",
            "description": "d",
            "task": "caption",
            "items": {"file": "items.csv"},
            "budget": "1.00",
            "hourly_wage": "0",
            **table,
        }
    )
    texts = [*texts_of(tables)]
    assert None not in {named.names for named in texts}
    opened = {
        ".".join(key): text
        for key, text, marked in texts
        if marked not in {Names.NOTHING, Names.LINK}
    }
    assert {"task": "caption", "items.file": "items.csv", **names}.items() <= (opened.items())


def test_a_constraint_is_no_mark() -> None:
    """Only `Names` says what a text names."""

    class Constrained(BaseModel):
        file: Annotated[str, StringConstraints(max_length=9)]

    assert [*keys_of(Constrained)] == [Named(("file",), "", None)]
