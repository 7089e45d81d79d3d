"""A task that is nothing but its fields: what was asked elsewhere, without a page.

Results that another tool collected were answered on that tool's page. What it asked is
said in the campaign file (`[fields]`), so that answers are typed, compared and judged
as all are; nobody can be shown it.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from piecework.domain.errors import ConfigError
from piecework.domain.task import OwnFiles, Task
from piecework.hit_templates.own_html.fields import (
    Said,
    aggregates,
    canned_text,
    found_fields,
    main_text,
    seconds_per_item,
)

_HOUR = 3600
_MOST_ITEMS = 50


def answers_task(
    name: str,
    stated_fields: Mapping[str, Said],
    *,
    title: str,
    columns: Sequence[str],
    once: frozenset[str] = frozenset(),
    language: str = "en",
    canned: Mapping[str, str] = MappingProxyType({}),
) -> Task:
    """The task of these fields.

    Args:
        name: of the task.
        stated_fields: what the campaign file states, by the field's name in the files.
        title: of what was asked.
        columns: of the items: the id, then what else they have.
        once: fields that were asked once a HIT, by what the files call them.
        language: that texts are in.
        canned: the text that says "this cannot be done", by name of its field.

    Raises:
        ConfigError: there is no field, or the statements about one do not fit together.
    """
    fields, rules, faults = found_fields({}, stated_fields)
    if not fields:
        faults.append("fields: there is none; say what was answered")
    if faults:
        raise ConfigError(faults)
    required = {rule.field for rule in rules}
    asked = tuple(
        replace(
            field,
            scope="hit" if field.sent_as in once else "item",
            expects_variation=field.expects_variation and field.sent_as not in once,
            optional=field.name not in required,
        )
        for field in fields
    )
    of_items = [field for field in asked if field.scope == "item"]
    canned_one, faults = canned_text(canned, of_items)
    if faults:
        raise ConfigError(faults)
    of_it = repr((stated_fields, sorted(once), *canned.items()))
    return Task(
        name=name,
        version=1,
        title=title,
        description=title,
        keywords=("imported",),
        columns=(columns[0],),
        optional_columns=tuple(columns[1:]),
        items_per_hit=_MOST_ITEMS,
        reward_cents=1,
        assignment_duration_seconds=_HOUR,
        seconds_per_item=seconds_per_item(of_items or list(asked)),
        fields=asked,
        rules=tuple(rules),
        main_text=main_text(of_items),
        canned_text=canned_one,
        aggregates=aggregates(of_items),
        heuristics={"too_fast": {"min_seconds": 2.0}},
        language=language,
        own=OwnFiles(
            path="[fields]",
            digest=hashlib.sha256(of_it.encode()).hexdigest(),
            templates={},
        ),
    )
