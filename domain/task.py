"""What a human task is: fields, rules, defaults. One task is one folder.

`hit_templates/<task>/task.toml` is read into these values. A rule is data (kind,
parameters, message), so that Python and the page's JavaScript can obey the same one.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

FieldKind = Literal["text", "choice", "choices"]
"""`text` is free text, `choice` one of the options, `choices` any number of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One possible value of a choice and what the worker reads."""

    value: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One thing a worker answers about each item; on the wire `<name>.<position>`."""

    name: str
    kind: FieldKind
    label: str
    options: tuple[Option, ...] = ()
    optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One condition on one field, the same in Python and in the browser.

    Attributes:
        name: what findings and reports call it.
        kind: the key into the table of kinds (`hit_templates.rules`).
        field: the field it looks at.
        parameters: what the kind needs, e.g. `{"minimum": 8}`.
        message: what the worker reads when it is broken; kind, and says what to do.
    """

    name: str
    kind: str
    field: str
    parameters: Mapping[str, object] = dataclasses.field(default_factory=dict)
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A human task as its folder describes it.

    Attributes:
        columns: item columns that the page needs, `image_id` and `url` for captions.
        items_per_hit: how many items one HIT shows at most.
        main_text: the free-text field that becomes the dataset's text, if any.
        canned_text: the text that says "this cannot be done", if the page offers one.
        text_present_field: the field that says whether an image holds text, if any.
    """

    name: str
    version: int
    title: str
    description: str
    keywords: tuple[str, ...]
    columns: tuple[str, ...]
    items_per_hit: int
    reward_cents: int
    assignment_duration_seconds: int
    fields: tuple[Field, ...]
    rules: tuple[Rule, ...]
    main_text: str = ""
    canned_text: str = ""
    text_present_field: str = ""
