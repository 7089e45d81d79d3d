"""The answers of a campaign as reviewers see them: pseudonyms for ids, evidence as text.

The evidence against a subject is its own findings, and those of its parts. It does not
reveal that an answer is in the random sample, so that a reviewer looks at it as at any
other; a sample that is known to be one is judged more kindly.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.field import Field
from piecework.domain.ids import AnswerId, AssignmentId, WorkerId
from piecework.domain.tables import ITEM_VALUE, answer_line, answered, value_column
from piecework.domain.text import regions_in_words
from piecework.domain.verdicts import JOINED, RANDOM_SAMPLE, Finding, Subject, SubjectKind
from piecework.postprocess.hidden_ids import fixed_options, held_columns, hidden_cell
from piecework.postprocess.pseudonyms import is_pseudonym
from piecework.qc.registry import TITLES
from piecework.results.table import hidden_ids
from piecework.store import findings


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The subjects that one subject consists of and belongs to.

    Attributes:
        answers: the answer itself, or all answers of an assignment or a worker.
        positions: the name of each answer among them, by its id.
    """

    answers: tuple[AnswerId, ...]
    assignments: tuple[AssignmentId, ...]
    worker: WorkerId
    positions: Mapping[str, str]


def flags_of(opened: OpenedCampaign, subjects: Iterable[Subject]) -> list[Finding]:
    """Findings that flag any of these subjects, the most suspicious first."""
    flagged = [
        finding
        for finding in findings.about(opened.store, subjects)
        if finding.flag and finding.heuristic != RANDOM_SAMPLE
    ]
    return sorted(
        flagged, key=lambda finding: (-finding.suspicion, finding.heuristic, finding.subject_id)
    )


def flags_around(opened: OpenedCampaign, parts: Parts) -> list[Finding]:
    """Findings that flag an answer, the assignment or the worker of these parts."""
    return flags_of(
        opened,
        [
            *(("answer", answer_id) for answer_id in parts.answers),
            *(("assignment", assignment_id) for assignment_id in parts.assignments),
            ("worker", parts.worker),
        ],
    )


def evidence_sentence(finding: Finding, positions: Mapping[str, str]) -> str:
    """Format a finding as text, with its subject (`subject_of`) if that is not clear."""
    of = subject_of(finding, positions)
    begin = f"{of}: " if of else ""
    title = TITLES.get(finding.heuristic, finding.heuristic)
    return f"{begin}{title}: {finding.evidence}"


def subject_of(finding: Finding, positions: Mapping[str, str]) -> str:
    """Name the subject of a finding; "" if it is clear.

    Args:
        finding: the finding.
        positions: names of answers by id; empty if the subject is one answer.
    """
    return {
        "answer": positions.get(finding.subject_id, ""),
        "assignment": "its assignment" if not positions else "",
        "worker": "its worker",
    }[finding.subject_kind]


def joined_suspicion(flags: Iterable[Finding]) -> float:
    """The joined suspicion if it flags, else the strongest; 0 without flags."""
    all_flags = list(flags)
    joined = [flag.suspicion for flag in all_flags if flag.heuristic == JOINED]
    return max(joined or [flag.suspicion for flag in all_flags], default=0.0)


class Work:
    """The table of answers, with the positions of each subject's rows.

    Attributes:
        opened: the campaign.
        table: the answers (`piecework.domain.tables`).
        items: by id.
    """

    def __init__(self, opened: OpenedCampaign) -> None:
        self.opened = opened
        self.table = opened.answers()
        self._hidden = hidden_ids(opened)
        self._fixed = fixed_options(opened.campaign.task)
        self.items = {str(item.item_id): item for item in opened.campaign.items}
        self._answered_columns = [
            name for name in self.table.columns if name == "text" or name.startswith(ITEM_VALUE)
        ]
        self._regions = {
            value_column(field): field
            for field in opened.campaign.task.item_fields
            if field.regions
        }
        self._of_answer = {str(name): n for n, name in enumerate(self.table.index)}
        self._groups = {
            column: self.table.groupby(column, sort=False).indices
            for column in ("item_id", "worker_id", "assignment_id")
        }
        self._pseudonyms = {
            str(worker): opened.pseudonym(WorkerId(str(worker)))
            for worker in self._groups["worker_id"]
        }
        self._by_pseudonym = {name: worker_id for worker_id, name in self._pseudonyms.items()}
        shown = self.table["shown_seconds"]
        self._seconds: npt.NDArray[np.float64] = shown.fillna(
            self.table["market_seconds"]
        ).to_numpy(dtype="float64")
        self._typical = _median(self._seconds)

    # Made when they are first read: they take as much memory as the table, and a report of a
    # campaign without reviews reads none of them.

    @cached_property
    def _cells(self) -> dict[str, list[Any]]:
        """The cells of each column that is shown."""
        names = ("item_id", "worker_id", "assignment_id", "batch", "also_sent")
        return {name: self.table[name].tolist() for name in (*names, *self._answered_columns)}

    @cached_property
    def published(self) -> Mapping[SubjectKind, list[str]]:
        """By row, the ids of its subjects as a dataset has them."""
        assignments = {
            str(name): self.published_id("assignment", str(name))
            for name in self._groups["assignment_id"]
        }
        return {
            "answer": [self.published_id("answer", name) for name in self._ids],
            "assignment": [assignments[name] for name in map(str, self._cells["assignment_id"])],
            "worker": [self._pseudonyms[name] for name in map(str, self._cells["worker_id"])],
        }

    @cached_property
    def _ids(self) -> list[str]:
        return [str(name) for name in self.table.index]

    @cached_property
    def _held(self) -> frozenset[str]:
        return held_columns(self.table)

    def rows(self, kind: SubjectKind, subject_id: str) -> list[int]:
        """Numbers of the rows of a subject; empty if it is unknown."""
        if kind == "answer":
            number = self._of_answer.get(subject_id)
            return [] if number is None else [number]
        column = {"assignment": "assignment_id", "worker": "worker_id"}[kind]
        return self._group(column, subject_id)

    def touched(self, flags: Iterable[Finding]) -> set[int]:
        """Numbers of the answers affected by flags, without the random sample."""
        return {
            number
            for flag in flags
            if flag.heuristic != RANDOM_SAMPLE
            for number in self.rows(flag.subject_kind, flag.subject_id)
        }

    def published_id(self, kind: SubjectKind, name: str) -> str:
        """Return an id of an answer or assignment as a dataset has it; others as is."""
        if not name or kind == "worker":
            return name
        return self._hidden.answer(name) if kind == "answer" else (self._hidden.assignment(name))

    def named_by(self, kind: SubjectKind, name: str) -> str | None:
        """Return the answer or assignment that a dataset names so; `None` if none."""
        head = name.partition(".")[0]
        for own in map(str, self._groups["assignment_id"] if is_pseudonym(head) else ()):
            if self._hidden.assignment(own) == head:
                return own + name.removeprefix(head) if kind == "answer" else own
        return None

    def rows_of_item(self, item_id: str) -> list[int]:
        """Numbers of the answers about an item."""
        return self._group("item_id", item_id)

    def others(self, number: int) -> list[int]:
        """Numbers of the other answers about the item of this one."""
        return [n for n in self.rows_of_item(self.item_id(number)) if n != number]

    def answer_id(self, number: int) -> AnswerId:
        """The id of an answer."""
        return AnswerId(self._ids[number])

    def item_id(self, number: int) -> str:
        """The item that an answer is about."""
        return str(self._cells["item_id"][number])

    def columns_shown(self, item_id: str) -> list[tuple[str, str]]:
        """The columns of an item that workers saw besides its picture; () if it is unknown."""
        item = self.items.get(item_id)
        if item is None:
            return []
        shown = self.opened.campaign.task.shown_columns
        return [
            (name, cell)
            for name, cell in item.columns.items()
            if name in shown and cell and cell not in {item.picture, item_id}
        ]

    def worker_id(self, number: int) -> WorkerId:
        """The worker who gave an answer; the platform's id."""
        return WorkerId(self._cells["worker_id"][number])

    def assignment_id(self, number: int) -> AssignmentId:
        """The assignment that an answer is part of."""
        return AssignmentId(self._cells["assignment_id"][number])

    def batch(self, number: int) -> int:
        """The batch of an answer."""
        return int(self._cells["batch"][number])

    def subjects(self, rows: Iterable[int]) -> dict[SubjectKind, list[str]]:
        """Ids of the answers of some rows, and of their assignments and workers."""
        numbers = list(rows)
        ids = {"assignment": "assignment_id", "worker": "worker_id"}
        parts = {
            kind: [self._cells[column][number] for number in numbers]
            for kind, column in ids.items()
        }
        return {
            "answer": [self._ids[number] for number in numbers],
            "assignment": list(dict.fromkeys(map(str, parts["assignment"]))),
            "worker": list(dict.fromkeys(map(str, parts["worker"]))),
        }

    def parts(self, rows: Sequence[int], *, is_answer: bool = False) -> Parts:
        """The subjects of some rows of one worker.

        Args:
            rows: numbers; at least one.
            is_answer: the subject is one answer, which needs no name.
        """
        ids = [self.answer_id(number) for number in rows]
        names = {
            str(name): f"item {self.item_id(number)}"
            for name, number in zip(ids, rows, strict=True)
        }
        return Parts(
            answers=tuple(ids),
            assignments=tuple(dict.fromkeys(self.assignment_id(n) for n in rows)),
            worker=self.worker_id(rows[0]),
            positions={} if is_answer else names,
        )

    def pseudonym_of(self, number: int) -> str:
        """The pseudonym of the worker who gave an answer."""
        return self._pseudonyms[str(self.worker_id(number))]

    def worker_of(self, name: str) -> str | None:
        """The worker with a pseudonym; `None` if no worker has it."""
        return self._by_pseudonym.get(name)

    def answered(self, number: int) -> list[tuple[str, str]]:
        """The values of an answer by field; ("", text) for a task with one text."""
        return answered(self._row(number))

    def line(self, number: int) -> str:
        """An answer in one line: its text, or each field with its value."""
        return answer_line(self._row(number))

    def also_sent(self, number: int) -> list[tuple[str, str]]:
        """What came with an answer under names that are no fields of the task."""
        document = self._cells["also_sent"][number]
        hidden = self._hidden.sent(document, self.worker_id(number))
        return list(json.loads(hidden).items()) if hidden else []

    def evidence(self, finding: Finding) -> str:
        """The evidence of a finding; it may quote what its worker wrote."""
        rows = self.rows(finding.subject_kind, finding.subject_id)
        if not rows:
            return self._hidden.everywhere(finding.evidence)
        return self._hidden.of_worker(finding.evidence, self.worker_id(rows[0]))

    def hidden(self, text: str, number: int) -> str:
        """A text about an answer, with pseudonyms for ids; it may quote its worker."""
        return self._hidden.of_worker(text, self.worker_id(number))

    def flag_line(self, finding: Finding) -> str:
        """A finding in one line: the heuristic's title, and the evidence."""
        title = TITLES.get(finding.heuristic, finding.heuristic)
        return f"{title}: {self.evidence(finding)}"

    def seconds(self, number: int) -> float:
        """How long an item was on screen, or its share of the time until submission.

        NaN if both are unknown.
        """
        return float(self._seconds[number])

    def typical_seconds(self, rows: Sequence[int] | None = None) -> float:
        """The median time of these answers, or of all; NaN if no time is known."""
        if rows is None:
            return self._typical
        return _median(self._seconds[list(rows)])

    def regions(self, number: int) -> list[tuple[Field, str]]:
        """The fields of an answer that hold regions, with the JSON texts that were sent."""
        cells = self._cells_of(number, self._regions)
        return [(field, cells[name]) for name, field in self._regions.items() if cells[name]]

    def _row(self, number: int) -> dict[str, Any]:
        """The cells with the values of an answer; regions in words."""
        drawn = {
            value_column(field): regions_in_words(text, field.regions)
            for field, text in self.regions(number)
        }
        return self._cells_of(number, self._answered_columns) | drawn

    def _cells_of(self, number: int, names: Iterable[str]) -> dict[str, Any]:
        """The cells of an answer, without ids."""
        worker_id = self.worker_id(number)
        return {
            name: hidden_cell(
                self._cells[name][number],
                worker_id,
                self._hidden,
                name=name,
                fixed=self._fixed,
                is_held=name in self._held,
            )
            for name in names
        }

    def _group(self, column: str, value: str) -> list[int]:
        return [int(number) for number in self._groups[column].get(value, ())]


def _median(seconds: npt.NDArray[np.float64]) -> float:
    known = seconds[~np.isnan(seconds)]
    return float(np.median(known)) if known.size else float("nan")
