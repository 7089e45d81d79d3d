"""DataFrames of answers, into the table that heuristics read and back.

A DataFrame is read like an imported file (`piecework.importing`): its columns decide
which fields it has, and answers are typed by these fields. Results of other tools are read
into one DataFrame.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from piecework.campaign.opened import OpenedCampaign
from piecework.config.shared_files import read_reading
from piecework.domain.column_names import PLAYED
from piecework.domain.errors import ConfigError
from piecework.domain.field import FieldKind
from piecework.domain.imported import UNNAMED, Reading
from piecework.domain.tables import HIT_VALUE, value_column
from piecework.domain.task import GOLD
from piecework.domain.text import plural
from piecework.domain.verdicts import SubjectKind
from piecework.importing.opened_sources import opened_sources
from piecework.importing.parts import ITEM_ID
from piecework.importing.readers.head import Head
from piecework.importing.readers.recognise import Source, recognise
from piecework.importing.readers.rows import ImportedRow, RowPart
from piecework.library.frames import cell_text, require_columns, require_unique_index
from piecework.store import imports

KNOWN = (
    *("task", "worker", "assignment", "hit", "position"),
    *("accepted_at", "submitted_at", "seconds"),
    *("pastes", "keystrokes", "focus_losses", PLAYED, "outcome"),
)
"""Columns that are not answers, besides those that begin with `item.` or `gold.`."""

ITEM = "item."
_MEASURES = ("pastes", "keystrokes", "focus_losses")
_DTYPES: Mapping[str, tuple[Callable[["pd.Series[Any]"], bool], str]] = {
    **dict.fromkeys(
        ("accepted_at", "submitted_at"), (pd.api.types.is_datetime64_any_dtype, "datetimes")
    ),
    **dict.fromkeys(("seconds", *_MEASURES, PLAYED), (pd.api.types.is_numeric_dtype, "numbers")),
}
"""The dtypes that some columns must have."""

_MOST_CODES = 30
"""More different numbers than this are no codes of options."""

_ROW = "row "
"""Before the number of an assignment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedAnswers:
    """A frame of answers that was read into a store.

    Attributes:
        opened: the campaign with the store that holds them.
        subjects: the caller's name of each answer, assignment and unnamed worker, by
            its kind and its id in the store.
    """

    opened: OpenedCampaign
    subjects: Mapping[tuple[SubjectKind, str], str]


def answers_of(opened: OpenedCampaign) -> pd.DataFrame:
    """Return all answers of a store, as docs/reference/library.md describes."""
    table, task = opened.answers(), opened.campaign.task
    of_item = {str(item.item_id): item.columns for item in opened.campaign.items}
    kept = imports.outcomes(opened.store)
    outcomes = pd.Series(kept["outcome"], index=kept["answer_id"], dtype="str")
    columns: dict[str, pd.Series[Any]] = {
        "task": table["item_id"],
        "worker": table["worker_id"],
        "assignment": table["assignment_id"],
        "hit": table["hit_id"],
        "position": table["position"],
        "accepted_at": table["accepted_at"],
        "submitted_at": table["submitted_at"],
        "seconds": table["shown_seconds"],
        **{name: table[name] for name in (*_MEASURES, PLAYED)},
        "outcome": outcomes.reindex(table.index).fillna("").astype("str"),
    }
    for field in task.fields:
        name = f"{HIT_VALUE}{field.name}" if field.scope == "hit" else field.name
        while name in columns:
            name = f"{name}_answer"
        columns[name] = table[value_column(field)]
    names = dict.fromkeys(name for cells in of_item.values() for name in cells)
    for name in names:
        if name not in {ITEM_ID, task.columns[0]}:
            cells = [of_item[item_id].get(name, "") for item_id in table["item_id"]]
            shown = name if name.startswith(GOLD) else f"{ITEM}{name}"
            columns[shown] = pd.Series(cells, index=table.index, dtype="str")
    return pd.DataFrame(columns).rename_axis("answer")


@contextmanager
def opened_answers(
    answers: pd.DataFrame, *, fields: Mapping[str, FieldKind], task: str
) -> Iterator[OpenedAnswers]:
    """Open a temporary store with a DataFrame of answers, for one block.

    Args:
        answers: a column for each field that was asked, `task` and `worker`, and any
            other columns of `KNOWN`.
        fields: the kinds of some columns of answers; the others are guessed.
        task: the task in the gallery that was asked, if known; else "".

    Raises:
        ConfigError: a column is missing, has the wrong dtype, or holds no answers.
    """
    require_columns(answers, ["task", "worker"], name="answers")
    require_unique_index(answers, name="answers")
    frame = _Frame(answers)
    faults = [
        f"fields: the answers have no column {name!r}; the columns of answers are "
        f"{', '.join(map(repr, frame.asked)) or 'none'}"
        for name in fields
        if name not in frame.asked
    ]
    faults += frame.faults()
    if faults:
        raise ConfigError(faults)
    kinds = dict(fields)
    if "text" in frame.asked and not task:
        kinds.setdefault("text", "text")  # otherwise short texts would be read as options
    if not task:
        # Many different numbers are measured, also if they are on no scale.
        kinds = {**dict.fromkeys(frame.measured(), "number"), **kinds}
    reading = Reading(
        item=("task", *frame.of_items),
        item_id="task",
        gold=frame.gold,
        fields={name: {"kind": kind} for name, kind in kinds.items()},
    )
    source = Source(Path("answers"), Head(), "a DataFrame", frame.rows)
    with opened_sources([source], reading, task_name=task) as sources_read:
        yield OpenedAnswers(opened=sources_read.opened, subjects=frame.subjects())


class _Frame:
    """A DataFrame of answers as rows of assignments."""

    def __init__(self, answers: pd.DataFrame) -> None:
        names = [str(name) for name in answers.columns]
        answers = answers.set_axis(names, axis="columns")
        self._answers = answers
        self.of_items = [name.removeprefix(ITEM) for name in names if name.startswith(ITEM)]
        own = [name for name in names if name not in KNOWN and not name.startswith(ITEM)]
        self._gold = [name for name in own if name.startswith(GOLD)]
        self.asked = [name for name in own if name not in self._gold]
        self._once = [name for name in self.asked if name.startswith(HIT_VALUE)]
        self._each = [name for name in self.asked if name not in self._once]
        self.gold = {name.removeprefix(GOLD): name for name in self._gold}
        stated = answers["assignment"].tolist() if "assignment" in answers else [""] * len(answers)
        self._assignments = [cell_text(cell) for cell in stated]
        # A row without an assignment is an assignment of its own.
        own_keys = [name or number for number, name in enumerate(self._assignments)]
        self._number_of, _ = pd.factorize(pd.Series(own_keys, dtype="object"))
        self._workers_of: dict[int, dict[str, None]] = {}
        for number, cell in zip(self._number_of.tolist(), answers["worker"].tolist(), strict=True):
            worker, known = cell_text(cell), self._workers_of.setdefault(number, {})
            if worker:
                known[worker] = None
        self._position_of = pd.Series(self._number_of).groupby(self._number_of).cumcount() + 1

    def measured(self) -> Iterator[str]:
        """Yield the columns of answers with many different numbers."""
        for name in self._each:
            column = self._answers[name]
            is_number = pd.api.types.is_numeric_dtype(column)
            if is_number and column.nunique() > _MOST_CODES:
                yield name

    def faults(self) -> Iterator[str]:
        """Yield what is wrong with the columns, a sentence for each fault."""
        if not self.asked:
            yield (
                "answers: no column has answers; columns with another meaning are "
                f"{', '.join(KNOWN)}, {ITEM}*, {GOLD}*"
            )
        for name in self._gold:
            if name.removeprefix(GOLD) not in self._each:
                yield (
                    f"answers: column {name!r} has no column of answers, "
                    f"{name.removeprefix(GOLD)!r}"
                )
        is_missing = self._answers["task"].isna()
        if is_missing.any():
            label = self._answers.index[is_missing].tolist()[0]
            yield f"answers: row {label!r}, column 'task': is missing"
        yield from self._faults_of_assignments()
        for name, (is_right, kind) in _DTYPES.items():
            if name in self._answers and not is_right(self._answers[name]):
                dtype = self._answers[name].dtype
                yield f"answers: column {name!r} is {dtype}, but must hold {kind}"

    def _faults_of_assignments(self) -> Iterator[str]:
        for number, assignment in zip(self._number_of.tolist(), self._assignments, strict=True):
            workers = [*self._workers_of[number]]
            if len(workers) > 1:
                yield (
                    f"answers: the assignment {assignment!r} has two workers, {workers[0]!r} and "
                    f"{workers[1]!r}; give each worker's rows an assignment of their own"
                )
                return

    def rows(self) -> Iterator[ImportedRow]:
        """Yield a row for each assignment, with its answers in their order."""
        groups: dict[int, list[dict[str, object]]] = {}
        for number, cells in zip(
            self._number_of.tolist(), self._answers.to_dict("records"), strict=True
        ):
            groups.setdefault(number, []).append({str(name): cell for name, cell in cells.items()})
        for number, answers in groups.items():
            first = answers[0]
            yield ImportedRow(
                line=number + 1,
                hit_id=cell_text(first.get("hit")),
                assignment_id=f"{_ROW}{number}",
                is_id_made=True,
                worker_id=next(iter(self._workers_of[number]), ""),
                accepted_at=_moment(first.get("accepted_at")),
                submitted_at=_moment(first.get("submitted_at")),
                sent={name.removeprefix(HIT_VALUE): cell_text(first[name]) for name in self._once},
                parts=tuple(map(self._part, answers)),
            )

    def subjects(self) -> dict[tuple[SubjectKind, str], str]:
        """Return `OpenedAnswers.subjects`."""
        subjects: dict[tuple[SubjectKind, str], str] = {}
        for label, number, position, stated in zip(
            self._answers.index,
            self._number_of.tolist(),
            self._position_of.tolist(),
            self._assignments,
            strict=True,
        ):
            assignment = stated or str(label)
            subjects["answer", f"{_ROW}{number}.{position}"] = str(label)
            subjects["assignment", f"{_ROW}{number}"] = assignment
            subjects["worker", f"{UNNAMED}{_ROW}{number}"] = f"{UNNAMED}{assignment}"
        return subjects

    def _part(self, answer: Mapping[str, object]) -> RowPart:
        shown = {name: cell_text(answer[f"{ITEM}{name}"]) for name in self.of_items}
        shown |= {name: cell_text(answer[name]) for name in self._gold}
        sent = {name: cell_text(answer[name]) for name in self._each}
        measured = {}
        seconds = answer.get("seconds")
        if isinstance(seconds, int | float) and seconds >= 0:
            measured["shown_ms"] = str(round(seconds * 1000))
        played = answer.get(PLAYED)
        if isinstance(played, int | float) and played >= 0:
            measured[PLAYED] = str(round(played * 1000))
        for name in _MEASURES:
            times = answer.get(name)
            if isinstance(times, int | float) and times >= 0:
                measured[name] = str(round(times))
        shown["task"] = cell_text(answer["task"])
        return RowPart(shown, sent, measured)


def _moment(cell: object) -> datetime | None:
    """Return a moment in UTC; a moment without a zone is taken as UTC."""
    if not isinstance(cell, datetime) or pd.isna(cell):
        return None
    moment = pd.Timestamp(cell)
    zoned = moment.tz_localize("UTC") if moment.tz is None else moment.tz_convert("UTC")
    return zoned.to_pydatetime()


def read_results(
    files: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    columns: str | PathLike[str] | None = None,
    task: str = "",
) -> pd.DataFrame:
    """Read the answers of files that another tool wrote, together.

    Formats are recognised by content: MTurk's CSV and JSON, AMTI, Simple-AMT, Mephisto,
    Potato, Prolific's export with the answers that it belongs to, Parquet, and tables
    with stated columns (docs/how-to/importing.md). Worker ids are those of the files.
    Rows that cannot be read are left out, with a `UserWarning`.

    Args:
        files: a file, several files, or a folder that a tool wrote.
        columns: a TOML file that maps the columns of tables in an unknown format.
        task: the task in the gallery that was asked; default: guessed.

    Returns:
        One row per answer, index `answer` (str). Columns `task`, `worker`,
        `assignment`, `hit` (str), `position` (int64, from 1), `accepted_at`,
        `submitted_at` (datetimes in UTC), `seconds` (that the task was on screen),
        `pastes`, `keystrokes`, `focus_losses`, `played_part` (float64, NaN if not known), `outcome`
        (the tool's word); a column for each field that was asked (`hit.<name>`: once
        for all tasks of an assignment); `gold.<name>` and `item.<name>` of the task.

    Raises:
        ConfigError: a file cannot be read, or its format is not known.
    """
    several = [files] if isinstance(files, str | PathLike) else [*files]
    if not several:
        raise ConfigError(["files: is empty; name at least one file"])
    reading = Reading() if columns is None else read_reading(Path(columns))
    sources = recognise([Path(file) for file in several], reading)
    with opened_sources(sources, reading, task_name=task) as sources_read:
        if sources_read.unreadable:
            faults = [f for file in sources_read.understood.files for f in file.first_faults]
            first = f"; the first: line {faults[0].line}: {faults[0].fault}"
            warnings.warn(
                f"{plural(sources_read.unreadable, 'row')} could not be read and left "
                f"out{first if faults else ''}",
                stacklevel=2,
            )
        return answers_of(sources_read.opened)
