"""The marks that an image classifier shows to be judged: whether a page can draw them.

A page that cannot does not send, so every worker would return its HIT. What depends on the
picture (a mark beside it, the colours of a mask) is known only there, and so is what a
script of the page's own makes of the marks.
"""

import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from html import unescape

from piecework.hit_templates.own_html.control_kinds import loose
from piecework.hit_templates.own_html.controls import controls_of, is_mentioned
from piecework.hit_templates.own_html.escaping import written
from piecework.hit_templates.own_html.markup import lines_of, steps
from piecework.hit_templates.own_html.placeholders import (
    MARKS,
    Template,
    applied,
    number_of_mark,
    value_of,
)

_OVERLAY = "overlay"
_ELEMENTS = frozenset({"crowd-image-classifier", "crowd-image-classifier-multi-select"})
_PLACES: Mapping[str, tuple[str, ...]] = {
    "boundingBox": ("left", "top", "width", "height"),
    "keypoint": ("x", "y"),
    **dict.fromkeys(("polygon", "polyline", "line"), ()),
}
_MASKS = {"semanticSegmentation": "labelMappings", "instanceSegmentation": "instances"}
_COLOUR = re.compile(r"#[0-9a-f]{6}", re.IGNORECASE)
_NOTHING = re.compile(r"\s*(?:null\s*)?")
_LONGEST = 40


def faults_of_marks(template: Template, columns: Mapping[str, str]) -> Iterator[str]:
    """Yield why an item's marks cannot be drawn, a clause for each element.

    Args:
        template: of the page.
        columns: of the item.
    """
    for line, text in _overlays(template):
        if fault := fault_of_overlay(as_read(text, template, columns)):
            yield f"line {line}: the overlay cannot be drawn, so no worker could submit: {fault}"


@lru_cache(maxsize=32)
def _overlays(template: Template) -> tuple[tuple[int, str], ...]:
    """Return the line and the text of each overlay that no script may rewrite, marked."""
    marked = template.marked
    if _OVERLAY not in marked.lower():
        return ()
    texts = [
        (step.number, step.attributes[_OVERLAY])
        for step in steps(marked)
        if step.kind == "start" and step.name in _ELEMENTS and _OVERLAY in step.attributes
    ]
    if not texts or is_mentioned(controls_of(marked).scripts, _OVERLAY):
        return ()
    lines = lines_of(marked)
    return tuple((lines[number], text) for number, text in texts)


def as_read(text: str, template: Template, columns: Mapping[str, str]) -> str:
    """Return a text of a marked page with an item's values, as browsers read it."""

    def value(mark: str) -> str:
        gap = template.gaps[number_of_mark(mark)]
        cell, is_markup = applied(value_of(columns, gap.column), gap.filters)
        return unescape(written(cell, gap.place, is_trusted_markup=is_markup, is_raw=gap.is_raw))

    return MARKS.sub(lambda match: value(match[0]), text)


def fault_of_overlay(text: str) -> str:
    """Return why a page cannot draw these marks, as a clause; "" if nothing is known.

    >>> fault_of_overlay("{ boundingBox: { value: [{ left: 1, top: 2, width: 3, height: 4 }] } }")
    ''
    >>> fault_of_overlay("{videoObjectTracking: {}}")
    "'videoObjectTracking' is no task whose marks are drawn; there are boundingBox, keypoint, \
polygon, polyline, line, semanticSegmentation, instanceSegmentation"
    """
    document = {} if _NOTHING.fullmatch(text) else loose(text)
    if document in ({}, []):
        return ""
    if not isinstance(document, dict):
        return "it is no JSON object"
    task, stated = next(iter(document.items()))
    task = re.sub("-([a-z])", lambda match: match[1].upper(), task)
    if task not in _PLACES and task not in _MASKS:
        known = ", ".join((*_PLACES, *_MASKS))
        return f"{task[:_LONGEST]!r} is no task whose marks are drawn; there are {known}"
    stated = stated if isinstance(stated, dict) else {}
    return (_fault_of_mask if task in _MASKS else _fault_of_places)(task, stated)


def _fault_of_places(task: str, stated: Mapping[str, object]) -> str:
    listed = stated.get("value")
    if not isinstance(listed, list):
        return f"{task} has no list of marks as value"
    faulty = (n for n, mark in enumerate(listed, start=1) if not _is_placed(task, mark))
    return "".join(f"mark {n} of {task} has no place in numbers" for n in [*faulty][:1])


def _fault_of_mask(task: str, stated: Mapping[str, object]) -> str:
    listed = stated.get(_MASKS[task])
    if not stated.get("src"):
        return f"{task} has no src"
    if isinstance(listed, dict) and task == "semanticSegmentation" and listed:
        listed = [*listed.values()]
    elif task == "semanticSegmentation" or not isinstance(listed, list):
        return f"{task} has no {_MASKS[task]}"
    colours = (each.get("color") if isinstance(each, dict) else None for each in listed)
    if not all(isinstance(colour, str) and _COLOUR.fullmatch(colour) for colour in colours):
        return f"{task} has a colour that is not like #1f77b4"
    return ""


def _is_placed(task: str, mark: object) -> bool:
    if not isinstance(mark, dict):
        return False
    if names := _PLACES[task]:
        return all(_is_number(mark.get(name)) for name in names)
    corners = mark.get("vertices")
    return (
        isinstance(corners, list)
        and bool(corners)
        and all(
            isinstance(corner, dict) and _is_number(corner.get("x")) and _is_number(corner.get("y"))
            for corner in corners
        )
    )


def _is_number(value: object) -> bool:
    """Return whether JavaScript makes a finite number of a value."""
    if isinstance(value, str):
        try:
            return not value.strip() or math.isfinite(float(value.replace("_", " ")))
        except ValueError:
            return bool(re.fullmatch(r"\s*0[xob][0-9a-f]+\s*", value, re.IGNORECASE))
    return isinstance(value, int | float) and math.isfinite(value)
