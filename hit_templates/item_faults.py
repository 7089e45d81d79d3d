"""Reasons why an item cannot be shown or judged, found before posting.

Items come from files that piecework did not write. It refuses text that cannot be
carried faithfully (control characters, addresses that are not http) and questions that
cannot be answered: the same sentence offered twice, or an expected answer that the page
lacks.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from piecework.domain.field import Field
from piecework.domain.hit import Item, fill_in
from piecework.domain.task import GOLD, GOLD_BECAUSE, PRACTICE, TRUTH, TWIN, PartKind, Task
from piecework.domain.text import NOT_FOR_XML, one_line
from piecework.hit_templates.answers import offered, typed, value_problems


def faults_of_item(task: Task, item: Item) -> list[str]:
    """Return what is wrong with one item, one clause per fault."""
    return [*_faults_of_shape(task, item), *_faults_of_words(task, [item])[0]]


def faults_of_item_alone(task: Task, item: Item) -> list[str]:
    """Return the faults of an item that arrives later than others."""
    return [
        *faults_of_item(task, item),
        *(
            f"the column {condition.column} is empty; it names the condition"
            for condition in task.conditions
            if not item.columns.get(condition.column, "").strip()
        ),
    ]


def faults_of_items(task: Task, items: Sequence[Item]) -> list[str]:
    """Return the faults in and between the items' texts, one sentence each.

    Columns, ids and addresses were checked when the file was read.
    """
    faults = [
        f"item {item.item_id!r}: {fault}"
        for item, of_item in zip(items, _faults_of_words(task, items), strict=True)
        for fault in of_item
    ]
    faults += _faults_of_conditions(task, items)
    known = {str(item.item_id) for item in items}
    for item in items:
        twin = item.columns.get(TWIN, "")
        if twin and (twin not in known or twin == item.item_id):
            faults.append(
                f"item {item.item_id!r}: {TWIN} is {twin!r}, but no other item has this id"
            )
    return faults


def _faults_of_words(task: Task, items: Sequence[Item]) -> list[list[str]]:
    """Return the faults of each item; most tasks need few of the checks."""
    has_options = any(option.column for field in task.item_fields for option in field.options)
    needed = (
        (_faults_of_parts, bool(task.parts)),
        (_faults_of_values, bool(task.column_values)),
        (_faults_of_options, has_options),
        (_faults_of_arrangements, bool(task.arrangements)),
        (_faults_of_expected, True),
    )
    checks = [check for check, is_needed in needed if is_needed]
    return [[fault for check in checks for fault in check(task, item)] for item in items]


def _faults_of_conditions(task: Task, items: Sequence[Item]) -> Iterator[str]:
    """Report items without a condition: answers are compared between conditions."""
    counted = [item for item in items if not item.columns.get(PRACTICE)]
    for condition in task.conditions:
        named = [item for item in counted if item.columns.get(condition.column, "").strip()]
        if not named:
            yield (
                f"no item has the column {condition.column}, which names the "
                f"conditions that {task.name} compares"
            )
            continue
        yield from (
            f"item {item.item_id!r}: the column {condition.column} is empty; "
            "it names the condition of the item"
            for item in counted
            if item not in named
        )


def _faults_of_shape(task: Task, item: Item) -> Iterator[str]:
    for name in task.columns:
        if not item.columns.get(name, "").strip():
            is_text = name not in (task.columns[0], *task.picture_columns)
            yield f"the column {name} is missing or empty; {fill_in(is_text=is_text)}"
    if any(character < " " for character in item.item_id):
        yield "the id holds a control character, a tab or a line break"
    for name, text in item.columns.items():
        if match := NOT_FOR_XML.search(text):
            yield f"the column {name} holds the control character {match[0]!r}"
        if (name == "url" or name.endswith("_url")) and text and not _is_address(text):
            yield (
                f"{name} is {one_line(text)!r}, neither http(s)://... nor a path that starts with /"
            )


TRANSCRIBED: frozenset[PartKind] = frozenset({"audio", "video", "picture"})


def _faults_of_parts(task: Task, item: Item) -> Iterator[str]:
    is_heard = any(field.is_transcript for field in task.item_fields)
    parts = [part.column for part in task.parts if not is_heard or part.kind in TRANSCRIBED]
    if parts and not any(item.columns.get(name, "").strip() for name in parts):
        # Other cells may be empty; without any, workers are paid for nothing.
        verb = "is" if len(parts) == 1 else "are all"
        purpose = "transcribe" if is_heard else "show"
        is_text = any(part.kind == "text" for part in task.parts if part.column in parts)
        yield f"nothing to {purpose}: {', '.join(parts)} {verb} empty; {fill_in(is_text=is_text)}"
    for part in task.parts:
        text = item.columns.get(part.column, "")
        # The first rows of a source that grows said what the column holds; others come later.
        if part.kind in {"link", "audio", "video"} and text and not _is_host_address(text):
            yield (
                f"{part.column} is {one_line(text)!r}, not http(s)://...; its other cells are "
                f"shown as a {part.kind}"
            )


def _faults_of_options(task: Task, item: Item) -> Iterator[str]:
    """Report options of an item with the same text: answers cannot tell them apart."""
    for field in task.item_fields:
        texts = [item.columns.get(option.column, "") for option in field.options if option.column]
        for text, times in Counter(_as_seen(task, text) for text in texts).items():
            if text and times > 1:
                yield f"{field.name} offers {_shown(text)} {times} times; {_SAME_TEXTS}"


def _faults_of_values(task: Task, item: Item) -> Iterator[str]:
    for column, allowed in task.column_values.items():
        value = item.columns.get(column, "")
        if value and value not in allowed:
            yield f"{column} is {value!r}; allowed is {', '.join(allowed)}"


def _faults_of_arrangements(task: Task, item: Item) -> Iterator[str]:
    """Report parts that are to be compared but hold the same text."""
    for arrangement in task.arrangements:
        column_of: dict[str, str] = {}
        for column in arrangement.columns:
            text = _as_seen(task, item.columns.get(column, ""))
            if text and text in column_of:
                yield f"{column_of[text]} and {column} hold the same text; {_SAME_TEXTS}"
            column_of.setdefault(text, column)


_SAME_TEXTS = "no answer could tell them apart, so change the row or leave it out"


def _as_seen(task: Task, text: str) -> str:
    """Return a text as it differs from others: as typed, or as a sentence about a picture."""
    return text.strip() if task.is_generic else " ".join(text.split()).casefold()


def _shown(text: str) -> str:
    return repr(one_line(text, at_most=60))


def _faults_of_expected(task: Task, item: Item) -> Iterator[str]:
    for column, text in item.columns.items():
        if not column.startswith((TRUTH, GOLD)) or not text or column == GOLD_BECAUSE:
            continue
        fields = {field.name: field for field in task.fields}
        name = column.removeprefix(TRUTH if column.startswith(TRUTH) else GOLD)
        if name not in fields:
            yield f"the column {column} is about a field that {task.name} does not have"
        elif not _fits(fields[name], text, item):
            yield f"{column} is {text!r}; allowed is {_allowed(fields[name], item)}"


def _fits(field: Field, text: str, item: Item) -> bool:
    if field.is_transcript:
        return True
    if field.is_merged:
        # Only such tasks need it, and it loads pandas.
        from piecework.analyses.regions import marks_in  # noqa: PLC0415

        return marks_in(text, is_merged=True) is not None
    value = typed(field, text)
    return value is not None and not value_problems(field, value, item.columns)


def _allowed(field: Field, item: Item) -> str:
    if field.kind == "number":
        return f"{field.minimum:g} to {field.maximum:g} in steps of {field.step:g}"
    if field.regions:
        return f'what the page sends: {{"{field.regions}": [...]}}'
    return ", ".join(offered(field, item.columns))


def _is_address(url: str) -> bool:
    if re.search(r"[\s\\]", url):  # Browsers read a backslash as a slash.
        return False
    if url.startswith("/"):
        return not url.startswith("//")
    return _is_host_address(url)


def _is_host_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)
