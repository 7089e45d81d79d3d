"""The controls that a tag makes, and the values of crowd elements as plain text.

Crowd elements that the marketplace lacks are named as such.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from piecework.domain.text import did_you_mean
from piecework.hit_templates.own_html.placeholders import is_mark

Kind = Literal["text", "number", "one", "several", "carried"]
Values = Mapping[str, str]
Made = tuple["Control", str | None]
"""A control, and the option that its tag stands for if it is one of several."""

_CHOICES = frozenset({"one", "several"})
_RESERVED = frozenset({"assignmentid", "hitid", "workerid", "turksubmitto"})
SEPARATOR = "|"
"""MTurk joins the values of one name with it."""

_SENT_BY_NOTHING = {"image", "button", "reset", "file"}
_WITHOUT_LENGTH = frozenset(
    {"date", "month", "week", "time", "datetime-local", "color", "hidden", "number", "range"}
)
"""Types of inputs whose `maxlength` browsers ignore."""


@dataclass(kw_only=True)
class Control:
    """All controls on the page that share a name.

    Attributes:
        name: the name as the page sends it, with any spaces around it.
        kind: `one` of the options, `several`, or `carried`: a value sent along.
        options: values with their labels.
        is_open: whether values outside the options may be sent.
        is_select: whether it always sends an option, even "".
        is_button: whether pressing it submits the page.
        is_hidden: whether workers cannot see it because a script fills it in.
        element: the tag of the element if its answer is regions of a picture or spans of a
            text; `options` are then their labels.
        text: the text that has the spans.
        unticked: what a hidden input of its name sends, ticked or not.
        parts: names of radio buttons that exclude each other under several names, each
            with the value that it sends.
    """

    name: str
    kind: Kind
    label: str = ""
    options: dict[str, str] = field(default_factory=dict)
    is_open: bool = False
    is_required: bool = False
    is_select: bool = False
    is_button: bool = False
    is_hidden: bool = False
    element: str = ""
    text: str = ""
    unticked: str = ""
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

    def called(self, names: Sequence[str]) -> "Control":
        """Return it with options of these names if its options are its own: `yes` for `yes1`."""
        if not self.parts or [*self.options] != [*self.parts]:
            return self
        if len({*names}) < len(names):
            names = [f"{name}_{n}" for n, name in enumerate(names, start=1)]
        return replace(self, options=dict(zip(names, self.options.values(), strict=True)))

    def join(self, other: "Control") -> None:
        """Take in another control of this name; browsers send what each of them holds."""
        kinds = {self.kind, other.kind}
        choices = kinds & _CHOICES
        self.is_open |= other.is_open or bool(choices and kinds - _CHOICES)
        self.is_select |= other.is_select
        self.is_button &= other.is_button
        self.options |= other.options
        self.is_required |= other.is_required
        if self.longest is None or other.longest is None:
            self.longest = None
        else:
            self.longest += len(SEPARATOR) + other.longest
        if not choices and "number" in kinds:
            self.kind = "text"
        elif choices:
            is_several = "several" in choices or (self.is_select and choices == kinds)
            self.kind = "several" if is_several else "one"

    def add_hidden(self, value: str, *, is_fixed: bool) -> None:
        """Take in a hidden input of this name, as frameworks send one for an empty box.

        Args:
            value: of the hidden input.
            is_fixed: whether no script and no item changes it.
        """
        if self.kind == "number" and (value or not is_fixed):
            self.kind = "text"
        self.longest = None
        if self.kind not in _CHOICES:
            return
        if len(self.options) == 1 and is_fixed and value:
            self.kind = "one"
        if self.kind == "one" and is_fixed and value:
            self.options.setdefault(value, "")
        self.unticked = value if is_fixed else ""
        self.is_open |= not is_fixed or (self.kind == "several" and bool(value))


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
        return Control(name=name or group, kind="one"), values.get("value") or "on"
    if tag in {"crowd-checkbox", "crowd-toggle-button"}:
        return Control(name=name, kind="several"), values.get("value") or "on"
    if tag == "button":
        kind = values.get("type", "").lower()
        return _input(name, kind if kind in _SENT_BY_NOTHING else "submit", values)
    if tag == "input":
        return _input(name, values.get("type", "text").lower(), values)
    maker = None if is_file(tag, values) else _MAKERS.get(tag)
    return None if maker is None else (maker(name, values), None)


def is_file(tag: str, values: Values) -> bool:
    """Return whether a start tag makes an input for a file, which no form sends."""
    return tag in {"input", "crowd-input"} and values.get("type", "").lower() == "file"


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
    return Control(
        name=name, kind=kind, is_required=_is_on(values, "required"), is_select=kind == "one"
    )


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
    is_limited = longest.isdecimal() and values.get("type", "").lower() not in _WITHOUT_LENGTH
    return Control(
        name=name,
        kind="text",
        is_required=_is_on(values, "required"),
        longest=int(longest) if is_limited else None,
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
    return [*listed(text), *_exclusion(values.get("exclusion-category", ""))], False


def _exclusion(text: str) -> list[str]:
    """Return the option that excludes all others, of an object in an attribute.

    >>> _exclusion("{ text: 'None' }"), _exclusion('{"text": "None"}'), _exclusion("")
    (['None'], ['None'], [])
    """
    value = loose(text)
    option = value.get("text") if isinstance(value, dict) else None
    return [str(option)] if option else []


_ANY = r"[^\n\r\u2028\u2029]"
"""What a dot is in JavaScript."""

_TOKEN = re.compile(
    rf"""'((?:[^'\\]|\\{_ANY})*)'|("(?:[^"\\]|\\{_ANY})*")|//[^\n]*|/\*[\s\S]*?\*/"""
    r"""|,(?=\s*[\]}])|([A-Za-z_$][A-Za-z0-9_$]*)(?=\s*:)"""
)
_QUOTED = re.compile(rf"""'(?:[^'\\]|\\{_ANY})*'|"(?:[^"\\]|\\{_ANY})*\"""")
_ESCAPED = re.compile(rf"\\({_ANY})")


def loose(text: str) -> object:
    """Parse an attribute as crowd elements do: JSON, or as JavaScript writes it; else `None`.

    Single quotes, names without quotes, a comma after the last member and comments are read.
    """
    for attempt in (text, _TOKEN.sub(_as_json, text)):
        try:
            return json.loads(attempt, parse_constant=_refuse)
        except (ValueError, RecursionError):
            continue
    return None


def _as_json(token: re.Match[str]) -> str:
    single, double, name = token.groups()
    if single is not None:
        return json.dumps(_ESCAPED.sub(r"\1", single))
    return double or (f'"{name}"' if name else "")


def _refuse(constant: str) -> object:
    raise ValueError(constant)


def listed(text: str) -> list[str]:
    """Return the labels of a list in an attribute, or else the words in quotes.

    >>> listed("['Cat', 'Dog']"), listed("[{label: 'Cat'}]"), listed("'a', 'b'"), listed("none")
    (['Cat', 'Dog'], ['Cat'], ['a', 'b'], [])
    >>> listed("[{'label': 'person', 'shortDisplayName': 'per'}]")
    ['person']
    """
    value = loose(text)
    if not isinstance(value, list):
        return [_ESCAPED.sub(r"\1", word[1:-1]) for word in _QUOTED.findall(text)]
    labels = (member.get("label", "") if isinstance(member, dict) else member for member in value)
    return [label if isinstance(label, str) else json.dumps(label) for label in labels]


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


UNAVAILABLE = frozenset(
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
    if tag in UNAVAILABLE:
        return f"<{tag}> is not available here"
    if not (is_named and tag.startswith("crowd-")) or tag in CONTROL_TAGS | _OTHERS:
        return ""
    meant = did_you_mean(tag, [*CONTROL_TAGS, *_OTHERS])
    shown = f" ({meant.removeprefix('; ')})" if meant else ""
    return f"there is no <{tag}>{shown}, so its value is not sent"


LABELS = frozenset({"label", "labels"})
"""How crowd forms name the part of an answer that holds what was chosen."""

_CHOSEN = LABELS | {"choice", "choices"}
"""Members whose list says what was chosen; an empty list in others, or one of objects, is marks."""


def of_flat(flat: Mapping[str, str]) -> str:
    """Return the answer that a crowd form sent as several names with one beginning.

    >>> of_flat({"1": "false", "2": "true"}), of_flat({"labels": '["cat", "dog"]'})
    ('2', 'cat|dog')
    """
    if set(flat) <= LABELS:
        (text,) = [*flat.values()][:1]
        return as_text(read_json(text))
    return SEPARATOR.join(name for name, text in flat.items() if text.lower() == "true")


def read_json(text: str) -> object:
    """Parse a text as JSON; return the text itself if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def as_text(value: object) -> str:
    """Return a value of a form's JSON as one text: labels, ticked names, numbers.

    Several labels are joined by `|`. What no form sends stays JSON.

    >>> as_text({"labels": ["cat", "dog"]}), as_text({"blur": True, "dark": False})
    ('cat|dog', 'blur')
    >>> as_text(0.5), as_text(float("nan"))
    ('0.5', '')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "on" if value else ""
    if isinstance(value, Mapping):
        return _of_object(value)
    if isinstance(value, list) and all(map(_is_label, value)):
        return SEPARATOR.join(map(str, value))
    is_missing = value is None or value != value  # noqa: PLR0124 - only NaN differs from itself
    return "" if is_missing else json.dumps(value, ensure_ascii=False)


def _is_label(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _of_object(value: Mapping[str, object]) -> str:
    if value and all(isinstance(is_ticked, bool) for is_ticked in value.values()):
        return SEPARATOR.join(_ticked(value))
    (name, only), *others = [*value.items()] or [("", None)]
    is_marks = (
        isinstance(only, list)
        and name not in _CHOSEN
        and all(isinstance(mark, Mapping) for mark in only)
    )
    if not others and isinstance(only, str | list | int | float) and not is_marks:
        return as_text(only)
    return json.dumps(value, ensure_ascii=False)


def _ticked(value: Mapping[str, object]) -> Iterator[str]:
    return (name for name, is_ticked in value.items() if is_ticked is True)
