"""The few kinds of things a page of the report is made of.

Sections say what they know in these; one template turns them into accessible HTML, so
that every table has its caption and scopes and every plot its text alternative.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

Level = Literal["problem", "watch", "fine", "fact"]

LEVEL_WORDS: Mapping[Level, str] = {
    "problem": "Problem",
    "watch": "Watch",
    "fine": "Fine",
    "fact": "Note",
}
"""Levels are told in words, since not every reader tells colours apart."""


_BESIDE = 4
"""So many columns still fit into half the page."""


@dataclass(frozen=True, slots=True)
class Quote:
    """What a stranger typed; shown apart from our own words."""

    text: str
    kind: str = "quote"


@dataclass(frozen=True, slots=True)
class Code:
    """A name or hash, in fixed width; `words` say what it means, if not empty."""

    text: str
    words: str = ""
    kind: str = "code"


@dataclass(frozen=True, slots=True)
class Tag:
    """A short word that should be seen at once."""

    text: str
    level: Level
    kind: str = "tag"


Cell = str | Quote | Code | Tag


@dataclass(frozen=True, slots=True)
class Column:
    """A table's column; `spoken` is the long name where `label` is a short one.

    Attributes:
        style: `n` for numbers, aligned at the right; `t` for times, never broken.
    """

    label: str
    style: Literal["", "n", "t"] = ""
    spoken: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under a caption; the first cell of a row is its heading.

    Attributes:
        note: what a reader has to know to read it right.
        is_folded: shown only on demand.
        is_wide: needs the page's whole width, as more than four columns do anyway.
        empty: what to say instead of a table without rows.
    """

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    is_folded: bool = False
    is_wide: bool = False
    empty: str = "Nothing to show."

    @property
    def fills_width(self) -> bool:
        """Whether nothing fits beside it."""
        return self.is_wide or self.is_folded or len(self.columns) > _BESIDE


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A plot.

    Attributes:
        note: what every reader needs to understand it. What only those need who
            cannot see the plot is its description, inside the SVG.
    """

    title: str
    svg: Markup
    note: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """One sentence that bears on trust."""

    level: Level
    text: str

    @property
    def word(self) -> str:
        """The level as the reader sees it."""
        return LEVEL_WORDS[self.level]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFigure:
    """A number large enough to be seen from afar, and what puts it in proportion."""

    label: str
    value: str
    beside: str
    level: Level = "fact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer about an item, and what became of it.

    Attributes:
        times: how many answers are equal in all of this.
        because: why it does not count, "" if it does.
        typed: what the worker typed, where cleaning changed it.
    """

    text: str
    tag: Tag
    times: int = 1
    because: str = ""
    typed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One item with its picture and its answers.

    Attributes:
        picture: a `data:` address, "" for none.
        texts: what workers were shown beside it, each with its name.
        votes: what was answered, added up, by field.
        note: what is not shown.
    """

    heading: str
    picture: str
    texts: tuple[tuple[str, str], ...]
    votes: tuple[tuple[str, str], ...]
    replies: tuple[Reply, ...]
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gallery:
    """Items that are shown for the same reason."""

    title: str
    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One question that the report answers; `key` is its anchor."""

    key: str
    title: str
    lead: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    galleries: tuple[Gallery, ...] = ()


def text(label: str) -> Column:
    """A column of words."""
    return Column(label)


def number(label: str, *, spoken: str = "") -> Column:
    """A column of numbers, aligned at the right."""
    return Column(label, style="n", spoken=spoken)


def time(label: str) -> Column:
    """A column of times."""
    return Column(label, style="t")
