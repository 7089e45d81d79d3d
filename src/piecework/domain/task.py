"""What a human task is: fields, rules, order, defaults. One task is one folder.

The gallery's are in `hit_templates/`, others lie beside a campaign. `task.toml` and
`messages.<language>.toml` are read into these values: a field without a default is a
key that the file must have, and what annotations say (`Gt`, `MinLen`) is held against
the file. A rule is data (kind, parameters, message), so that Python and the page's
JavaScript can obey the same one. docs/reference/task-folder.md explains all keys to
people who add a task.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Literal

from annotated_types import Gt, MinLen

Text = Annotated[str, MinLen(1)]
Positive = Annotated[int, Gt(0)]

FieldKind = Literal["text", "choice", "choices", "number"]
"""`text` is free text, `choice` one of the options, `choices` any number of them,
`number` a place on a scale; a scale that was not touched has no value."""

FieldScope = Literal["item", "hit"]
"""Asked about each item, or once for the whole HIT (consent, age)."""

DatasetKind = Literal["captions", "answers"]
"""`captions` are sentences about images; all else is `answers`: one column a field."""

AggregateKind = Literal["majority", "shares", "mean", "best_edit"]

TRUTH = "truth."
"""Item columns with this prefix tell a rehearsal what is right; no page shows them."""

GOLD = "gold."
"""Item columns with this prefix hold the answer that quality control expects."""

GOLD_BECAUSE = "gold.because"
"""Why the known answers of an item are right, in words for workers who were wrong."""

MIXED_IN = "mixed_in_gold"
"""Something in this column: the item is there to check workers, and no dataset has it.
"""

MADE_BY = "made_by."
"""Item columns with this prefix say which system wrote the text of the column named;
no page shows them."""

PRACTICE = "practice"
"""Rows of the items file with something in this column are trials: every HIT shows
them first, and they are never counted."""

TWIN = "twin"
"""This column holds the id of the item that asks the same again."""

TWIN_REVERSED = "twin_reversed"
"""Something in this column: the twin asks the same the other way round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One possible value of a choice and what the worker reads.

    Attributes:
        column: the item's column that holds the label, instead of `label`; an item
            without it does not offer the option.
        group: the heading it stands under, "" for none.
        last: it keeps its place after the others when the options are shuffled.
        excludes: a worker who chooses it, once a HIT, is outside the study: paid like
            the others, and flagged (`outside_study`), so that a policy can set the
            answers aside.
    """

    value: str
    label: str = ""
    column: str = ""
    group: str = ""
    last: bool = False
    excludes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One thing a worker answers.

    On the wire `<name>.<position>`, for one of the HIT `hit.<name>`.

    Attributes:
        minimum: and `maximum` and `step`, of a number.
        low_label: and `high_label`, what stands at the ends of a number's scale.
        expects_variation: an honest worker's answers differ from item to item, so who
            always says the same has not looked; quality control watches such fields.
        shuffled: the page shows the options in an order of the assignment's own.
        mirrored_by: the arrangement (see `Arrangement`) that turns the scale round when
            its two columns change places; values are turned back when they are read.
        is_opinion: people differ in it without being wrong; a rehearsal's people do.
        is_personal: asked once a HIT about the person. Datasets have counts over all
            participants and no answer of one person
            (`piecework.postprocess.participants`).
        sent_as: what a page of one's own calls it, where that is another name.
        is_open: other values than the options are no fault.
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
    is_open: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrangement:
    """Parts of an item (named by columns) that the page shows in a random order."""

    name: str
    columns: Annotated[tuple[Text, ...], MinLen(2)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate:
    """What the answers of several workers about one item say together.

    Attributes:
        column: the item's column that holds what was edited, for `best_edit`.
    """

    field: str
    kind: AggregateKind
    column: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """Conditions that every participant meets, compared within participants.

    Attributes:
        field: the number that is compared.
        column: the item column that names an item's condition.
        subcondition: a column that divides some conditions further, or "" for none.
    """

    field: str
    column: Text
    subcondition: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rule:
    """One condition on one field, the same in Python and in the browser.

    A rule equals itself alone, so that what follows from it can be kept by it.

    Attributes:
        name: what findings and reports call it.
        kind: the key into the table of kinds (`piecework.hit_templates.rules`).
        field: the field it looks at.
        parameters: what the kind needs, e.g. `{"minimum": 8}`.
        message: what the worker reads when it is broken; kind, and says what to do.
        is_question: the page asks once and then lets it pass; the answer bears
            `questioned:<name>`.
    """

    name: str
    kind: str
    field: str
    parameters: Mapping[str, object] = dataclasses.field(default_factory=dict)
    message: Text
    is_question: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OwnFiles:
    """The files of a task that lies beside a campaign, as they were read.

    Equals itself alone, so that what follows from it can be kept by it.

    Attributes:
        path: the task's folder, or its page.
        digest: sha256 of all files that decide what workers are shown and asked.
        templates: their text by name.
    """

    path: str
    digest: str
    templates: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HtmlPage:
    """A requester's own HTML page of a task (`piecework.hit_templates.own_html`).

    Attributes:
        html: the file, with its placeholders.
        hosts: other hosts that it may load scripts, styles and frames from.
        html_columns: columns whose text is markup, and is put in as it is.
        possible_addresses: columns that a script shows pictures of, if they name any.
        possible_columns: names in template literals of a script, which are columns if
            the items have them.
    """

    html: str
    hosts: tuple[str, ...] = ()
    html_columns: tuple[str, ...] = ()
    possible_addresses: tuple[str, ...] = ()
    possible_columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Task:
    """A human task as its folder describes it, in one language.

    A task equals itself alone, so that what follows from it can be kept by it.

    Attributes:
        columns: item columns that the page needs, `image_id` and `url` for captions;
            the first is the id.
        optional_columns: columns that the page shows where an item has them.
        items_per_hit: how many items one HIT shows at most.
        main_text: the free-text field that becomes the dataset's text, if any.
        canned_text: the text that says "this cannot be done", if the page offers one.
        text_present_field: the field that says whether an image holds text, if any.
        seconds_per_item: what an item takes a careful worker in the middle.
        seconds_to_begin: what it takes before the first: to load and read the page.
        dataset: which files and sections of the report an export makes.
        column_values: what a column may hold, by column; others hold anything.
        shuffles_items: each assignment has the items in an order of its own.
        keeps_order: the items of a HIT stand in the order of the items file.
        group_by: the column whose equal values go into one HIT, as far as they
            fit, and stay side by side when shuffled.
        one_value_per_hit: the column that is the same for all items of a HIT.
        texts: what else the page says, by name, in the language.
        heuristics: settings of heuristics that fit the task; a campaign's stand above.
        own: the files of a task that lies beside a campaign; `None`: of the gallery.
        html_page: its page, if that is HTML and no template.
    """

    name: str
    version: Positive
    title: Text
    description: Text
    keywords: tuple[Text, ...]
    columns: Annotated[tuple[Text, ...], MinLen(1)]
    items_per_hit: Positive
    reward_cents: Positive
    assignment_duration_seconds: Positive
    fields: Annotated[tuple[Field, ...], MinLen(1)]
    rules: tuple[Rule, ...] = ()
    main_text: str = ""
    canned_text: str = ""
    text_present_field: str = ""
    optional_columns: tuple[Text, ...] = ()
    column_values: Mapping[str, tuple[Text, ...]] = dataclasses.field(
        default_factory=dict
    )
    seconds_per_item: Annotated[float, Gt(0)] = 64
    seconds_to_begin: Annotated[float, Gt(0)] = 9
    dataset: DatasetKind = "answers"
    shuffles_items: bool = False
    keeps_order: bool = False
    group_by: str = ""
    one_value_per_hit: str = ""
    arrangements: tuple[Arrangement, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
    conditions: tuple[Conditions, ...] = ()
    heuristics: Mapping[str, Mapping[str, object]] = dataclasses.field(
        default_factory=dict
    )
    language: str = "en"
    texts: Mapping[str, str] = dataclasses.field(default_factory=dict)
    own: OwnFiles | None = None
    html_page: HtmlPage | None = None

    @property
    def item_fields(self) -> tuple[Field, ...]:
        """The fields that are asked about each item."""
        return _fields_of(self, "item")

    @property
    def shuffled_names(self) -> list[str]:
        """Names of what the page shuffles inside an item: fields, then arrangements."""
        names = [field.name for field in self.item_fields if field.shuffled]
        return [*names, *(arrangement.name for arrangement in self.arrangements)]

    @property
    def hit_fields(self) -> tuple[Field, ...]:
        """The fields that are asked once a HIT."""
        return _fields_of(self, "hit")

    @property
    def label_fields(self) -> tuple[Field, ...]:
        """The fields of which each item has a label that is right or wrong.

        One of the options is chosen, the options are all there are, and what most
        answers say is the label of the item.
        """
        labelled = {
            aggregate.field
            for aggregate in self.aggregates
            if aggregate.kind == "majority"
        }
        return tuple(
            field
            for field in self.item_fields
            if field.name in labelled
            and field.kind == "choice"
            and not (field.is_opinion or field.is_open)
        )

    def seconds_of_hit(self, items: int) -> float:
        """What a HIT of so many items takes a careful worker in the middle."""
        return self.seconds_to_begin + self.seconds_per_item * items

    @property
    def shown_columns(self) -> frozenset[str]:
        """All columns that a page may show."""
        return frozenset((*self.columns, *self.optional_columns))


@lru_cache(maxsize=128)  # asked for with every answer that is read
def _fields_of(task: Task, scope: FieldScope) -> tuple[Field, ...]:
    return tuple(field for field in task.fields if field.scope == scope)
