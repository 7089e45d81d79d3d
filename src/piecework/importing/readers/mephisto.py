"""Read units from Mephisto's data browser: JSON with the data of each.

The content of `data` depends on the blueprint: `inputs` and `outputs` of a static page,
a final submission with the requests to a model, or the messages of a chat.
"""

from collections.abc import Iterator
from pathlib import Path

from piecework.importing.readers.crowd_form import as_text
from piecework.importing.readers.head import Head
from piecework.importing.readers.moments import moment
from piecework.importing.readers.rows import ImportedRow, NotSent, Read, Unreadable
from piecework.importing.readers.tables import Document, object_in, objects_of, text_in

NAME = "Mephisto"

_NOT_SENT = {"returned", "expired", "timeout", "disconnect", "launched", "assigned"}
_SHOWN = ("inputs", "init_data", "initial_data")
_SENT = ("outputs", "final_submission")
_NEVER = "0"
"""The time of a chat without messages."""


def fits(head: Head) -> bool:
    """Recognise a unit with its data."""
    first = head.first_object
    if not isinstance(first, dict) or not {"unit_id", "worker_id"} <= first.keys():
        return False
    return isinstance(first.get("data"), dict) or "outputs" in first


def read(path: Path, head: Head) -> Iterator[Read]:
    """Yield a row per unit, which is one worker's assignment."""
    for number, document in objects_of(path, head):
        if isinstance(document, str):
            yield Unreadable(line=number, fault=document)
        else:
            yield _row(number, document)


def _row(number: int, unit: Document) -> Read:
    status = text_in(unit, "status")
    data = object_in(unit, "data") or unit
    sent = _sent(data)
    # A worker who has accepted a unit or is working on it has sent nothing yet.
    if status.lower() in _NOT_SENT or not sent:
        return NotSent(line=number, why=status.lower() or "without an answer")
    times = object_in(data, "times")
    try:
        accepted, submitted = (
            moment(_time(unit, name) or _time(times, name)) for name in ("task_start", "task_end")
        )
    except ValueError as fault:
        return Unreadable(
            line=number,
            column="task_end",
            fault=str(fault),
            worker_id=text_in(unit, "worker_id"),
        )
    return ImportedRow(
        line=number,
        hit_id=text_in(unit, "assignment_id"),
        assignment_id=f"unit_{text_in(unit, 'unit_id')}",
        worker_id=text_in(unit, "worker_id"),
        accepted_at=accepted,
        submitted_at=submitted,
        outcome=status,
        shown=_texts(_first_of(data, _SHOWN)),
        sent=sent,
    )


def _sent(data: Document) -> dict[str, str]:
    outputs = _first_of(data, _SENT)
    # Form blueprints nest the form's fields one level deeper.
    answers = object_in(outputs, "final_data") or object_in(outputs, "formData")
    sent = _texts(answers or outputs)
    if chat := _chat(data.get("messages")):
        sent["messages"] = chat
    return sent


def _chat(messages: object) -> str:
    """Return a line per message, with the author's name."""
    listed = messages if isinstance(messages, list) else []
    with_text = [
        message for message in listed if isinstance(message, dict) and text_in(message, "text")
    ]
    return "\n".join(
        f"{text_in(message, 'id')}: {text_in(message, 'text')}" for message in with_text
    )


def _first_of(data: Document, names: tuple[str, ...]) -> Document:
    return next(filter(None, (object_in(data, name) for name in names)), {})


def _time(document: Document, name: str) -> str:
    text = text_in(document, name)
    return "" if text == _NEVER else text


def _texts(document: Document) -> dict[str, str]:
    return {str(name): as_text(value) for name, value in document.items()}
