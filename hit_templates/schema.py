"""What may stand in a `task.toml`, key by key.

Labels and messages are required here, though most stand in `messages.<language>.toml`:
they are filled in before (`hit_templates.messages`).
"""

from typing import Annotated

from annotated_types import Gt, Len
from pydantic import BaseModel, ConfigDict, Strict, StringConstraints

from domain.task import AggregateKind, DatasetKind, FieldKind, FieldScope

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
Positive = Annotated[int, Gt(0), Strict()]
OptionValue = Annotated[str, StringConstraints(pattern=r"^[^|\s]+$")]


class Entry(BaseModel):
    """A table of the file; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class OptionEntry(Entry):
    """One of a field's options."""

    value: OptionValue  # "|" parts the values of a field on the wire
    label: str = ""
    column: str = ""
    group: str = ""
    last: bool = False
    excludes: bool = False


class FieldEntry(Entry):
    """`[[fields]]`; see `domain.task.Field`."""

    name: Name
    kind: FieldKind
    label: Text
    options: tuple[OptionEntry, ...] = ()
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


class RuleEntry(Entry):
    """`[[rules]]`; see `domain.task.Rule`."""

    name: Name
    kind: str
    field: str
    parameters: dict[str, object] = {}
    message: Text
    is_question: bool = False


class ArrangementEntry(Entry):
    """`[[arrangements]]`; see `domain.task.Arrangement`."""

    name: Name
    columns: Annotated[tuple[Text, ...], Len(min_length=2)]


class AggregateEntry(Entry):
    """`[[aggregates]]`; see `domain.task.Aggregate`."""

    field: str
    kind: AggregateKind
    column: str = ""


class ConditionsEntry(Entry):
    """`[[conditions]]`; see `domain.task.Conditions`."""

    field: str
    column: Text
    subcondition: str = ""


class TaskFile(Entry):
    """A whole `task.toml`; see `domain.task.Task`."""

    version: Positive
    title: Text
    description: Text
    keywords: Annotated[tuple[Text, ...], Len(min_length=1)]
    columns: Annotated[tuple[Text, ...], Len(min_length=1)]
    items_per_hit: Positive
    reward_cents: Positive
    assignment_duration_seconds: Positive
    fields: Annotated[tuple[FieldEntry, ...], Len(min_length=1)]
    rules: tuple[RuleEntry, ...] = ()
    main_text: str = ""
    canned_text: str = ""
    text_present_field: str = ""
    optional_columns: tuple[Text, ...] = ()
    column_values: dict[str, tuple[Text, ...]] = {}
    seconds_per_item: Annotated[float, Gt(0)] = 64
    dataset: DatasetKind = "answers"
    shuffles_items: bool = False
    group_by: str = ""
    one_value_per_hit: str = ""
    arrangements: tuple[ArrangementEntry, ...] = ()
    aggregates: tuple[AggregateEntry, ...] = ()
    conditions: tuple[ConditionsEntry, ...] = ()
    heuristics: dict[str, dict[str, object]] = {}
