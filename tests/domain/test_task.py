"""Grades, and scales that are turned round."""

import pytest

from piecework.domain.assignment import FieldValue
from piecework.domain.field import Field, FieldKind, Option, is_graded, mirrored


def choice(*values: str, kind: FieldKind = "choice") -> Field:
    """A field with these options."""
    options = tuple(Option(value=value, label=value) for value in values)
    return Field(name="grade", kind=kind, label="Grade", options=options)


@pytest.mark.parametrize(
    ("field", "graded"),
    [
        (choice("1", "2", "3"), True),
        (choice("-2", "-1", "0", "1"), True),
        (choice("①", "②", "③"), False),
        (choice("\uff11", "\uff12", "\uff13"), False),
        (choice("\u0661", "\u0662", "\u0663"), False),
        (choice("1"), False),  # one option is no scale
        (choice("yes", "no"), False),
        (choice("1", "2", "none"), False),
        (choice("1.5", "2"), False),
        (choice("1", "2", kind="choices"), False),
    ],
)
def test_grades_are_whole_numbers_of_a_choice(field: Field, *, graded: bool) -> None:
    """Two options or more, and each a whole number."""
    assert is_graded(field) is graded


SLIDER = Field(name="more", kind="number", label="", minimum=-2, maximum=4)


@pytest.mark.parametrize(
    ("field", "value", "turned"),
    [
        (SLIDER, -2.0, 4.0),  # -2 + 4 - (-2)
        (SLIDER, 1.0, 1.0),  # the middle
        (SLIDER, 3.5, -1.5),
        (choice("1", "2", "3"), "1", "3"),
        (choice("1", "2", "3"), "2", "2"),
        (choice("a", "b", "c", "d", kind="choices"), ("a", "b"), ("d", "c")),
        (choice("1", "2", "3"), "9", "9"),  # no option: stays
    ],
)
def test_a_scale_is_turned_round(field: Field, value: FieldValue, turned: FieldValue) -> None:
    """The first for the last; twice is once round."""
    assert mirrored(field, value) == turned
    assert mirrored(field, turned) == value
