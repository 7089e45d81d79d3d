"""What Mephisto exports of its units: JSON with `inputs` and `outputs` of each."""

from collections.abc import Iterator
from pathlib import Path

from imports.crowd_form import as_text
from imports.head import Head
from imports.moments import moment
from imports.objects import Document, object_in, objects_of, text_in
from imports.rows import ImportedRow, NotSent, Read, Unreadable

NAME = "Mephisto"

_NOT_SENT = {"returned", "expired", "timeout", "disconnect", "launched", "assigned"}


def fits(head: Head) -> bool:
    """By a unit with its data."""
    first = head.first_object
    if not isinstance(first, dict) or not {"unit_id", "worker_id"} <= first.keys():
        return False
    return isinstance(first.get("data"), dict) or "outputs" in first


def read(path: Path, head: Head) -> Iterator[Read]:
    """A row a unit, which is one worker's go."""
    for number, document in objects_of(path, head):
        if isinstance(document, str):
            yield Unreadable(line=number, fault=document)
        else:
            yield _row(number, document)


def _row(number: int, unit: Document) -> Read:
    status = text_in(unit, "status")
    if status.lower() in _NOT_SENT:
        return NotSent(line=number, why=status.lower())
    data = object_in(unit, "data") or unit
    outputs = object_in(data, "outputs")
    # Blueprints of forms put the form's fields one level deeper.
    answers = object_in(outputs, "final_data") or object_in(outputs, "formData")
    times = object_in(data, "times")
    try:
        accepted = moment(text_in(unit, "task_start") or text_in(times, "task_start"))
        submitted = moment(text_in(unit, "task_end") or text_in(times, "task_end"))
    except ValueError as fault:
        return Unreadable(line=number, column="task_end", fault=str(fault))
    return ImportedRow(
        line=number,
        hit_id=text_in(unit, "assignment_id"),
        assignment_id=f"unit_{text_in(unit, 'unit_id')}",
        worker_id=text_in(unit, "worker_id"),
        accepted_at=accepted,
        submitted_at=submitted,
        outcome=status,
        shown=_texts(object_in(data, "inputs")),
        sent=_texts(answers or outputs),
    )


def _texts(document: Document) -> dict[str, str]:
    return {str(name): as_text(value) for name, value in document.items()}
