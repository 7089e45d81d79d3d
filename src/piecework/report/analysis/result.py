"""One analysis: a frame of numbers, which a table, a page and JSON all show."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from piecework.domain.counts import NOTHING, count
from piecework.report.components import Cell, Column, Section, Table, number, text
from piecework.report.formatting import excerpt

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
    return Section(key=key, title=title, tables=tuple(map(_table, analyses)))


def _table(analysis: Analysis) -> Table:
    frame = analysis.frame.head(_MOST_ROWS)
    left_out = len(analysis.frame) - len(frame)
    more = f" {count(left_out)} more rows are in the JSON." if left_out else ""
    frame = frame.drop(columns=list(analysis.left_out), errors="ignore")
    return Table(
        caption=analysis.title,
        columns=tuple(_column(frame, str(name)) for name in frame),
        rows=tuple(
            tuple(_shown(value) for value in row)
            for row in frame.itertuples(index=False, name=None)
        ),
        note=f"{analysis.note}{more}".strip(),
        is_wide=True,
    )


def _column(frame: pd.DataFrame, name: str) -> Column:
    label = name.replace("_", " ").capitalize()
    is_number = pd.api.types.is_numeric_dtype(frame[name])
    return number(label) if is_number else text(label)


def _shown(value: object) -> Cell:
    if value is None:
        return NOTHING
    if isinstance(value, float):
        if math.isnan(value):
            return NOTHING
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
