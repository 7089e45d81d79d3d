"""Read Prolific's demographic export, and join other programs' answers to it.

The export contains who took part, when, and what was decided; the study's page stored
the answers elsewhere. Their file must have a column with the submission id from the
study's link (`SESSION_ID`), under any name.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from pathlib import Path

from piecework.domain.errors import ConfigError
from piecework.importing.readers.head import Head
from piecework.importing.readers.rows import ImportedRow, NotSent, Read, Unreadable
from piecework.importing.readers.tables import CellError, Cells, read_table, time_in

NAME = "Prolific export"

_ID, _CODE = "Submission id", "Completion code"
_DECIDED = {"APPROVED", "REJECTED", "AWAITING REVIEW", "PARTIALLY APPROVED"}
_LOOKED_AT = 200


def fits(head: Head) -> bool:
    """Recognise the columns that each export has."""
    return head.has(_ID, "Participant id", "Status")


def read(path: Path, head: Head) -> Iterator[Read]:
    """Yield a row per submission; the only known answer is the code."""
    return read_table(path, head, _row)


def joined(
    path: Path, head: Head, exported: Path, exported_head: Head
) -> Iterator[Read]:
    """Yield the rows of a table of answers, with who sent them and when.

    Args:
        path: the file of answers.
        head: its beginning.
        exported: the export.
        exported_head: the beginning of the export.

    Raises:
        ConfigError: no column of the answers contains the export's ids.
    """
    known = {
        row.assignment_id: row
        for row in read(exported, exported_head)
        if isinstance(row, ImportedRow)
    }
    column = _column_of_ids(path, head, known.keys())

    def row_of(line: int, cells: Cells) -> Read:
        name = cells[column].strip()
        row = known.get(name)
        if row is None:
            fault = f"{name[:80]!r} is not a submitted visit in {exported.name}"
            return Unreadable(line=line, column=column, fault=fault)
        sent = {key: cell for key, cell in cells.items() if key != column}
        return replace(row, line=line, sent=sent)

    yield from read_table(path, head, row_of)


def _column_of_ids(path: Path, head: Head, ids: Iterable[str]) -> str:
    counts: Counter[str] = Counter()
    known = set(ids)

    def count(line: int, cells: Cells) -> Read:
        counts.update(name for name, cell in cells.items() if cell.strip() in known)
        return NotSent(line=line, why="")

    for _ in islice(read_table(path, head, count), _LOOKED_AT):
        pass
    if not counts:
        raise ConfigError(
            [
                (
                    f"{path}: no column has the submission ids of the Prolific export "
                    "to join by"
                )
            ]
        )
    return counts.most_common(1)[0][0]


def _row(line: int, cells: Cells) -> Read:
    if not cells[_ID].strip():
        raise CellError(_ID, "is empty, but each row is one submission")
    status = cells["Status"].strip()
    if status.upper() not in _DECIDED:
        return NotSent(line=line, why=status.lower() or "without a status")
    accepted = time_in(cells, "Started at")
    submitted = time_in(cells, "Completed at")
    taken = cells.get("Time taken", "").strip()
    if submitted is None and accepted is not None and taken.isdigit():
        submitted = accepted + timedelta(seconds=int(taken))
    return ImportedRow(
        line=line,
        assignment_id=cells[_ID].strip(),
        worker_id=cells["Participant id"].strip(),
        accepted_at=accepted,
        submitted_at=submitted,
        outcome=status,
        sent={_CODE: cells.get(_CODE, "")},
    )
