"""The building blocks of a page of the report.

Sections use only these; one template turns them into accessible HTML, so that every
table has its caption and scopes and every plot its text alternative.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Generic, Literal, TypeVar

from markupsafe import Markup

from piecework.domain.imported import COLUMNS_READ, GUESSED
from piecework.domain.text import count

Level = Literal["problem", "watch", "fine", "fact"]

LEVEL_WORDS: Mapping[Level, str] = {
    "problem": "Problem",
    "watch": "Watch",
    "fine": "Fine",
    "fact": "Note",
}
"""Levels are also given as text, since not every reader can tell colours apart."""


_NARROW, _MIDDLE = 4, 6
"""This many columns fit into a third and into two thirds of the page."""

_SHORT_QUOTE = 40
_LONGEST_OPEN = 40
"""The most rows of a table that stands open."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Text typed by a worker; shown apart from the report's own text."""

    text: str
    kind: str = "quote"


@dataclass(frozen=True, slots=True)
class Code:
    """A name or hash in fixed width; `words` are shown before it, if not empty."""

    text: str
    words: str = ""
    kind: str = "code"


@dataclass(frozen=True, slots=True)
class Tag:
    """A short word that should stand out."""

    text: str
    level: Level
    kind: str = "tag"


@dataclass(frozen=True, slots=True)
class Link:
    """Words that lead to a page beside this one.

    Attributes:
        page: its path, from this page's folder.
    """

    text: str
    page: str
    kind: str = "link"


Cell = str | Quote | Code | Tag | Link


_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True)
class Column(Generic[_Row]):
    """A table's column: its label, and what it shows of a row.

    Attributes:
        cell: a function of the row, the name of an attribute or a key of it, or `None` for
            the cell that the row itself has at this place. Whole numbers get separators.
        style: `n` for numbers, right-aligned; `r` for numbers with a range, which may
            stand in a second line; `t` for times, never broken.
        spoken: the long name if `label` is short.
        is_shown: False leaves the column out.
    """

    label: str
    cell: "Callable[[_Row], Cell | int] | str | None" = None
    style: Literal["", "n", "r", "t"] = ""
    spoken: str = ""
    is_shown: bool = True

    def shown(self, row: _Row, place: int) -> Cell:
        """The cell of a row."""
        value: Any = row
        if callable(self.cell):
            value = self.cell(row)
        elif self.cell is None:
            value = value[place]
        else:
            value = value[self.cell] if isinstance(row, Mapping) else getattr(row, self.cell)
        return count(int(value)) if isinstance(value, Integral) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under a caption; the first cell of a row is its heading.

    Attributes:
        note: what a reader has to know to read it correctly.
        is_folded: shown only on demand.
        whole: how many rows there are, if some are left out.
        is_wide: needs the full width of the page.
        is_middle: needs two thirds of the width, whatever its number of columns.
        empty: shown instead of a table without rows.
    """

    caption: str
    columns: tuple[Column[Any], ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    is_folded: bool = False
    whole: int = 0
    is_wide: bool = False
    is_middle: bool = False
    empty: str = "Nothing to show."

    @property
    def rows_shown(self) -> str:
        """How many rows it shows: `20`, or `20 of 32`."""
        shown = count(len(self.rows))
        return f"{shown} of {count(self.whole)}" if self.whole > len(self.rows) else shown

    @property
    def is_closed(self) -> bool:
        """Whether a reader opens it first: one asked for, or a long one."""
        return self.is_folded or len(self.rows) > _LONGEST_OPEN

    @property
    def is_stacked(self) -> bool:
        """Whether a phone shows the cells of a row below each other, with their columns' names.

        It does so where cells quote long texts or have a range, and would not fit side by side.
        """
        is_long = any(column.style == "r" for column in self.columns) or any(
            isinstance(cell, Quote) and len(cell.text) > _SHORT_QUOTE
            for row in self.rows
            for cell in row
        )
        return is_long and len(self.columns) > _NARROW

    @property
    def width(self) -> Literal["", "middle", "middle many", "wide"]:
        """The part of the page's width that it takes: a third, two, or all.

        "many" needs all of it on paper.
        """
        if self.is_wide or (len(self.columns) > _MIDDLE and not self.is_middle):
            return "wide"
        if len(self.columns) > _MIDDLE:
            return "middle many"
        return "middle" if self.is_middle or len(self.columns) > _NARROW else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A plot.

    Attributes:
        is_wide: needs more than a third of the page's width.
        note: what every reader needs to understand it. The description for readers who
            cannot see the plot is inside the SVG.
    """

    title: str
    svg: Markup
    note: str = ""
    is_wide: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """One sentence that bears on trust."""

    level: Level
    text: str

    @property
    def word(self) -> str:
        """The level as text."""
        return LEVEL_WORDS[self.level]


def notes_of_remarks(remarks: Iterable[str]) -> tuple[Note, ...]:
    """Return remarks about an input; how its columns were read is no warning."""
    return tuple(
        Note("fact" if remark.startswith((COLUMNS_READ, GUESSED)) else "watch", remark)
        for remark in remarks
    )


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """A number in large type, and what puts it in proportion."""

    label: str
    value: str
    beside: str
    level: Level = "fact"

    @property
    def warning(self) -> str:
        """The level as text if it is not good, else ""."""
        return LEVEL_WORDS[self.level] if self.level in {"problem", "watch"} else ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a changed text: kept, removed from it, or inserted into it."""

    text: str
    change: Literal["", "del", "ins"] = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer about an item, and its outcome.

    Attributes:
        times: how many answers are the same in all of this.
        because: why it does not count; "" if it does.
        changed: what cleaning changed, with the words around it, shown instead of the text.
    """

    text: str
    tag: Tag
    times: int = 1
    because: str = ""
    changed: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One item with its picture and its answers.

    Attributes:
        why: why the item was chosen, in one or two words.
        picture: a `data:` URL; "" for none.
        original: where the picture is in full size, from the page's folder; "" if that is
            not known.
        texts: what workers were shown beside it, each with its name.
        votes: the answers, added up, by field.
        more: further answers, shown on demand.
        note: says what is not shown.
    """

    heading: str
    picture: str
    texts: tuple[tuple[str, str], ...]
    votes: tuple[tuple[str, str], ...]
    replies: tuple[Reply, ...]
    more: tuple[Reply, ...] = ()
    why: str = ""
    note: str = ""
    original: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gallery:
    """Some items with their answers.

    Attributes:
        note: how they were chosen.
        more: further cards, shown only on demand.
    """

    title: str
    cards: tuple[Card, ...]
    more: tuple[Card, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question that a reader asks first, and its answer.

    Attributes:
        points: details of the answer, as a list.
        notes: what bears on trust, as a list with levels.
    """

    name: str
    answer: str
    points: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Aspect:
    """Quality, time or money: its key figures and one plot."""

    key: str
    title: str
    key_figures: tuple[KeyFigure, ...]
    figure: Figure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One question that the report answers; `key` is its anchor.

    Attributes:
        terms: words, each with its meaning.
    """

    key: str
    title: str
    lead: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    galleries: tuple[Gallery, ...] = ()
    terms: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Sections that are folded behind the first page together.

    Attributes:
        about: what they are about, in a sentence that is shown when it is folded.
    """

    key: str
    title: str
    about: str
    sections: tuple[Section, ...]


def text(
    label: str, cell: "Callable[[_Row], Cell | int] | str | None" = None, *, is_shown: bool = True
) -> Column[_Row]:
    """A column of text."""
    return Column(label, cell, is_shown=is_shown)


def number(
    label: str,
    cell: "Callable[[_Row], Cell | int] | str | None" = None,
    *,
    spoken: str = "",
    is_shown: bool = True,
) -> Column[_Row]:
    """A column of numbers, right-aligned."""
    return Column(label, cell, "n", spoken, is_shown)


def table(
    caption: str,
    rows: Iterable[_Row],
    *columns: Column[_Row],
    note: str = "",
    empty: str = "Nothing to show.",
    is_folded: bool = False,
    whole: int = 0,
    is_wide: bool = False,
    is_middle: bool = False,
) -> Table:
    """Build a table from its rows and what each column shows of them (`Column`, `Table`).

    >>> workers = [{"worker": "7f3a", "kept": 1200}]
    >>> table("Workers", workers, text("Worker", "worker"), number("Kept", "kept")).rows
    (('7f3a', '1,200'),)
    """
    places = [(place, column) for place, column in enumerate(columns) if column.is_shown]
    return Table(
        caption=caption,
        columns=tuple(column for _, column in places),
        rows=tuple(tuple(column.shown(row, place) for place, column in places) for row in rows),
        note=note,
        empty=empty,
        is_folded=is_folded,
        whole=whole,
        is_wide=is_wide,
        is_middle=is_middle,
    )
