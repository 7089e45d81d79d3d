"""One field's value: converted from the form and checked against the field.

A value that cannot be converted (not a number) is left out and reported as a problem;
the assignment's `raw` holds it verbatim.
"""

import math
import re
from collections.abc import Mapping

from piecework.domain.assignment import FieldValue
from piecework.domain.task import Field

SEPARATOR = "|"
"""MTurk joins the values of fields with the same name with this."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
"""A number as browsers send it; Python reads more, such as `1_0`."""

Columns = Mapping[str, str]


def typed(field: Field, text: str) -> FieldValue | None:
    """Convert what a form sent; `None` if a number field's text is not a number."""
    if field.kind == "choices":
        return tuple(text.split(SEPARATOR)) if text else ()
    if field.kind == "number":
        return number_in(text)
    return text


def offered(field: Field, columns: Columns) -> tuple[str, ...]:
    """Return the values of the field's options for an item, in the task's order."""
    return tuple(
        option.value
        for option in field.options
        if not option.column or columns.get(option.column, "").strip()
    )


def in_order(field: Field, columns: Columns) -> tuple[str, ...]:
    """Return the offered options that a page may shuffle."""
    last = {option.value for option in field.options if option.last}
    return tuple(value for value in offered(field, columns) if value not in last)


def value_problems(field: Field, value: FieldValue, columns: Columns) -> list[str]:
    """Name the reasons why the page cannot have sent a value."""
    if isinstance(value, float):
        steps = (value - field.minimum) / field.step
        is_fit = field.minimum <= value <= field.maximum and math.isclose(
            steps, round(steps), abs_tol=1e-6
        )
        return [] if is_fit else [f"out_of_range:{field.name}"]
    if field.kind in {"choice", "choices"} and not field.is_open:
        chosen = (value,) if isinstance(value, str) else value
        known = (
            {"", *offered(field, columns)} if isinstance(value, str) else {*offered(field, columns)}
        )
        if not known.issuperset(chosen):
            return [f"unknown_option:{field.name}"]
    return []


def number_in(text: str) -> float | None:
    """Return the number that a text is; `None` if it is not a number.

    >>> number_in("4.5"), number_in("1_0"), number_in("nan")
    (4.5, None, None)
    """
    if _NUMBER.fullmatch(text.strip()) is None:
        return None
    number = float(text)
    return number if math.isfinite(number) else None
