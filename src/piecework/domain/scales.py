"""Options that are grades, and reversed scales."""

from piecework.domain.assignment import FieldValue
from piecework.domain.task import Field


def is_graded(field: Field) -> bool:
    """Whether the options of a choice are grades: whole numbers in order."""
    values = [option.value for option in field.options]
    return (
        field.kind == "choice"
        and len(values) > 1
        and all(value.removeprefix("-").isdigit() for value in values)
    )


def mirrored(field: Field, value: FieldValue) -> FieldValue:
    """Return the value on the reversed scale; values that are not options stay.

    >>> grade = Field(name="g", kind="number", label="", minimum=1, maximum=4)
    >>> mirrored(grade, 1.0)
    4.0
    """
    if isinstance(value, float):
        return field.minimum + field.maximum - value
    values = [option.value for option in field.options]
    turned = dict(zip(values, reversed(values), strict=True))
    if isinstance(value, str):
        return turned.get(value, value)
    return tuple(turned.get(option, option) for option in value)


WIDEST = 1e9
"""A number without known limits lies between minus and plus this."""


def is_unlimited(field: Field) -> bool:
    """Whether a number has no known limits."""
    return field.kind == "number" and field.maximum - field.minimum >= WIDEST
