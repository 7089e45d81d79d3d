"""What a worker is asked: the fields of a task, their options, and how answers are combined.

Options of a field may be grades, and a scale may be reversed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Gt, MinLen

from piecework.domain.assignment import FieldValue

Text = Annotated[str, MinLen(1)]

FieldKind = Literal["text", "choice", "choices", "number"]
"""`text` is free text, `choice` one of the options, `choices` any number of them,
`number` a place on a scale; an untouched scale has no value."""

FieldScope = Literal["item", "hit"]
"""Asked about each item, or once for the whole HIT (consent, age)."""

AggregateKind = Literal[
    "majority", "shares", "mean", "best_edit", "boxes", "points", "polygons", "masks", "spans",
    "transcript",
]  # fmt: skip
Regions = Literal["boundingBoxes", "keypoints", "polygons", "labeledImage", "entities"]
MarkKind = Literal["boxes", "points", "polygons", "masks", "spans"]
MERGED: Mapping[AggregateKind, Regions] = {
    "boxes": "boundingBoxes",
    "points": "keypoints",
    "polygons": "polygons",
    "masks": "labeledImage",
    "spans": "entities",
}
"""The part of an answer with regions that can be merged, by how they are aggregated."""
MERGED_KINDS: frozenset[AggregateKind] = frozenset({*MERGED, "transcript"})
"""Aggregates that merge the answers about an item into a new one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One possible value of a choice and its label for workers.

    Attributes:
        column: the item's column that holds the label, instead of `label`; an item
            without it does not offer the option.
        group: the heading above it, "" for none.
        last: it stays after the others when the options are shuffled.
        excludes: a worker who chooses it in a field of the HIT is outside the study:
            paid like the others, and flagged (`outside_study`), so that a policy can
            set the answers aside.
    """

    value: str
    label: str = ""
    column: str = ""
    group: str = ""
    last: bool = False
    excludes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One thing that a worker answers.

    Its form name is `<name>.<position>`, or `hit.<name>` for a field of the HIT.

    Attributes:
        minimum: and `maximum` and `step`: of a number.
        low_label: and `high_label`: labels at the ends of a number's scale.
        expects_variation: an honest worker's answers differ from item to item, so a worker
            who always says the same has not looked; quality control watches such fields.
        shuffled: the page shows the options in a random order per assignment.
        mirrored_by: the arrangement (see `Arrangement`) that reverses the scale when its two
            columns are swapped; values are reversed back when they are read.
        is_opinion: people may differ without being wrong, also in a rehearsal.
        is_personal: asked once per HIT about the person. Datasets have only counts over all
            participants, not one person's answer (`piecework.postprocess.pseudonyms`).
        sent_as: its name on a requester's own page, if that differs.
        sent_at: its names for item 1, 2 and so on, on such a page that shows several.
        unticked: the value that such a page always sends, with what is chosen.
        is_open: values other than the options are allowed.
        is_nominal: options that are numbers are codes without order.
        regions: the part of its JSON text that holds regions or spans, or "".
        is_transcript: its text is what is said or written in the item, word for word.
    """

    name: str
    kind: FieldKind
    label: Text
    options: tuple[Option, ...] = ()
    optional: bool = False
    scope: FieldScope = "item"
    minimum: float = 0
    maximum: float = 0
    step: Annotated[float, Gt(0)] = 1
    low_label: str = ""
    high_label: str = ""
    expects_variation: bool = False
    shuffled: bool = False
    mirrored_by: str = ""
    is_opinion: bool = False
    is_personal: bool = False
    sent_as: str = ""
    sent_at: tuple[str, ...] = ()
    unticked: str = ""
    is_open: bool = False
    is_nominal: bool = False
    regions: str = ""
    is_transcript: bool = False

    @property
    def names_sent(self) -> tuple[str, ...]:
        """Its names on a requester's own page, by the position of the item."""
        return self.sent_at or (self.sent_as,)

    @property
    def is_merged(self) -> bool:
        """Whether it is a text that is right or wrong, and is compared with others'."""
        return self.is_transcript or self.regions in MERGED.values()

    def words_of(self, value: str) -> str:
        """The words that workers read for an option that is a number, else the value."""
        labels = (option.label for option in self.options if option.value == value)
        return (next(labels, "") if value.isdecimal() else "") or value


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrangement:
    """Parts of an item (named by columns) that the page shows in a random order."""

    name: str
    columns: Annotated[tuple[Text, ...], MinLen(2)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """How to combine the answers of several workers about one item.

    Attributes:
        column: the item's column with the text that was edited, for `best_edit`.
    """

    field: str
    kind: AggregateKind
    column: str = ""


def is_graded(field: Field) -> bool:
    """Whether the options of a choice are grades: three whole numbers or more, in order.

    Numbers are in ASCII digits, as everything that computes with them reads them.

    Two options are right or wrong, whatever they are called.

    >>> options = tuple(Option(value=value) for value in "531")
    >>> is_graded(Field(name="f", kind="choice", label="", options=options))
    True
    >>> is_graded(Field(name="f", kind="choice", label="", options=options[:2]))
    False
    """
    values = [option.value for option in field.options]
    if field.kind != "choice" or field.is_nominal or len(values) < 3:  # noqa: PLR2004 - see above
        return False
    if not all(value.isascii() and value.removeprefix("-").isdigit() for value in values):
        return False
    grades = [int(value) for value in values]
    return sorted(grades) in (grades, grades[::-1])


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


WIDEST = 1e9  # a number without known limits lies between minus and plus this


def is_unlimited(field: Field) -> bool:
    """Whether a number has no known limits."""
    return field.kind == "number" and field.maximum - field.minimum >= WIDEST


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedField:
    """What a campaign file states about one field of a page; `None`: not stated.

    Digests of tasks hold the `repr`.
    """

    kind: FieldKind | None = None
    label: str | None = None
    options: tuple[str, ...] | None = None
    minimum: float | None = None
    maximum: float | None = None
    step: float | None = None
    required: bool | None = None
    scope: FieldScope | None = None
    marks: MarkKind | None = None
