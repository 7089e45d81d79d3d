"""A human task: fields, rules, order, defaults. One task is one folder.

The gallery's tasks are in `hit_templates/`, others are beside a campaign. `task.toml`
and `messages.<language>.toml` are read into these values: a field without a default is
a required key, and annotations (`Gt`, `MinLen`) are checked against the file. A rule is
data (kind, parameters, message), so that Python and the page's JavaScript can apply the
same rule. Its fields are in `piecework.domain.field`. docs/how-to/tasks.md explains how
to add a task.
"""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Literal

from annotated_types import Gt, MinLen

from piecework.domain.column_names import MEASURES, PLAYED
from piecework.domain.field import Aggregate, Arrangement, Field, FieldScope, Text

Positive = Annotated[int, Gt(0)]

DatasetKind = Literal["captions", "answers"]
"""`captions` are sentences about images; the rest is `answers`: one column per field."""

TRUTH = "truth."
"""Item columns with this prefix tell a rehearsal the right answers; pages never show them."""

GOLD = "gold."
"""Item columns with this prefix hold the answer that quality control expects."""

GOLD_BECAUSE = "gold.because"
"""Why the known answers of an item are right, as text for workers who were wrong."""

MIXED_IN = "mixed_in_gold"
"""Any value in this column: the item checks workers and is not part of the dataset."""

MADE_BY = "made_by."
"""Item columns with this prefix say which system wrote the text of the named column;
pages never show them."""

PRACTICE = "practice"
"""Items with any value in this column are for practice: first in every HIT, never counted."""

NO_PAGE = "[fields]"
"""The path of a task without a page: its answers are from elsewhere."""

TWIN = "twin"
"""This column holds the id of the item that asks the same again."""

TWIN_REVERSED = "twin_reversed"
"""Any value in this column: the twin asks the same in reverse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    """A difference between conditions that is expected before anyone answers.

    Attributes:
        name: what is expected, in a few words.
        lower: the conditions whose mean should be lower than that of `higher`.
    """

    name: Text
    lower: Annotated[tuple[Text, ...], MinLen(1)]
    higher: Annotated[tuple[Text, ...], MinLen(1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """Conditions that every participant sees, compared within participants.

    Attributes:
        field: the number that is compared.
        column: the item column that names an item's condition.
        subcondition: a column that divides some conditions further, or "" for none.
        text: the item column with the text that is rated, or "" for none.
        reference: the item column with the correct text, or "" for none.
    """

    field: str
    column: Text
    subcondition: str = ""
    text: str = ""
    reference: str = ""
    hypotheses: tuple[Hypothesis, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Follows:
    """An earlier task whose labels decide what this task is asked about.

    Attributes:
        task: the earlier task's name.
        field: its field with the labels.
        options: the labels whose items this task takes; empty for all.
        column: the item column of this task that gets the label; then an item with
            several labels becomes one item for each. "" for none.
    """

    task: Text
    field: Text
    options: tuple[Text, ...] = ()
    column: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rule:
    """One condition on one field, the same in Python and in the browser.

    Rules compare by identity, so that derived values can be cached by rule.

    Attributes:
        name: its name in findings and reports.
        kind: the key into the table of kinds (`piecework.hit_templates.rules`).
        field: the field that it checks.
        parameters: the parameters of the kind, e.g. `{"minimum": 8}`.
        message: friendly text for the worker that says what to do.
        is_question: the page asks once and then accepts the answer, which gets the
            problem `questioned:<name>`.
    """

    name: str
    kind: str
    field: str
    parameters: Mapping[str, object] = dataclasses.field(default_factory=dict)
    message: Text
    is_question: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OwnFiles:
    """The files of a task beside a campaign, as they were read.

    Instances compare by identity, so that derived values can be cached by them.

    Attributes:
        path: the task's folder, or its page.
        digest: sha256 of all files that affect what workers see and are asked.
        templates: the templates' text by name.
        digests: short digests by name, of the files in a folder.
    """

    path: str
    digest: str
    templates: Mapping[str, str]
    digests: Mapping[str, str] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HtmlPage:
    """A requester's own HTML page of a task (`piecework.hit_templates.own_html`).

    Attributes:
        html: the file, with its placeholders, and with files beside it inside.
        hosts: other hosts that it may load scripts, styles and frames from.
        addresses: columns that the page loads from; their cells may be empty.
        possible_addresses: columns that a script may show pictures from, or a link names.
        possible_columns: names in template literals of a script; they are columns if
            the items have them.
        left_out: why a file beside the page is not inside, by its address: a clause.
        lost: what files inside load in vain: clauses with file and line.
        numbered: placeholders with a number, each with the items' column and the position.
    """

    html: str
    hosts: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    possible_addresses: tuple[str, ...] = ()
    possible_columns: tuple[str, ...] = ()
    left_out: Mapping[str, str] = dataclasses.field(default_factory=dict)
    lost: tuple[str, ...] = ()
    numbered: tuple[tuple[str, str, int], ...] = ()


PartKind = Literal["text", "picture", "audio", "video", "link"]

GENERIC = ("choose", "compare", "describe", "rate", "tag", "transcribe")
"""Tasks whose question, options and examples are in the campaign file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A column of the items that a generic task shows, and how.

    Attributes:
        column: the column.
        kind: how the page shows its cells.
        may_lack: some items have no such cell.
        is_option: it stands beside others, and workers choose between them.
    """

    column: str
    kind: PartKind
    may_lack: bool = False
    is_option: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkedExample:
    """An example in the instructions of a generic task.

    Attributes:
        cells: cells of an item, by column, as the page shows them.
        answer: the right answer, as workers read it.
        because: why, or "".
    """

    cells: Mapping[str, str]
    answer: str
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Task:
    """A human task as its folder describes it, in one language.

    Tasks compare by identity, so that derived values can be cached by task.

    Attributes:
        columns: item columns that the page needs, `image_id` and `url` for captions;
            the first is the id.
        optional_columns: columns that the page shows if an item has them.
        items_per_hit: the most items that one HIT shows.
        main_text: the free-text field that becomes the dataset's text, if any.
        canned_text: the text that says "this cannot be done", if the page offers one.
        text_present_field: the field that says whether an image contains text, if any.
        seconds_per_item: median time of a careful worker per item.
        seconds_to_begin: time before the first item, to load and read the page.
        dataset: decides which files and report sections an export writes.
        column_values: allowed values by column; other columns may hold anything.
        shuffles_items: each assignment shows the items in a random order.
        keeps_order: the items of a HIT are in the order of the items file.
        group_by: items with equal values in this column go into one HIT, if they fit,
            and stay side by side when shuffled.
        one_value_per_hit: the column that is the same for all items of a HIT.
        follows: the tasks whose results can become items of this task.
        texts: further texts of the page, by name, in the language.
        heuristics: settings of heuristics that fit the task; a campaign's settings have
            priority.
        own: the files of a task beside a campaign; `None` for the gallery's.
        html_page: its page, if that is HTML instead of a template.
        is_generic: the campaign file states the question.
        parts: what a generic task shows of an item, in this order.
        instructions: lines above a generic task.
        examples: worked examples above a generic task.
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
    column_values: Mapping[str, tuple[Text, ...]] = dataclasses.field(default_factory=dict)
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
    follows: tuple[Follows, ...] = ()
    heuristics: Mapping[str, Mapping[str, object]] = dataclasses.field(default_factory=dict)
    language: str = "en"
    texts: Mapping[str, str] = dataclasses.field(default_factory=dict)
    own: OwnFiles | None = None
    html_page: HtmlPage | None = None
    is_generic: bool = False
    parts: tuple[Part, ...] = ()
    instructions: tuple[str, ...] = ()
    examples: tuple[WorkedExample, ...] = ()

    @property
    def item_fields(self) -> tuple[Field, ...]:
        """The fields that are asked about each item."""
        return _fields_of(self, "item")

    @property
    def shuffled_names(self) -> list[str]:
        """Names of what the page shuffles in an item: fields, then arrangements."""
        names = [field.name for field in self.item_fields if field.shuffled]
        return [*names, *(arrangement.name for arrangement in self.arrangements)]

    def is_turned(self, field: Field, order: Sequence[str]) -> bool:
        """Return whether this order of the sides, as shown, reverses the field's scale."""
        return any(
            arrangement.name == field.mirrored_by and tuple(order) == arrangement.columns[::-1]
            for arrangement in self.arrangements
        )

    @property
    def hit_fields(self) -> tuple[Field, ...]:
        """The fields that are asked once per HIT."""
        return _fields_of(self, "hit")

    @property
    def label_fields(self) -> tuple[Field, ...]:
        """The fields that give each item a right or wrong label.

        A worker chooses one of a closed set of options, and the majority's choice is
        the label of the item.
        """
        labelled = {
            aggregate.field for aggregate in self.aggregates if aggregate.kind == "majority"
        }
        return tuple(
            field
            for field in self.item_fields
            if field.name in labelled
            and field.kind == "choice"
            and not (field.is_opinion or field.is_open)
        )

    @property
    def merged_fields(self) -> tuple[Field, ...]:
        """The fields about items whose answers are marks or transcripts that are merged."""
        return tuple(field for field in self.item_fields if field.is_merged)

    def seconds_of_hit(self, items: int) -> float:
        """Return a careful worker's median time for a HIT with this many items."""
        return self.seconds_to_begin + self.seconds_per_item * items

    @property
    def measures(self) -> tuple[str, ...]:
        """What its page counts of each item."""
        return _measures_of(self)

    @property
    def is_cleaned(self) -> bool:
        """Whether its main text is cleaned: no transcript, and none of a custom page's texts."""
        is_word_for_word = any(
            field.is_transcript for field in self.fields if field.name == self.main_text
        )
        return self.html_page is None and not is_word_for_word

    @property
    def picture_columns(self) -> tuple[str, ...]:
        """Columns with addresses of pictures."""
        if self.is_generic:
            return tuple(part.column for part in self.parts if part.kind == "picture")
        return ("url",) if self.html_page is None else self.html_page.addresses

    @property
    def shown_pictures(self) -> tuple[str, ...] | None:
        """Columns that a page shows as pictures, if a cell is one; `None`: not known."""
        return _pictures_of(self)

    @property
    def shown_columns(self) -> tuple[str, ...]:
        """All columns that a page may show, each once, in an order that no process changes."""
        return tuple(dict.fromkeys((*self.columns, *self.optional_columns)))


@lru_cache(maxsize=128)  # called for every answer that is read
def _fields_of(task: Task, scope: FieldScope) -> tuple[Field, ...]:
    return tuple(field for field in task.fields if field.scope == scope)


_DRAWN = re.compile(r"(?:\bpicture\(|<img\b[^>]*?\{\{)\s*(?:item\.columns(?:\.|\[['\"])([\w-]+))?")


@lru_cache(maxsize=128)  # called for every item
def _pictures_of(task: Task) -> tuple[str, ...] | None:
    if task.own is not None and task.own.path == NO_PAGE:
        return None
    if task.html_page is not None:
        return (*task.picture_columns, *task.html_page.possible_addresses)
    own = {} if task.own is None or task.is_generic else task.own.templates
    drawn = [match[1] for source in own.values() for match in _DRAWN.finditer(source)]
    if None in drawn:
        return None  # a loop, or a name of the template's own
    return tuple(dict.fromkeys((*task.picture_columns, *drawn)))


def is_page(named: str) -> bool:
    """Return whether a campaign file names a requester's own page as its task.

    >>> is_page("hit.html"), is_page("caption")
    (True, False)
    """
    return named.lower().endswith((".html", ".htm"))


_PLAYER = re.compile(r"<(?:audio|video)\b", re.IGNORECASE)


@lru_cache(maxsize=128)
def _measures_of(task: Task) -> tuple[str, ...]:
    # The template of generic tasks can show any kind of part.
    sources = [] if task.own is None or task.is_generic else [*task.own.templates.values()]
    # A page of one's own does not say which of several items a sound belongs to.
    is_of_one = task.html_page is not None and task.items_per_hit == 1
    sources += [task.html_page.html] if task.html_page is not None and is_of_one else []
    is_played = any(part.kind in {"audio", "video"} for part in task.parts)
    return (*MEASURES, PLAYED) if is_played or any(map(_PLAYER.search, sources)) else MEASURES
