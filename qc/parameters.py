"""Parameters of heuristics from a campaign file, so that a mistyped one never passes.

A campaign file's table `[heuristics.<name>]` arrives as a plain dictionary. It is held
against the heuristic's frozen `Params`: each key, type and range; every fault becomes a
sentence with the key, what was found and what is allowed.
"""

import dataclasses
import inspect
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints


@dataclass(frozen=True, slots=True, kw_only=True)
class Between:
    """A number's range, both ends allowed."""

    least: float = -math.inf
    most: float = math.inf

    def words(self) -> str:
        """The range for people.

        >>> Between(least=0, most=1).words()
        'from 0 to 1'
        """
        if math.isinf(self.most):
            return f"{self.least:g} or more" if math.isfinite(self.least) else "any"
        if math.isinf(self.least):
            return f"{self.most:g} or less"
        return f"from {self.least:g} to {self.most:g}"


Share = Annotated[float, Between(least=0, most=1)]
"""A part of a whole."""

Amount = Annotated[float, Between(least=0)]
"""Seconds, standard deviations, words a second: a number that is not negative."""

Count = Annotated[int, Between(least=1)]
"""How many at least; one or more."""

Phrases = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """One parameter as the page and the help show it."""

    name: str
    default: object
    allowed: str
    meaning: str


def read(
    params: type[Any], given: Mapping[str, object], *, where: str
) -> tuple[dict[str, object], list[str]]:
    """The given values that can be used, and a sentence for each that cannot.

    Args:
        params: a frozen dataclass; its annotations say what is allowed.
        given: what the campaign file says.
        where: how the faults name the table, e.g. `heuristics.capitals`.
    """
    hints = get_type_hints(params, include_extras=True)
    values: dict[str, object] = {}
    faults = []
    for key, found in given.items():
        if key not in hints:
            names = ", ".join(sorted(hints)) or "none"
            faults.append(f"{where}.{key}: no such parameter; allowed are {names}.")
            continue
        value, allowed = _fit(hints[key], found)
        if value is None:
            faults.append(f"{where}.{key}: found {found!r}; allowed is {allowed}.")
        else:
            values[key] = value
    return values, faults


def describe(params: type[Any]) -> list[Described]:
    """The parameters in their order, explained by the class's `Attributes` section."""
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


def _fit(hint: object, found: object) -> tuple[object, str]:
    """The value to use, `None` if it does not fit, and what is allowed."""
    allowed = _allowed(hint)
    if get_origin(hint) is Literal:
        return (found if found in get_args(hint) else None), allowed
    kind, bounds = _kind(hint)
    if kind is tuple:
        return _phrases(found), allowed
    if kind is float and type(found) is int:
        found = float(found)
    if type(found) is not kind:  # a bool is an int to isinstance, but not to us
        return None, allowed
    if bounds is not None and not _within(found, bounds):
        return None, allowed
    return found, allowed


def _phrases(found: object) -> tuple[str, ...] | None:
    if not isinstance(found, list | tuple):
        return None
    if not all(isinstance(phrase, str) and phrase.strip() for phrase in found):
        return None
    return tuple(found)


def _within(found: object, bounds: Between) -> bool:
    if not isinstance(found, int | float) or not math.isfinite(found):
        return False
    return bounds.least <= found <= bounds.most


def _kind(hint: object) -> tuple[object, Between | None]:
    if get_origin(hint) is Annotated:
        kind, bounds = get_args(hint)
        return kind, bounds
    return (tuple if get_origin(hint) is tuple else hint), None


def _allowed(hint: object) -> str:
    if get_origin(hint) is Literal:
        return "one of " + ", ".join(repr(value) for value in get_args(hint))
    kind, bounds = _kind(hint)
    words = _KIND_WORDS[kind]
    return f"{words}, {bounds.words()}" if bounds is not None else words


_KIND_WORDS: dict[object, str] = {
    float: "a number",
    int: "a whole number",
    bool: "true or false",
    str: "a text",
    tuple: "a list of texts that are not empty",
}


def _attributes(doc: str) -> dict[str, str]:
    """Names and explanations of a Google-style `Attributes` section."""
    _, _, section = doc.partition("Attributes:\n")
    meanings: dict[str, str] = {}
    for entry in re.split(r"\n(?=    \S)", section.rstrip()):
        name, _, meaning = entry.strip().partition(": ")
        if meaning:
            meanings[name] = " ".join(meaning.split())
    return meanings
