"""What every reader gives: one worker's go at one HIT, or why a row cannot be read.

Cells are what strangers wrote: nothing in them is evaluated, and what a reader does not
understand it leaves as text.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from piecework.importing.readers.head import Head


class RowPart(NamedTuple):
    """One of several items that a row is about: its columns, and what was answered."""

    shown: Mapping[str, str]
    sent: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedRow:
    """One worker's go at one HIT, as another tool wrote it down.

    What a file does not say is empty, or `None`.

    Attributes:
        line: where it begins, as an editor counts; in a list of objects, its number.
        outcome: what became of it elsewhere, in that tool's word.
        feedback: what the worker was told about that.
        reward_cents: what was offered for it.
        shown: what the item's row said, by column.
        sent: what the worker answered, by the name that the tool has for it.
        parts: its items, where the format itself tells them apart.
        outcomes: of single answers, by their place in the row from 1, where the row
            holds several and they differ.
    """

    line: int
    hit_id: str = ""
    assignment_id: str = ""
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
    """A row that is kept aside.

    Attributes:
        column: in which the fault is; "" if it is in none.
        fault: what was found and what is allowed.
        cells: the row as it stands there, as far as it was read.
    """

    line: int
    column: str = ""
    fault: str
    cells: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotSent:
    """A row about a go at a HIT that was never sent in (returned, timed out)."""

    line: int
    why: str


Read = ImportedRow | Unreadable | NotSent


class Reader(Protocol):
    """What a module that reads one format offers.

    Attributes:
        NAME: of the format, as people say it.
    """

    NAME: str

    @property
    def fits(self) -> Callable[[Head], bool]:
        """Whether a file is of the format, by its beginning alone."""
        ...

    @property
    def read(self) -> Callable[[Path, Head], Iterator[Read]]:
        """The rows, in pieces: no more is held than a row or two.

        Raises:
            ConfigError: the file cannot be read at all.
        """
        ...
