"""Read amti's files: the folder of a batch, or the CSV extracted from it."""

import json
from collections.abc import Iterator
from pathlib import Path

from piecework.domain.money import cents_from_wire
from piecework.importing.readers.head import Head, head_of
from piecework.importing.readers.mturk_json import assignment_row
from piecework.importing.readers.rows import ImportedRow, Read, Unreadable
from piecework.importing.readers.tables import (
    CellError,
    Cells,
    filled,
    objects_of,
    read_table,
    time_in,
)

NAME = "amti"

FILE = "assignments.jsonl"

_OF_THE_WORK = frozenset(
    {
        *("HITId", "HITTypeId", "HITGroupId", "HITStatus", "Title", "Description"),
        *("Keywords", "Reward", "MaxAssignments", "CreationTime", "Expiration"),
        *("AssignmentDurationInSeconds", "AutoApprovalDelayInSeconds", "Deadline"),
        *("AssignmentId", "WorkerId", "AssignmentStatus", "AutoApprovalTime"),
        *("AcceptTime", "SubmitTime", "ApprovalTime", "RejectionTime"),
        *("RequesterAnnotation", "RequesterFeedback", "Question"),
    }
)
"""Columns of the CSV that are not answers."""


def fits(head: Head) -> bool:
    """Recognise a folder with a file of assignments, or the columns of the CSV."""
    wanted = ("HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "AcceptTime")
    is_extract = head.has(*wanted) and not any("." in name for name in head.header)
    return FILE in head.names or is_extract


def read(path: Path, head: Head) -> Iterator[Read]:
    """Yield a row per assignment.

    Raises:
        ConfigError: a file of the batch cannot be read.
    """
    if not head.is_folder:
        yield from read_table(path, head, _row, worker="WorkerId")
        return
    for number, file in enumerate(sorted(path.rglob(FILE)), start=1):
        yield from _of_hit(file, number)


def _of_hit(file: Path, number: int) -> Iterator[Read]:
    rewards: dict[str, int] = {}
    hit_file = file.with_name("hit.jsonl")
    if hit_file.is_file():
        try:
            hit = json.loads(hit_file.read_text(encoding="utf-8"))["HIT"]
            rewards[str(hit["HITId"])] = cents_from_wire(str(hit["Reward"]))
        except (ValueError, KeyError, TypeError, RecursionError):
            rewards = {}
    if not file.read_bytes().strip():
        return
    for _, document in objects_of(file, head_of(file)):
        if isinstance(document, str):
            fault = f"{file.parent.name}/{file.name}: {document}"
            yield Unreadable(line=number, fault=fault)
        else:
            yield assignment_row(number, document, rewards)


def _row(line: int, cells: Cells) -> Read:
    if not cells["AssignmentId"].strip():
        raise CellError("AssignmentId", "is empty, but each row is one assignment")
    return ImportedRow(
        line=line,
        hit_id=cells["HITId"].strip(),
        assignment_id=cells["AssignmentId"].strip(),
        worker_id=cells["WorkerId"].strip(),
        accepted_at=time_in(cells, "AcceptTime"),
        submitted_at=time_in(cells, "SubmitTime"),
        outcome=cells["AssignmentStatus"].strip(),
        feedback=cells.get("RequesterFeedback", ""),
        sent={name: cell for name, cell in filled(cells).items() if name not in _OF_THE_WORK},
    )
