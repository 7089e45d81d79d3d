"""Read Prolific's demographic export, and join other programs' answers to it.

The export contains who took part, when, and what was decided; the study's page stored
the answers elsewhere. Their file must have a column with the submission id from the
study's link (`SESSION_ID`), under any name. It may have a row for each visit, or
a row for each trial, which is then about one of several items.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Self

from piecework.domain.errors import ConfigError
from piecework.domain.imported import Reading
from piecework.domain.toml_text import toml_line
from piecework.importing.readers.head import Head
from piecework.importing.readers.rows import ImportedRow, NotSent, Read, Unreadable, together
from piecework.importing.readers.tables import (
    CellError,
    Cells,
    cell_in,
    read_table,
    time_in,
    with_duration,
)

NAME = "Prolific export"

_ID, _CODE = "Submission id", "Completion code"
_DECIDED = {"APPROVED", "REJECTED", "AWAITING REVIEW", "PARTIALLY APPROVED"}
_LOOKED_AT = 200
_MOST_VALUES = 10_000
_REPEATS_ALLOWED = 0.05
_OF_THE_LINK = frozenset({"prolificpid", "prolificid", "participantid", "studyid", "sessionid"})
"""Columns that a study's link fills, without marks and in small letters."""

_ITEM_WORDS = (
    *("item_id", "stimulus_id", "image_id", "image", "picture", "stimulus", "item"),
    *("url", "file", "text", "sentence", "caption", "question", "trial", "id"),
)
"""Names of columns that say what a row is about, the likeliest first."""

_ROW = "row"
"""The column with the number of a row, if no column says what it is about."""


def fits(head: Head) -> bool:
    """Recognise the columns that each export has."""
    return head.has(_ID, "Participant id", "Status")


def read(path: Path, head: Head) -> Iterator[Read]:
    """Yield a row per submission; the only known answer is the code."""
    return read_table(path, head, _row, worker="Participant id")


def guesses(path: Path) -> tuple[tuple[str, str], ...]:
    """Return what is assumed about an export without a file of answers."""
    guess = (
        f"{path.name} says who took part, and no file has their answers: the "
        "completion code stands for them"
    )
    return ((guess, "import it together with the file of the answers"),)


@dataclass(frozen=True, kw_only=True)
class Survey:
    """A table of answers joined to an export.

    Attributes:
        visits: the submitted ones of the export, by id.
        column: the column of the ids.
        left_out: columns that say who answered in which study.
        item: the column that says what a row is about, if a visit has several
            rows; "": there is none.
        has_trials: whether a visit has several rows.
    """

    path: Path
    head: Head
    export: str
    visits: Mapping[str, ImportedRow]
    column: str
    left_out: frozenset[str]
    item: str
    has_trials: bool

    @classmethod
    def of(cls, path: Path, head: Head, export: Path, export_head: Head) -> Self:
        """Find out how to join a table.

        Args:
            path: the file of answers.
            head: its beginning.
            export: the export.
            export_head: the beginning of the export.

        Raises:
            ConfigError: no column of the answers contains the export's ids.
        """
        visits = {
            row.assignment_id: row
            for row in read(export, export_head)
            if isinstance(row, ImportedRow)
        }
        column = _column_of_ids(path, head, visits.keys())
        columns = _Columns(visits, column)
        for _ in read_table(path, head, columns.see):
            pass
        left_out = frozenset((column, *head.unnamed, *columns.of_workers()))
        has_trials = columns.has_trials
        stated = bool(head.reading.item or head.reading.item_id)
        return cls(
            path=path,
            head=head,
            export=export.name,
            visits=visits,
            column=column,
            left_out=left_out,
            item=columns.item(left_out) if has_trials and not stated else "",
            has_trials=has_trials,
        )

    def rows(self) -> Iterator[Read]:
        """Yield a row per visit, with who sent it and when."""
        if not self.has_trials:
            return self._single_rows()
        return together(self._single_rows)

    def guesses(self) -> Iterator[tuple[str, str]]:
        """Yield what was guessed, and the line that states otherwise."""
        if self.left_out - {self.column}:
            names = sorted(self.left_out - {self.column})
            line = toml_line("answers", {"asked": names[0]})
            yield f"{', '.join(names)}: who answered, and no answers", line
        if self.item:
            others = [name for name in self.head.header if name not in {*self.left_out, self.item}]
            yield (
                f"a row is about one of several items, which {self.item} names",
                toml_line("item", others[:1]),
            )
        elif self.has_trials and not _stated_items(self.head.reading):
            yield (
                "no column names what a row is about; its number stands for it",
                'item = ["..."]',
            )

    def _single_rows(self) -> Iterator[Read]:
        numbers: Counter[str] = Counter()
        return read_table(self.path, self.head, partial(self._row, numbers))

    def _row(self, numbers: Counter[str], line: int, cells: Cells) -> Read:
        name = cells[self.column].strip()
        visit = self.visits.get(name)
        if visit is None:
            fault = f"{name[:80]!r} is not a submitted visit in {self.export}"
            # The column may hold ids of participants.
            return Unreadable(line=line, column=self.column, fault=fault, worker_id=name)
        numbers[name] += 1
        reading = self.head.reading
        of_items = {self.item, *_stated_items(reading)}
        shown = {key: cell for key, cell in cells.items() if key in of_items}
        if self.has_trials and not shown:
            shown = {_ROW: str(numbers[name])}
        asked = set(reading.answers.values())
        sent = {
            key: cell
            for key, cell in cells.items()
            if (key in asked if asked else key not in {*of_items, *self.left_out})
        }
        return replace(visit, line=line, shown=shown, sent=sent)


def _stated_items(reading: Reading) -> set[str]:
    return {*reading.item, reading.item_id, *reading.gold.values()} - {""}


@dataclass
class _Columns:
    """What the columns of a survey hold, seen row by row.

    Attributes:
        rows: the number of rows of each visit.
        named: columns with a cell that is the id of its row's worker or visit.
        others: columns with another cell.
        first: by column and value, the first visit with it.
        pairs: by column, the values of each visit.
        repeats: how often a column has a value again in one visit.
        shared: columns with a value that several visits have.
    """

    visits: Mapping[str, ImportedRow]
    column: str
    rows: Counter[str] = field(default_factory=Counter)
    named: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)
    first: dict[str, dict[str, str]] = field(default_factory=dict)
    pairs: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    repeats: Counter[str] = field(default_factory=Counter)
    shared: set[str] = field(default_factory=set)

    @property
    def has_trials(self) -> bool:
        return any(number > 1 for number in self.rows.values())

    def see(self, line: int, cells: Cells) -> Read:
        """Look at a row; what is returned says nothing."""
        name = cells[self.column].strip()
        visit = self.visits.get(name)
        if visit is not None:
            self.rows[name] += 1
            ids = {visit.worker_id, name}
            for column, cell in cells.items():
                if text := cell.strip():
                    (self.named if text in ids else self.others).add(column)
                self._see_value(column, text, name)
        return NotSent(line=line, why="")

    def _see_value(self, column: str, text: str, visit: str) -> None:
        first = self.first.setdefault(column, {})
        pairs = self.pairs.setdefault(column, set())
        if self._is_no_item(column):
            first.clear()
            pairs.clear()
            return
        if (visit, text) in pairs or not text:
            self.repeats[column] += 1
        pairs.add((visit, text))
        if first.setdefault(text, visit) != visit:
            self.shared.add(column)

    def _is_no_item(self, column: str) -> bool:
        """Return whether a column says too often the same to one worker.

        A few repeats are a page that a worker sent twice.
        """
        allowed = max(1, _REPEATS_ALLOWED * self.rows.total())
        is_too_varied = len(self.first[column]) > _MOST_VALUES
        return is_too_varied or self.repeats[column] > allowed

    def of_workers(self) -> Iterator[str]:
        """Yield the columns that say who answered."""
        for column in self.first:
            name = re.sub(r"[^a-z]", "", column.lower())
            if name in _OF_THE_LINK or column in self.named - self.others:
                yield column

    def item(self, left_out: Iterable[str]) -> str:
        """Return the column that says what rows are about; "" if none looks so."""
        fitting = [
            column
            for column in self.first
            if column in self.shared and column not in left_out and not self._is_no_item(column)
        ]
        return min(fitting, key=self._rank, default="")

    def _rank(self, column: str) -> tuple[bool, int]:
        words = re.split(r"[^a-z]+", column.lower())
        ranks = [
            rank for rank, word in enumerate(_ITEM_WORDS) if word in words or column.lower() == word
        ]
        is_counted = all(text.isdigit() for text in self.first[column])
        return is_counted, min(ranks, default=len(_ITEM_WORDS))


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
            [(f"{path}: no column has the submission ids of the Prolific export to join by")]
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
    if submitted is None and cell_in(cells, "Time taken").isdecimal():
        accepted, submitted = with_duration(cells, "Time taken", accepted, None)
    return ImportedRow(
        line=line,
        assignment_id=cells[_ID].strip(),
        worker_id=cells["Participant id"].strip(),
        accepted_at=accepted,
        submitted_at=submitted,
        outcome=status,
        sent={_CODE: cells.get(_CODE, "")},
    )
