"""Read batch results from MTurk's requester site: `Batch_123_batch_results.csv`.

Each row is an assignment. `Input.*` are the columns of the items file, and `Answer.*`
are the worker's answers; an unanswered field is empty or `{}`. Pages of
`crowd-html-elements` send everything in one field, `Answer.taskAnswers`, as JSON. The
workers' approval rates at the time are ignored: they say nothing about these answers.
"""

from collections.abc import Iterator
from pathlib import Path

from piecework.importing.readers.crowd_form import CROWD, flattened
from piecework.importing.readers.head import Head
from piecework.importing.readers.rows import ImportedRow, Read
from piecework.importing.readers.tables import (
    CellError,
    Cells,
    cell_in,
    cents_in,
    filled,
    read_table,
    time_in,
    with_duration,
)

NAME = "MTurk batch results (CSV)"

_INPUT, _ANSWER = "Input.", "Answer."


def fits(head: Head) -> bool:
    """Recognise the columns that each batch has."""
    return head.has("HITId", "AssignmentId", "WorkerId") and any(
        name.startswith(_ANSWER) for name in head.header
    )


def read(path: Path, head: Head) -> Iterator[Read]:
    """Yield a row per assignment."""
    return read_table(path, head, _row, worker="WorkerId")


def _row(line: int, cells: Cells) -> Read:
    if not cells["AssignmentId"].strip():
        raise CellError("AssignmentId", "is empty, but each row is one assignment")
    sent = {
        name.removeprefix(_ANSWER): cell
        for name, cell in filled(cells).items()
        if name.startswith(_ANSWER)
    }
    if CROWD in sent:
        try:
            sent |= flattened(sent.pop(CROWD))
        except ValueError as fault:
            raise CellError(_ANSWER + CROWD, str(fault)) from fault
    submitted = time_in(cells, "SubmitTime")
    accepted = time_in(cells, "AcceptTime")
    if accepted is None and cell_in(cells, "WorkTimeInSeconds").isdecimal():
        accepted, submitted = with_duration(cells, "WorkTimeInSeconds", None, submitted)
    return ImportedRow(
        line=line,
        hit_id=cells["HITId"].strip(),
        assignment_id=cells["AssignmentId"].strip(),
        worker_id=cells["WorkerId"].strip(),
        accepted_at=accepted,
        submitted_at=submitted,
        outcome=cells.get("AssignmentStatus", "").strip(),
        feedback=cells.get("RequesterFeedback", "") or cells.get("Reject", ""),
        reward_cents=cents_in(cells, "Reward"),
        shown={
            name.removeprefix(_INPUT): cell
            for name, cell in cells.items()
            if name.startswith(_INPUT)
        },
        sent=sent,
    )
