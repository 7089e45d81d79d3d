"""Turns the form fields of an assignment into typed answers without losing any.

A value that cannot be converted (not a number) is left out and reported as a problem;
the assignment's `raw` holds it verbatim.

An answer that the page would have refused can still arrive: a program may have sent it,
or the page and this code may disagree. Such an answer is kept and its faults are named.

Names of faults in `Answer.problems`: a broken rule has the rule's name
(`questioned:<rule>` if the rule only asks); a malformed field has one of
`missing:<field>`, `unknown_option:<field>`, `not_a_number:<field or measure>`,
`malformed:typing` (no record of how texts were entered; it is not read),
`unreadable:<field>` (no marks of its kind, or more than are read),
`out_of_range:<field>`, `wrong_item` (the page showed another item there),
`wrong_order:<what>` (not the assignment's order). Faults in fields that are asked once
per HIT are named in each of its answers, and so is `extra_item` (a field of the page
for an item that the HIT does not have). What was sent for no field is no fault:
`Answer.also_sent` holds it verbatim, and what cannot be read as its field's value.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from piecework.domain.assignment import TYPING, Answer, FieldValue, TypingRecord, typing_records
from piecework.domain.column_names import MEASURES, PLAYED
from piecework.domain.field import MERGED, Field, FieldScope, mirrored
from piecework.domain.ids import AssignmentId, ItemId, answer_id
from piecework.domain.task import Task
from piecework.hit_templates.order import item_order, option_order, shuffled
from piecework.hit_templates.own_html.control_kinds import is_reserved
from piecework.hit_templates.own_html.fields_of_controls import received
from piecework.hit_templates.rules import check

SEPARATOR = "|"
"""MTurk joins the values of fields with the same name with this."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
"""A number as browsers send it; Python reads more, such as `1_0`."""

Columns = Mapping[str, str]


def typed(field: Field, text: str) -> FieldValue | None:
    """Convert what a form sent; `None` if a number field's text is not a number."""
    if field.kind == "choices":
        return tuple(text.split(SEPARATOR)) if text else ()
    if field.kind == "number":
        return number_in(text)
    return text


def offered(field: Field, columns: Columns) -> tuple[str, ...]:
    """Return the values of the field's options for an item, in the task's order."""
    return tuple(
        option.value
        for option in field.options
        if not option.column or columns.get(option.column, "").strip()
    )


def in_order(field: Field, columns: Columns) -> tuple[str, ...]:
    """Return the offered options that a page may shuffle."""
    last = {option.value for option in field.options if option.last}
    return tuple(value for value in offered(field, columns) if value not in last)


def value_problems(field: Field, value: FieldValue, columns: Columns) -> list[str]:
    """Name the reasons why the page cannot have sent a value."""
    if isinstance(value, float):
        steps = (value - field.minimum) / field.step
        is_fit = field.minimum <= value <= field.maximum and math.isclose(
            steps, round(steps), abs_tol=1e-6
        )
        return [] if is_fit else [f"out_of_range:{field.name}"]
    if field.regions in MERGED.values() and value:
        # Only such tasks need it, and it loads pandas.
        from piecework.analyses.regions import read_marks  # noqa: PLC0415

        part = next(part for part in MERGED.values() if part == field.regions)
        return [] if read_marks(str(value), part) is not None else [f"unreadable:{field.name}"]
    if field.kind in {"choice", "choices"} and not field.is_open:
        chosen = (value,) if isinstance(value, str) else value
        known = (
            {"", *offered(field, columns)} if isinstance(value, str) else {*offered(field, columns)}
        )
        if not known.issuperset(chosen):
            return [f"unknown_option:{field.name}"]
    return []


def number_in(text: str) -> float | None:
    """Return the number that a text is; `None` if it is not a number.

    >>> number_in("4.5"), number_in("1_0"), number_in("nan")
    (4.5, None, None)
    """
    if _NUMBER.fullmatch(text.strip()) is None:
        return None
    number = float(text)
    return number if math.isfinite(number) else None


OF_THE_HIT = ("comment",)
"""Fields that are sent once per HIT and do not belong to an answer."""

ITEM_ORDER = "order.items"
"""The positions of the items in the order that the page showed them."""

_WHOLE = 1_000
"""Per mille."""

_WHOLE_NUMBER = re.compile(r"[0-9]{1,12}")
_NUMBERED = re.compile(r"(?P<name>.+)\.(?P<position>[1-9][0-9]{0,3})")
_NOTHING: Columns = {}


def read_answers(
    task: Task,
    assignment_id: AssignmentId,
    item_ids: Sequence[ItemId],
    fields: Mapping[str, str],
    *,
    columns: Mapping[ItemId, Columns] | None = None,
    is_own_page: bool = True,
    more: Mapping[int, Mapping[str, str]] = MappingProxyType({}),
    platform: Mapping[str, str] = MappingProxyType({}),
) -> tuple[Answer, ...]:
    """Return one answer for every item that the HIT showed, in the order of the HIT.

    Args:
        task: the task with the page that the worker filled in.
        assignment_id: the assignment of these answers.
        item_ids: the items of the HIT, in its order.
        fields: what the form sent, by wire name (`caption.1`).
        columns: the items' columns, if the task's options or rules depend on them.
        is_own_page: whether a page of piecework sent them, which measures, and shuffles
            as the task says. False for another tool's page.
        more: what another tool recorded for no field, by position (0: of the HIT).
        platform: the ids that forms repeat, such as `workerId`, by name. What says the
            same is no answer.
    """
    fields = {name: text for name, text in fields.items() if not repeats(name, text, platform)}
    if task.html_page is not None:
        own, ids = _without_ids_of_items(fields, item_ids, are_joined=is_own_page)
        read = received(task.fields, own, items=len(item_ids), room=task.items_per_hit)
        declared = {name for field in task.fields for name in field.names_sent}
        for n, item_id in enumerate(item_ids, start=1):
            name = f"item.{n}"
            if name in own and ids[name] == item_id and name not in declared:
                read.more.setdefault(n, {})[name] = own[name]
        fields, more = {**read.fields, **ids}, read.more
    whole = _whole(
        task, assignment_id, item_ids, fields, columns or {}, more=more, is_own_page=is_own_page
    )
    return tuple(
        _answer(
            task,
            assignment_id,
            item_id,
            fields,
            position=n,
            whole=whole,
            columns=(columns or {}).get(item_id, _NOTHING),
            is_own_page=is_own_page,
        )
        for n, item_id in enumerate(item_ids, start=1)
    )


def _without_ids_of_items(
    fields: Mapping[str, str], item_ids: Sequence[ItemId], *, are_joined: bool
) -> tuple[dict[str, str], dict[str, str]]:
    """Return what a page sent, and the ids of its items, both by name.

    The site sends ids along, and values of one name are joined by `|`.
    """
    own, ids = dict(fields), {f"item.{n}": str(item) for n, item in enumerate(item_ids, start=1)}
    for name, item_id in [*ids.items()] if are_joined else ():
        text = own.pop(name, item_id)
        rest = text.removesuffix(f"|{item_id}")
        rest = text.removeprefix(f"{item_id}|") if rest == text else rest
        if text != item_id:
            own[name] = rest
            ids |= {name: text} if rest == text else {}
    return own, ids


def repeats(name: str, text: str, platform: Mapping[str, str]) -> bool:
    """Return whether a form only repeats what the platform says.

    Args:
        name: as sent.
        text: as sent.
        platform: the ids that the platform names, by name.
    """
    if name == "assignmentId":  # MTurk's form has it, and it is never an answer
        return True
    return is_reserved(name) and (
        text in {"", *platform.values()} or text.startswith(("http://", "https://"))
    )


def _together(position: int, *parts: Mapping[str, str]) -> dict[str, str]:
    """Return all parts; a name that is taken gets its number on the page."""
    whole: dict[str, str] = {}
    for part in parts:
        for name, text in part.items():
            whole[f"{name}.{position}" if name in whole else name] = text
    return whole


def text_fields(task: Task) -> list[str]:
    """Return the names of the texts that the task asks for about each item."""
    return [field.name for field in task.item_fields if field.kind == "text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Whole:
    """What all answers of an assignment have in common.

    Attributes:
        places: place on the page by position; empty if nothing is shuffled.
        more: what is no field, by position (0: of the HIT).
        unread: what could not be read as its field's value, verbatim by name.
    """

    values: Mapping[str, FieldValue]
    places: Mapping[int, int]
    problems: tuple[str, ...]
    more: Mapping[int, Mapping[str, str]]
    unread: Mapping[str, str]


def _whole(
    task: Task,
    assignment_id: AssignmentId,
    item_ids: Sequence[ItemId],
    fields: Mapping[str, str],
    columns: Mapping[ItemId, Columns],
    *,
    more: Mapping[int, Mapping[str, str]],
    is_own_page: bool,
) -> _Whole:
    sent = {
        field.name: fields[f"hit.{field.name}"]
        for field in task.hit_fields
        if f"hit.{field.name}" in fields
    }
    values, problems = _typed(task.hit_fields, sent, _NOTHING)
    problems += _broken(task, values, scope="hit")
    unread = _unread(task.hit_fields, sent, values)
    if _has_extra_item(task, len(item_ids), fields):
        problems.append("extra_item")
    strange = _strange_fields(task, len(item_ids), fields)
    for position, cells in more.items():
        strange[position] = {**strange.get(position, {}), **cells}
    places: dict[int, int] = {}
    if task.shuffles_items and (is_own_page or ITEM_ORDER in fields):
        groups = [columns.get(item_id, _NOTHING).get(task.group_by, "") for item_id in item_ids]
        expected = item_order(task, assignment_id, item_ids, groups if task.group_by else ())
        shown = fields.get(ITEM_ORDER, "").split(SEPARATOR)
        if shown == [str(position) for position in expected]:
            places = {position: n for n, position in enumerate(expected, start=1)}
        else:
            problems.append("wrong_order:items")
            unread |= {ITEM_ORDER: fields[ITEM_ORDER]} if ITEM_ORDER in fields else {}
    return _Whole(
        values=values, places=places, problems=tuple(problems), more=strange, unread=unread
    )


def _answer(
    task: Task,
    assignment_id: AssignmentId,
    item_id: ItemId,
    fields: Mapping[str, str],
    *,
    position: int,
    whole: _Whole,
    columns: Columns,
    is_own_page: bool,
) -> Answer:
    sent = {
        field.name: fields[f"{field.name}.{position}"]
        for field in task.item_fields
        if f"{field.name}.{position}" in fields
    }
    values, faults = _typed(task.item_fields, sent, columns)
    texts = {name: fields.get(f"{name}.{position}") for name in (*MEASURES, PLAYED)}
    measures = {name: _whole_number(text) for name, text in texts.items()}
    expected = _orders(task, assignment_id, item_id, columns)
    orders = {
        name: tuple(fields.get(f"order.{name}.{position}", "").split(SEPARATOR))
        for name in expected
    }
    is_measured = is_own_page and not task.html_page
    recorded = fields.get(f"{TYPING}.{position}", "")
    records = _typing(task, recorded)
    shown = fields.get(f"item.{position}")
    unread = {
        **whole.unread,
        **({"item": shown} if shown not in {None, item_id} else {}),
        **_unread(task.item_fields, sent, values),
        **{name: text for name, text in texts.items() if text and measures[name] is None},
        **({TYPING: recorded} if records is None else {}),
    }
    problems = [
        *([] if shown == item_id else ["wrong_item"]),
        *faults,
        *(_measure_problems(texts, measures) if is_measured else []),
        *(["malformed:typing"] if records is None else []),
        *(
            f"wrong_order:{name}"
            for name in expected
            if orders[name] != expected[name] and (is_own_page or orders[name] != ("",))
        ),
        *_broken(task, values, columns=columns),
        *whole.problems,
    ]
    return Answer(
        answer_id=answer_id(assignment_id, position),
        assignment_id=assignment_id,
        item_id=item_id,
        position=position,
        values=_turned_back(task, values, orders),
        problems=tuple(problems),
        shown_ms=measures["shown_ms"],
        pastes=measures["pastes"],
        keystrokes=measures["keystrokes"],
        focus_losses=measures["focus_losses"],
        played=measures[PLAYED],
        typing=records or {},
        place=whole.places.get(position),
        orders={name: order for name, order in orders.items() if order != ("",)},
        hit_values=whole.values,
        also_sent=_together(position, whole.more.get(0, {}), whole.more.get(position, {}), unread),
    )


def _typed(
    fields: Sequence[Field], sent: Mapping[str, str], columns: Columns
) -> tuple[dict[str, FieldValue], list[str]]:
    """Return the values by field, and what is wrong with them."""
    values: dict[str, FieldValue] = {}
    problems = []
    for field in fields:
        if field.name not in sent:
            # A browser sends nothing for buttons and boxes that are not ticked. A rule
            # decides whether one must be.
            if field.kind == "text" and not field.optional:
                problems.append(f"missing:{field.name}")
            continue
        value = typed(field, sent[field.name])
        if value is None:
            if sent[field.name]:
                problems.append(f"not_a_number:{field.name}")
            continue
        values[field.name] = value
        problems += value_problems(field, value, columns)
    return values, problems


def _unread(
    fields: Sequence[Field], sent: Mapping[str, str], values: Mapping[str, FieldValue]
) -> dict[str, str]:
    """Return what could not be read as its field's value, by the name sent."""
    return {
        field.sent_as or field.name: sent[field.name]
        for field in fields
        if sent.get(field.name) and field.name not in values
    }


def _orders(
    task: Task, assignment_id: AssignmentId, item_id: ItemId, columns: Columns
) -> dict[str, tuple[str, ...]]:
    """Return the assignment's orders within an item, by name."""
    orders = {
        field.name: option_order(field, assignment_id, item_id, in_order(field, columns))
        for field in task.item_fields
        if field.shuffled
    }
    orders |= {
        arrangement.name: shuffled(
            assignment_id, f"{arrangement.name}.{item_id}", arrangement.columns
        )
        for arrangement in task.arrangements
    }
    return orders


def _turned_back(
    task: Task, values: Mapping[str, FieldValue], orders: Mapping[str, tuple[str, ...]]
) -> dict[str, FieldValue]:
    """Translate values from the order shown back to the item's own columns."""
    return {
        field.name: mirrored(field, values[field.name])
        if task.is_turned(field, orders.get(field.mirrored_by, ()))
        else values[field.name]
        for field in task.item_fields
        if field.name in values
    }


def _broken(
    task: Task,
    values: Mapping[str, FieldValue],
    *,
    columns: Columns = _NOTHING,
    scope: FieldScope = "item",
) -> list[str]:
    return [
        f"questioned:{rule.name}" if rule.is_question else rule.name
        for rule in check(task, values, columns=columns, scope=scope)
    ]


def _whole_number(text: str | None) -> int | None:
    return int(text) if text is not None and _WHOLE_NUMBER.fullmatch(text) else None


def _typing(task: Task, text: str) -> dict[str, TypingRecord] | None:
    """Return the records of an item's texts; `None` if what was sent has none.

    Old pages, and pages of campaigns that switch it off, send nothing.
    """
    return typing_records(text, text_fields(task)) if text else {}


def _measure_problems(
    texts: Mapping[str, str | None], measures: Mapping[str, int | None]
) -> list[str]:
    faults = [
        f"{'missing' if texts[name] is None else 'not_a_number'}:{name}"
        for name in (*MEASURES, PLAYED)
        # Pages without a sound or video, and old ones, do not send how much was played.
        if measures[name] is None and not (name == PLAYED and texts[name] is None)
    ]
    return faults + [f"out_of_range:{PLAYED}"] * ((measures[PLAYED] or 0) > _WHOLE)


def _has_extra_item(task: Task, n_items: int, fields: Mapping[str, str]) -> bool:
    known = _wire_names(task).of_items
    numbered = filter(None, map(_NUMBERED.fullmatch, fields))
    return any(int(match["position"]) > n_items and match["name"] in known for match in numbered)


def _strange_fields(
    task: Task, n_items: int, fields: Mapping[str, str]
) -> dict[int, dict[str, str]]:
    """Return fields that the page does not have, by position (0: of the HIT)."""
    names = _wire_names(task)
    strange: dict[int, dict[str, str]] = {}
    for wire_name, text in fields.items():
        numbered = _NUMBERED.fullmatch(wire_name)
        name = numbered["name"] if numbered else wire_name
        position = int(numbered["position"]) if numbered else 0
        if wire_name in names.alone or name in names.practised:
            continue
        if position > n_items:
            strange.setdefault(0, {})[wire_name] = text
        elif numbered is None or name not in names.of_items:
            strange.setdefault(position, {})[name] = text
    return strange


class _WireNames(NamedTuple):
    """The names of a task's form fields.

    Attributes:
        alone: sent once per HIT, without a position.
        of_items: sent with the position of an item.
        practised: sent with the position of a trial.
    """

    alone: frozenset[str]
    of_items: frozenset[str]
    practised: frozenset[str]


@lru_cache(maxsize=128)
def _wire_names(task: Task) -> _WireNames:
    item_names = [field.name for field in task.item_fields]
    hit_names = [f"hit.{field.name}" for field in task.hit_fields]
    if task.shuffles_items:
        hit_names.append(ITEM_ORDER)
    orders = (f"order.{name}" for name in task.shuffled_names)
    return _WireNames(
        alone=frozenset((*OF_THE_HIT, *hit_names)),
        of_items=frozenset(("item", *MEASURES, PLAYED, TYPING, *item_names, *orders)),
        practised=frozenset(f"practice.{name}" for name in item_names),
    )
