"""Parameters of heuristics from a campaign file, checked strictly.

A campaign file's table `[heuristics.<name>]` arrives as a plain dictionary. Pydantic
checks it strictly (true is not a number) against the heuristic's frozen `Params`: each
key, type and range. Every fault becomes a sentence with the key, what was found and
what is allowed.
"""

import dataclasses
import functools
import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, get_type_hints

from pydantic import ConfigDict, Field, Strict, TypeAdapter, ValidationError

Share = Annotated[float, Field(ge=0, le=1)]
"""A part of a whole, from 0 to 1."""

Amount = Annotated[float, Field(ge=0)]
"""Seconds, standard deviations, words per second: a number that is not negative."""

Ratio = Annotated[float, Field(ge=1)]
"""A factor, or odds to one."""

Count = Annotated[int, Field(ge=1)]
"""The least number of something; one or more."""


class Counted(StrEnum):
    """What a parameter counts; with fewer, its heuristic flags nothing.

    It annotates the parameter (`Annotated[Count, Counted.OF_WORKER]`).
    """

    OF_WORKER = "items of one worker"
    KNOWN_OF_WORKER = "items with known answers of one worker"
    OF_HIT = "items of one HIT"
    ITEMS = "items"
    ASSIGNMENTS = "assignments of one batch"
    OTHERS = "answers by others to an item"
    ANSWERS = "answers to an item"


Phrases = Annotated[tuple[Annotated[str, Field(pattern=r"\S")], ...], Strict(False)]  # noqa: FBT003 - TOML has lists, and no tuples
"""A list of texts that are not empty."""

Samples = Annotated[
    tuple[
        Annotated[
            tuple[str, str, Annotated[str, Field(pattern=r"\S")]], Strict(False)  # noqa: FBT003 - as above
        ],
        ...,
    ],
    Strict(False),  # noqa: FBT003 - as above
]
"""Texts of programs: the item that each is about or "", the program or "", the text."""

Word = Annotated[str, Field(pattern=r"^\w*$")]
"""One word, or an empty string."""

_STRICT = ConfigDict(strict=True, allow_inf_nan=False)

_KINDS = {
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "string": "a text",
    "array": "a list of texts that are not empty",
}
"""The types of JSON Schema, as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """One parameter as the page and the help show it."""

    name: str
    default: object
    allowed: str
    meaning: str


def read_parameters(
    params: type[Any], settings: Mapping[str, object], *, where: str
) -> tuple[dict[str, object], list[str]]:
    """Return the valid settings, and a sentence for each invalid one.

    Args:
        params: a frozen dataclass; its annotations define what is allowed.
        settings: the table of the campaign file.
        where: how the faults name the table, e.g. `heuristics.capitals`.
    """
    hints = get_type_hints(params, include_extras=True)
    values: dict[str, object] = {}
    faults = []
    for key, value in settings.items():
        if key not in hints:
            names = ", ".join(sorted(hints)) or "none"
            faults.append(f"{where}.{key}: no such parameter; allowed are {names}.")
            continue
        try:
            values[key] = _adapter(hints[key]).validate_python(value)
        except ValidationError:
            allowed = _allowed(hints[key])
            faults.append(f"{where}.{key}: found {value!r}; allowed is {allowed}.")
    return values, faults


def describe_parameters(params: type[Any]) -> list[Described]:
    """Describe the parameters in their order, from the class's `Attributes` section."""
    hints = get_type_hints(params, include_extras=True)
    meanings = _attributes(inspect.getdoc(params) or "")
    return [
        Described(
            name=field.name,
            default=field.default,
            allowed=_allowed(hints[field.name]),
            meaning=meanings.get(field.name, ""),
        )
        for field in dataclasses.fields(params)
    ]


def counted(params: type[Any]) -> dict[str, Counted]:
    """Return what each counting parameter counts, by its name."""
    hints = get_type_hints(params, include_extras=True)
    return {
        name: kind
        for name, hint in hints.items()
        for kind in getattr(hint, "__metadata__", ())
        if isinstance(kind, Counted)
    }


@functools.cache
def _adapter(hint: Any) -> TypeAdapter[object]:  # noqa: ANN401 - any annotation
    return TypeAdapter(hint, config=_STRICT)


def _allowed(hint: object) -> str:
    """Return what a parameter may be, as text.

    >>> _allowed(Share), _allowed(Count)
    ('a number, from 0 to 1', 'a whole number, 1 or more')
    """
    schema = _adapter(hint).json_schema()
    if "enum" in schema:
        return "one of " + ", ".join(repr(value) for value in schema["enum"])
    if "pattern" in schema:
        return "one word"
    if schema.get("items", {}).get("type") == "array":
        return "a list of [item, program, text]"
    kind = _KINDS[schema["type"]]
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is None:
        return kind
    if high is None:
        return f"{kind}, {low:g} or more"
    return f"{kind}, from {low:g} to {high:g}"


def _attributes(doc: str) -> dict[str, str]:
    """Names and explanations of a Google-style `Attributes` section."""
    _, _, section = doc.partition("Attributes:\n")
    meanings: dict[str, str] = {}
    for entry in re.split(r"\n(?=    \S)", section.rstrip()):
        name, _, meaning = entry.strip().partition(": ")
        if meaning:
            meanings[name] = " ".join(meaning.split())
    return meanings
