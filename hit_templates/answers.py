"""Turns the form fields of an assignment into typed answers, and loses none.

What the page would have refused can still arrive: a program may have sent it, or the
page and this code may disagree. Such an answer is kept with its faults named.

Names of faults in `Answer.problems`: a broken rule has the rule's name; a fault of form
has one of `missing:<field>`, `unknown_option:<field>`, `not_a_number:<measure>`,
`wrong_item` (the page showed another item there), `unknown_field` and `extra_item`
(fields that the page does not have; the assignment's `raw` holds them verbatim).
"""

import re
from collections.abc import Mapping, Sequence

from domain.assignment import Answer, FieldValue
from domain.ids import AssignmentId, ItemId, answer_id
from domain.task import Field, Task
from hit_templates.rules import check

MEASURES = ("shown_ms", "pastes", "keystrokes", "focus_losses")
"""What the page counts for each item; whole numbers."""

OF_THE_HIT = ("comment",)
"""Fields that are sent once for the whole HIT and belong to no answer."""

SEPARATOR = "|"
"""MTurk joins the values of fields with the same name so."""

_WHOLE_NUMBER = re.compile(r"[0-9]{1,12}")
_NUMBERED = re.compile(r"(?P<name>.+)\.(?P<position>[1-9][0-9]{0,3})")


def read_answers(
    task: Task,
    assignment_id: AssignmentId,
    item_ids: Sequence[ItemId],
    fields: Mapping[str, str],
) -> tuple[Answer, ...]:
    """One answer for every item that the HIT showed, in the order shown.

    Args:
        task: whose page the worker filled in.
        assignment_id: whose answers these are.
        item_ids: the items of the HIT, in the order shown.
        fields: what the form sent, by wire name (`caption.1`).
    """
    strange = _strange_fields(task, len(item_ids), fields)
    return tuple(
        _answer(task, assignment_id, item_id, fields, position=n, strange=strange)
        for n, item_id in enumerate(item_ids, start=1)
    )


def _answer(
    task: Task,
    assignment_id: AssignmentId,
    item_id: ItemId,
    fields: Mapping[str, str],
    *,
    position: int,
    strange: Sequence[tuple[int, str]],
) -> Answer:
    sent = {
        field.name: fields[f"{field.name}.{position}"]
        for field in task.fields
        if f"{field.name}.{position}" in fields
    }
    values = {
        field.name: _value(field, sent[field.name])
        for field in task.fields
        if field.name in sent
    }
    texts = {name: fields.get(f"{name}.{position}") for name in MEASURES}
    measures = {name: _whole_number(text) for name, text in texts.items()}
    problems = [
        *([] if fields.get(f"item.{position}") == item_id else ["wrong_item"]),
        *_field_problems(task, values),
        *_measure_problems(texts, measures),
        *sorted({name for where, name in strange if where in {0, position}}),
        *(rule.name for rule in check(task, values)),
    ]
    return Answer(
        answer_id=answer_id(assignment_id, position),
        assignment_id=assignment_id,
        item_id=item_id,
        position=position,
        values=values,
        problems=tuple(problems),
        **measures,
    )


def _value(field: Field, text: str) -> FieldValue:
    if field.kind == "choices":
        return tuple(text.split(SEPARATOR)) if text else ()
    return text


def _whole_number(text: str | None) -> int | None:
    return int(text) if text is not None and _WHOLE_NUMBER.fullmatch(text) else None


def _field_problems(task: Task, values: Mapping[str, FieldValue]) -> list[str]:
    problems = []
    for field in task.fields:
        if field.name not in values:
            # A browser sends nothing for buttons and boxes that are not ticked; whether
            # one must be is for a rule to say.
            if field.kind == "text" and not field.optional:
                problems.append(f"missing:{field.name}")
            continue
        known = {option.value for option in field.options}
        if field.kind != "text" and not known.issuperset(_chosen(values[field.name])):
            problems.append(f"unknown_option:{field.name}")
    return problems


def _chosen(value: FieldValue) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,) if value else ()
    return value


def _measure_problems(
    texts: Mapping[str, str | None], measures: Mapping[str, int | None]
) -> list[str]:
    return [
        f"{'missing' if texts[name] is None else 'not_a_number'}:{name}"
        for name in MEASURES
        if measures[name] is None
    ]


def _strange_fields(
    task: Task, n_items: int, fields: Mapping[str, str]
) -> list[tuple[int, str]]:
    """Fields that the page does not have: position (0: the whole HIT) and problem."""
    known = {"item", *MEASURES, *(field.name for field in task.fields)}
    strange = []
    for wire_name in fields:
        if wire_name in OF_THE_HIT:
            continue
        numbered = _NUMBERED.fullmatch(wire_name)
        position = int(numbered["position"]) if numbered else 0
        if position > n_items:
            strange.append((0, "extra_item"))
        elif numbered is None or numbered["name"] not in known:
            strange.append((position, "unknown_field"))
    return strange
