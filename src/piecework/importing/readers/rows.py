"""The rows that readers yield: one worker's assignment, or why a row is unreadable.

Cells are untrusted text: nothing in them is evaluated, and a reader leaves what it does
not understand as text.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, Protocol

from piecework.importing.readers.head import Head


class RowPart(NamedTuple):
    """One of several items in a row: its columns, its answers and what was measured.

    `measured` has the names of `piecework.domain.column_names.MEASURES`.
    """

    shown: Mapping[str, str]
    sent: Mapping[str, str]
    measured: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRow:
    """One worker's assignment as another tool recorded it.

    Values missing in the file are empty or `None`.

    Attributes:
        line: the line where it begins, as in an editor; in a list of objects, its
            number.
        is_id_made: whether piecework made the assignment's id, from no worker's id.
        outcome: the decision made elsewhere, in that tool's words.
        feedback: the worker's feedback on the decision.
        reward_cents: the reward offered.
        shown: the item's columns.
        sent: the worker's answers, by the tool's names.
        parts: the items, if the format itself tells them apart.
        outcomes: the decisions on single answers, by position in the row from 1, if the
            row has several and they differ.
    """

    line: int
    hit_id: str = ""
    assignment_id: str = ""
    is_id_made: bool = False
    worker_id: str = ""
    accepted_at: datetime | None = None
    submitted_at: datetime | None = None
    outcome: str = ""
    feedback: str = ""
    reward_cents: int | None = None
    shown: Mapping[str, str] = field(default_factory=dict)
    sent: Mapping[str, str] = field(default_factory=dict)
    parts: tuple[RowPart, ...] = ()
    outcomes: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A row that is set aside.

    Attributes:
        column: the column with the fault; "" if none.
        fault: what was found and what is allowed.
        cells: the row as far as it was read.
        worker_id: who wrote it; "" if the reader does not know.
    """

    line: int
    column: str = ""
    fault: str
    cells: tuple[str, ...] = ()
    worker_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotSent:
    """A row about an assignment that was never submitted (returned, timed out)."""

    line: int
    why: str


Read = ImportedRow | Unreadable | NotSent


class Reader(Protocol):
    """The interface of a module that reads one format.

    Attributes:
        NAME: the name of the format for people.
    """

    NAME: str

    @property
    def fits(self) -> Callable[[Head], bool]:
        """Whether a file has this format, judged by its beginning."""
        ...

    @property
    def read(self) -> Callable[[Path, Head], Iterator[Read]]:
        """The rows, streamed so that only a row or two are in memory.

        Raises:
            ConfigError: the file cannot be read at all.
        """
        ...


OF_FILE = "file:"
"""What the id of a worker begins with whom only the name of a file tells."""


def worker_of_file(path: Path) -> str:
    """Return the worker of a file that does not say who answered: everyone in it as one.

    The id is no word of an answer, so that hiding it changes none.
    """
    return f"{OF_FILE}{path.name}"


def together(rows: Callable[[], Iterator[Read]]) -> Iterator[Read]:
    """Merge the rows of an assignment, wherever they stand, into one with parts.

    The rows are read twice; only those of assignments with rows to come are in memory.

    Args:
        rows: yields the rows, from the beginning at each call. Rows with the same
            assignment and worker are one assignment.
    """
    last = {
        (row.assignment_id, row.worker_id): number
        for number, row in enumerate(rows())
        if isinstance(row, ImportedRow) and row.assignment_id
    }
    begun: dict[tuple[str, str], list[ImportedRow]] = {}
    for number, row in enumerate(rows()):
        if not isinstance(row, ImportedRow) or not row.assignment_id:
            yield row
            continue
        key = (row.assignment_id, row.worker_id)
        members = begun.setdefault(key, [])
        members.append(row)
        if last[key] == number:
            del begun[key]
            yield members[0] if len(members) == 1 else _merged(members)


def _merged(rows: list[ImportedRow]) -> ImportedRow:
    first = rows[0]
    is_same = len({row.outcome for row in rows}) == 1
    accepted = [row.accepted_at for row in rows if row.accepted_at is not None]
    submitted = [row.submitted_at for row in rows if row.submitted_at is not None]
    return replace(
        first,
        accepted_at=min(accepted, default=None),
        submitted_at=max(submitted, default=None),
        outcome=first.outcome if is_same else "",
        shown={},
        sent={},
        parts=tuple(RowPart(row.shown, row.sent) for row in rows),
        outcomes={}
        if is_same
        else {number: row.outcome for number, row in enumerate(rows, start=1)},
    )
