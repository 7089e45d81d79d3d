"""A task that has fields but no page: work that was done in another tool.

Workers answered such work on the other tool's page. The campaign file states what it
asked (`[fields]`), so that piecework types, compares and judges these answers like any
others. The task cannot be shown to workers.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from piecework.domain.errors import ConfigError
from piecework.domain.task import OwnFiles, Task
from piecework.hit_templates.own_html.fields_of_controls import (
    StatedField,
    aggregates,
    fields_and_rules,
    main_text,
)
from piecework.hit_templates.own_html.task import canned_text, seconds_per_item

_HOUR = 3600
_MOST_ITEMS = 50


def answers_task(
    name: str,
    stated_fields: Mapping[str, StatedField],
    *,
    title: str,
    columns: Sequence[str],
    language: str = "en",
    canned: Mapping[str, str] = MappingProxyType({}),
) -> Task:
    """Build the task of these fields.

    Args:
        name: the name of the task.
        stated_fields: what the campaign file states, by the field's name in the files.
        title: the title of the work.
        columns: the items' columns: the id first, then the others.
        language: the language of the texts.
        canned: the text that means "this cannot be done", by the name of its field.

    Raises:
        ConfigError: there is no field, or the statements about one contradict each
            other.
    """
    fields, rules, faults = fields_and_rules({}, stated_fields)
    if not fields:
        faults.append("fields: there are none; state what the workers answered")
    if faults:
        raise ConfigError(faults)
    required = {rule.field for rule in rules}
    once = {name for name, stated in stated_fields.items() if stated.scope == "hit"}
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
    of_it = repr((stated_fields, *canned.items()))
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
            path="[fields]", digest=hashlib.sha256(of_it.encode()).hexdigest(), templates={}
        ),
    )
