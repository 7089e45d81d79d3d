"""Read simple-amt's `results.txt`: an assignment per line, with answers in `output`."""

from collections.abc import Iterator
from pathlib import Path

from piecework.importing.readers.crowd_form import as_text
from piecework.importing.readers.head import Head
from piecework.importing.readers.moments import moment
from piecework.importing.readers.rows import ImportedRow, Read, RowPart, Unreadable
from piecework.importing.readers.tables import Document, objects_of, text_in

NAME = "simple-amt"


def fits(head: Head) -> bool:
    """Recognise the members of the first line."""
    first = head.first_object
    members = {"assignment_id", "hit_id", "worker_id", "output"}
    return isinstance(first, dict) and members <= first.keys()


def read(path: Path, head: Head) -> Iterator[Read]:
    """Yield a row per assignment; `output` is a list with an object per item."""
    for number, document in objects_of(path, head):
        if isinstance(document, str):
            yield Unreadable(line=number, fault=document)
        else:
            yield _row(number, document)


def _row(number: int, document: Document) -> Read:
    output = document.get("output")
    listed = output if isinstance(output, list) else [output]
    answers = [
        {str(name): as_text(value) for name, value in entry.items()}
        if isinstance(entry, dict)
        else {"answer": as_text(entry)}
        for entry in listed
    ]
    try:
        submitted = moment(text_in(document, "submit_time"))
        accepted = moment(text_in(document, "accept_time"))
    except ValueError as fault:
        return Unreadable(
            line=number,
            column="submit_time",
            fault=str(fault),
            worker_id=text_in(document, "worker_id"),
        )
    hit_id = text_in(document, "hit_id")
    is_one = len(answers) == 1
    return ImportedRow(
        line=number,
        hit_id=hit_id,
        assignment_id=text_in(document, "assignment_id"),
        worker_id=text_in(document, "worker_id"),
        accepted_at=accepted,
        submitted_at=submitted,
        sent=answers[0] if is_one else {},
        parts=()
        if is_one
        else tuple(
            RowPart({"item": f"{hit_id}/{which}"}, answer)
            for which, answer in enumerate(answers, start=1)
        ),
    )
