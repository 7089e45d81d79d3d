"""The input of analyses and their results.

The input is the answers that count, by field, with their conditions. A result is a frame of
numbers, which a table, a page and JSON all show.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field

import pandas as pd

from piecework.analyses.votes import on_scale, votes
from piecework.domain.field import Field, is_graded
from piecework.domain.hit import Item
from piecework.domain.task import Task
from piecework.domain.text import NOTHING, count
from piecework.report.components import Cell, Column, Section, Table, number, table, text
from piecework.report.formatting import decimals, excerpt

_MOST_GRADES = 10


@dataclass(frozen=True, kw_only=True)
class AnalysedAnswers:
    """Answers that count, and how to compare them.

    Attributes:
        table: of `piecework.domain.tables`, with `worker` instead of the worker's id.
        condition: the item column with the conditions to compare; "" for none.
        unit: the item column of the unit that meets all conditions, such as an image;
            "": the worker for conditions that the task itself compares, else the HIT.
        margin: the smallest difference that would matter; `None`: do not test it.
        seed: of the random draws.
        mixed_in: answers like those of `table` about items that were only mixed in to
            check workers; they tell which labels are right.
    """

    table: pd.DataFrame
    task: Task
    items: Sequence[Item]
    condition: str = ""
    unit: str = ""
    margin: float | None = None
    seed: int = 1
    mixed_in: pd.DataFrame = dataclass_field(default_factory=pd.DataFrame)

    def column(self, name: str) -> "pd.Series[str]":
        """By answer, the cell of its item in a column."""
        cells: Mapping[str, str] = {
            str(item.item_id): item.columns.get(name, "") for item in self.items
        }
        return self.table["item_id"].map(cells).fillna("").astype("str")

    @property
    def units(self) -> "pd.Series[str]":
        """By answer, the unit of repeated measures."""
        if self.unit:
            return self.column(self.unit)
        compared = {condition.column for condition in self.task.conditions}
        return self.table["worker" if self.condition in compared else "hit_id"]

    @property
    def with_mixed_in(self) -> "AnalysedAnswers":
        """The same with the answers about mixed-in items among the others."""
        if self.mixed_in.empty:
            return self
        return replace(self, table=pd.concat([self.table, self.mixed_in]))

    def votes(self, field: Field) -> pd.DataFrame:
        """The answers to a field: `item_id`, `worker`, `value`."""
        field_votes = votes(self.table, field)
        if field.kind == "number":
            return field_votes[on_scale(field, field_votes["value"]).notna()]
        if field.kind == "choices":
            return field_votes
        known = {option.value for option in field.options}
        is_limited = known and not field.is_open
        return field_votes[field_votes["value"].isin(known)] if is_limited else field_votes

    def fields(self, *kinds: str) -> list[Field]:
        """The fields about items of these kinds."""
        return [field for field in self.task.item_fields if field.kind in kinds]

    def numbers(self, field: Field) -> "pd.Series[float]":
        """By answer, a number or a grade; NaN if there is none."""
        return on_scale(field, votes(self.table, field)["value"])

    def rated_fields(self) -> list[Field]:
        """The fields with numbers, and with choices between grades."""
        return [
            field
            for field in self.fields("number", "choice")
            if field.kind == "number" or is_graded(field)
        ]


def has_grades(field: Field) -> bool:
    """Whether answers are grades: a scale with a few whole steps."""
    steps = (field.maximum - field.minimum) / field.step if field.step else 0
    is_scale = field.kind == "number" and 0 < steps <= _MOST_GRADES
    return is_scale or is_graded(field)


_LONGEST = 80
_MOST_ROWS = 100
_LEAST_SHOWN = 1e-3


@dataclass(frozen=True, kw_only=True)
class Analysis:
    """The result of one analysis.

    Attributes:
        key: its name for programs.
        frame: the rows; column names are words with underscores.
        note: what a reader has to know to read it correctly.
        left_out: columns only for programs, because a line has limited room.
    """

    key: str
    title: str
    frame: pd.DataFrame
    note: str = ""
    left_out: tuple[str, ...] = ()

    def rows(self) -> list[dict[str, object]]:
        """The rows as plain values; unknown values are `None`."""
        return [
            {str(name): _plain(value) for name, value in row.items()}
            for row in self.frame.to_dict("records")
        ]


def section(key: str, title: str, analyses: Sequence[Analysis]) -> Section:
    """Build the section with the analyses of one question."""
    return Section(key=key, title=title, tables=tuple(map(_shown_rows, analyses)))


def _shown_rows(analysis: Analysis) -> Table:
    frame = analysis.frame.head(_MOST_ROWS)
    left_out = len(analysis.frame) - len(frame)
    more = f" {count(left_out)} more rows are in the JSON." if left_out else ""
    frame = frame.drop(columns=list(analysis.left_out), errors="ignore")
    columns: list[Column[Sequence[Cell]]] = [
        (number if pd.api.types.is_numeric_dtype(cells) else text)(
            str(name).replace("_", " ").capitalize()
        )
        for name, cells in frame.items()
    ]
    return table(
        analysis.title,
        [tuple(map(_shown, row)) for row in frame.itertuples(index=False, name=None)],
        *columns,
        note=f"{analysis.note}{more}".strip(),
        empty=analysis.note,
        is_wide=True,
    )


def _shown(value: object) -> Cell:
    if value is None:
        return NOTHING
    if isinstance(value, float):
        if not math.isfinite(value):
            return decimals(value)
        if value and abs(value) < _LEAST_SHOWN:
            return f"{value:.1e}"
        return f"{value:,.3f}"
    if isinstance(value, int):
        return count(value)
    return excerpt(str(value), limit=_LONGEST)


def _plain(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, int | str | bool) else None
