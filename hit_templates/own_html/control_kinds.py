"""The controls that one tag makes: plain inputs and the elements of crowd forms.

Crowd elements that the marketplace lacks are named as such.
"""

import ast
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from piecework.domain.text import did_you_mean
from piecework.hit_templates.own_html.placeholders import is_mark

Kind = Literal["text", "number", "one", "several", "carried"]
Values = Mapping[str, str]
Made = tuple["Control", str | None]
"""A control, and the option that its tag stands for if it is one of several."""

_RESERVED = frozenset({"assignmentid", "hitid", "workerid", "turksubmitto"})
_SENT_BY_NOTHING = {"image", "button", "reset", "file"}


@dataclass(kw_only=True)
class Control:
    """All controls on the page that share a name.

    Attributes:
        name: the name as the page sends it, with any spaces around it.
        kind: `one` of the options, `several`, or `carried`: a value sent along.
        options: values with their labels.
        is_open: whether values outside the options may be sent.
        is_button: whether pressing it submits the page.
        is_hidden: whether workers cannot see it because a script fills it in.
        element: the tag of the element if its answer is regions of a picture or spans of a
            text; `options` are then their labels.
        text: the text that has the spans.
        parts: names of radio buttons that exclude each other under several names, each
            with its one option.
    """

    name: str
    kind: Kind
    label: str = ""
    options: dict[str, str] = field(default_factory=dict)
    is_open: bool = False
    is_required: bool = False
    is_button: bool = False
    is_hidden: bool = False
    element: str = ""
    text: str = ""
    parts: dict[str, str] = field(default_factory=dict)
    minimum: float | None = None
    maximum: float | None = None
    step: float | None = None
    longest: int | None = None
    line: int = 0

    @property
    def scale(self) -> tuple[float | None, float | None, float | None]:
        """Least, most and step of its numbers; of options that are whole numbers, theirs."""
        numbers = [int(option) for option in self.options if option.removeprefix("-").isdecimal()]
        if not numbers or len(numbers) < len(self.options):
            return self.minimum, self.maximum, self.step
        return float(min(numbers)), float(max(numbers)), 1.0


def is_reserved(name: str) -> bool:
    """Return whether a page sends an id of the worker or the HIT under this name.

    >>> is_reserved("workerId"), is_reserved("worker_ID"), is_reserved("worker")
    (True, True, False)
    """
    return re.sub(r"[\s_.-]", "", name).lower() in _RESERVED


def made(tag: str, values: Values, *, group: str = "") -> Made | None:
    """Return the control that a start tag makes, or `None`.

    Args:
        tag: the tag's name.
        values: the tag's attributes.
        group: the name of the radio group around it, if any.
    """
    name = values.get("name", "")
    if tag in _CLASSIFIERS:
        return _classifier(name, _CLASSIFIERS[tag], values), None
    if tag == "crowd-radio-button":
        return Control(name=name or group, kind="one"), values.get("value") or name
    if tag in {"crowd-checkbox", "crowd-toggle-button"}:
        return Control(name=name, kind="several"), values.get("value") or "on"
    if tag == "button":
        kind = values.get("type", "").lower()
        return _input(name, kind if kind in _SENT_BY_NOTHING else "submit", values)
    if tag == "input":
        return _input(name, values.get("type", "text").lower(), values)
    maker = _MAKERS.get(tag)
    return None if maker is None else (maker(name, values), None)


def _input(name: str, kind: str, values: Values) -> Made | None:
    if kind in {"radio", "checkbox"}:
        choice_kind: Kind = "one" if kind == "radio" else "several"
        control = Control(name=name, kind=choice_kind, is_required=_is_on(values, "required"))
        return control, values.get("value", "on")
    if kind == "submit":
        # A button with a name and a value sends them when pressed.
        value = values.get("value", "")
        button = Control(name=name, kind="one", is_button=True)
        return (button, value) if name and value else None
    if kind in _SENT_BY_NOTHING:
        return None
    if kind == "number":
        return _number(name, values), None
    if kind == "range":
        return _slider(name, values), None
    return _line(name, values), None


def _select(name: str, values: Values) -> Control:
    kind: Kind = "several" if "multiple" in values else "one"
    return Control(name=name, kind=kind, is_required=_is_on(values, "required"))


def _classifier(name: str, kind: Kind, values: Values) -> Control:
    options, is_open = _categories(values)
    return Control(
        name=name, kind=kind, options=dict.fromkeys(options, ""), is_open=is_open, is_required=True
    )


def _regions(tag: str, name: str, values: Values) -> Control:
    text = values.get("labels", "")
    return Control(
        name=name,
        kind="text",
        element=tag,
        options={} if is_mark(text) else dict.fromkeys(listed(text), ""),
        is_required=True,
        text=values.get("text", ""),
    )


def _line(name: str, values: Values) -> Control:
    if values.get("type") == "number":
        return _number(name, values)
    longest = values.get("maxlength") or values.get("max-length") or ""
    return Control(
        name=name,
        kind="text",
        is_required=_is_on(values, "required"),
        longest=int(longest) if longest.isdigit() else None,
    )


def _slider(name: str, values: Values) -> Control:
    return _number(name, {"min": "0", "max": "100", **values})


def _number(name: str, values: Values) -> Control:
    low, high = _float(values.get("min"), None), _float(values.get("max"), None)
    if low is not None and high is not None and low >= high:
        low = high = None  # A script sets them.
    return Control(
        name=name,
        kind="number",
        is_required=_is_on(values, "required"),
        minimum=low,
        maximum=high,
        step=None if values.get("step") == "any" else _float(values.get("step"), 1),
    )


def _float(text: str | None, default: float | None) -> float | None:
    try:
        return float(text) if text else default
    except ValueError:
        return default


def _categories(values: Mapping[str, str]) -> tuple[Sequence[str], bool]:
    text = values.get("categories", "")
    if is_mark(text):
        return (), True
    none = re.search(r"text\s*:\s*['\"](.+?)['\"]", values.get("exclusion-category", ""))
    return [*listed(text), *([none[1]] if none else [])], False


def listed(text: str) -> list[str]:
    """Parse a list in an attribute: JSON, or similar with single quotes.

    >>> listed("['Cat', 'Dog']"), listed('["a"]'), listed("none")
    (['Cat', 'Dog'], ['a'], [])
    >>> listed("[{'label': 'person', 'shortDisplayName': 'per'}]")
    ['person']
    """
    for read in (json.loads, ast.literal_eval):
        try:
            literal = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(literal, list):
            return [
                str(member.get("label", "") if isinstance(member, dict) else member)
                for member in literal
            ]
    return []


def _is_on(values: Mapping[str, str], name: str) -> bool:
    return name in values and values[name] != "false"


_CLASSIFIERS: Mapping[str, Kind] = {
    "crowd-classifier": "one",
    "crowd-image-classifier": "one",
    "crowd-classifier-multi-select": "several",
    "crowd-image-classifier-multi-select": "several",
}

REGIONS = {
    "crowd-bounding-box": "boundingBoxes",
    "crowd-keypoint": "keypoints",
    "crowd-polygon": "polygons",
    "crowd-polyline": "polylines",
    "crowd-line": "lines",
    "crowd-semantic-segmentation": "labeledImage",
    "crowd-instance-segmentation": "labeledImage",
    "crowd-entity-annotation": "entities",
}
"""Elements whose answer is regions or spans, with the part of it that holds these."""

_MAKERS: Mapping[str, Callable[[str, Values], Control]] = {
    **{tag: partial(_regions, tag) for tag in REGIONS},
    "select": _select,
    "textarea": _line,
    "crowd-text-area": _line,
    "crowd-input": _line,
    "crowd-text-ranking": _line,  # Its answer is an object.
    "crowd-slider": _slider,
}

CONTROL_TAGS = frozenset(_MAKERS) | frozenset(_CLASSIFIERS)
"""Elements that make one control each, besides inputs and buttons."""


_UNAVAILABLE = frozenset(
    f"crowd-{name}"
    for name in (
        *("3d-point-cloud", "video-object-detection", "video-object-tracking"),
        *("rekognition-detect-moderation-labels", "textract-analyze-document"),
        "question-answer-generation",
    )
)
"""Crowd elements that the marketplace does not have."""

_OTHERS = frozenset(
    f"crowd-{name}"
    for name in (
        *("form", "radio-group", "radio-button", "checkbox", "toggle-button"),
        *("button", "instructions", "modal", "tabs", "tab", "card", "alert", "icon"),
        *("fab", "toast", "badge", "icon-button"),
    )
)
"""Crowd elements that are not controls, or are read in another way."""


def fault_of_tag(tag: str, *, is_named: bool) -> str:
    """Explain as a clause why an element's value is not sent; "" if it is sent.

    Args:
        tag: the tag's name.
        is_named: whether the page expects an answer from it; browsers ignore other
            unknown tags.
    """
    if tag in _UNAVAILABLE:
        return f"<{tag}> is not available here"
    if not (is_named and tag.startswith("crowd-")) or tag in CONTROL_TAGS | _OTHERS:
        return ""
    meant = did_you_mean(tag, [*CONTROL_TAGS, *_OTHERS])
    shown = f" ({meant.removeprefix('; ')})" if meant else ""
    return f"there is no <{tag}>{shown}, so its value is not sent"
