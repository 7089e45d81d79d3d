"""Laws of reading parameters from a campaign file."""

from dataclasses import dataclass
from typing import Literal

import pytest

from piecework.qc.parameters import (
    Amount,
    Count,
    Phrases,
    Share,
    describe_parameters,
    read_parameters,
)
from tests.for_each import for_each


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """All kinds of parameters.

    Attributes:
        share: a part
            of a whole.
        seconds: how long.
        least: how many.
        strict: or not.
        scale: which.
        words: some.
        field: a name.
    """

    share: Share = 0.5
    seconds: Amount = 2.0
    least: Count = 3
    strict: bool = False
    scale: Literal["log", "raw"] = "log"
    words: Phrases = ()
    field: str = ""


@pytest.mark.parametrize(
    ("key", "stated", "value"),
    [
        ("share", 1, 1.0),
        ("share", 0.25, 0.25),
        ("least", 1, 1),
        ("strict", True, True),
        ("scale", "raw", "raw"),
        ("words", ["a", "b c"], ("a", "b c")),
        ("words", [], ()),
        ("field", "", ""),
    ],
)
def test_what_fits_is_taken(key: str, stated: object, value: object) -> None:
    """TOML's whole numbers serve as numbers and its lists become tuples."""
    values, faults = read_parameters(Params, {key: stated}, where="heuristics.x")
    assert faults == []
    assert values == {key: value}
    assert type(values[key]) is type(value)


@for_each(
    ("key", "stated"),
    [
        ("share", 1.1),
        ("share", True),
        ("share", "0.5"),
        ("share", float("nan")),
        ("least", 0),
        ("least", 2.0),
        ("least", True),
        ("strict", 1),
        ("scale", "ln"),
        ("scale", ["raw"]),
        ("words", "blur"),
        ("words", [""]),
        ("words", [1]),
        ("field", 1),
    ],
)
def test_what_does_not_fit_is_named_with_what_is_allowed(key: str, stated: object) -> None:
    """A fault names the key, what was found and what is allowed."""
    values, faults = read_parameters(Params, {key: stated}, where="heuristics.x")
    assert values == {}
    (fault,) = faults
    assert fault.startswith(f"heuristics.x.{key}: found {stated!r}; allowed is ")


def test_an_unknown_key_is_named_with_the_known_ones() -> None:
    """A mistyped parameter never passes for a default."""
    (fault,) = read_parameters(Params, {"shares": 1}, where="heuristics.x")[1]
    assert fault == (
        "heuristics.x.shares: no such parameter; "
        "allowed are field, least, scale, seconds, share, strict, words."
    )


def test_descriptions_join_wrapped_lines_and_say_ranges() -> None:
    """The page shows the docstring's words and the annotation's range."""
    first = describe_parameters(Params)[0]
    assert first.meaning == "a part of a whole."
    assert first.allowed == "a number, from 0 to 1"
    assert first.default == 0.5


def test_ranges_are_said_in_words() -> None:
    """A range from both sides, from below, and none."""
    allowed = {each.name: each.allowed for each in describe_parameters(Params)}
    assert allowed["share"] == "a number, from 0 to 1"
    assert allowed["least"] == "a whole number, 1 or more"
    assert allowed["seconds"] == "a number, 0 or more"
    assert allowed["scale"] == "one of 'log', 'raw'"
    assert allowed["words"] == "a list of texts that are not empty"
