"""How results that another tool collected are read: which column is what.

A campaign file says it under `[imported]`; without such words it is found out from the
files. Nothing is posted or paid from a campaign that has this.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

UNNAMED = "unnamed:"
"""What the id of a worker begins with where a file does not say who worked: such
workers are different people, one for each assignment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnNames:
    """What columns of a plain table say about each go at a HIT; empty: it has none.

    Attributes:
        assignment: columns that name an assignment together; rows that follow each
            other with the same values are of one. Without them each row is one.
        hit: columns that name a HIT together.
        seconds: how long the work took; with one of the two times it gives the other.
        outcome: what became of the answer elsewhere.
    """

    assignment: tuple[str, ...] = ()
    hit: tuple[str, ...] = ()
    worker: str = ""
    accepted: str = ""
    submitted: str = ""
    seconds: str = ""
    outcome: str = ""
    feedback: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Which columns of the files are what.

    Attributes:
        columns: of a plain table; files of a tool that is known need none.
        header: names of the columns of a file that has no line of them.
        numbers: what names of columns end in where a row is about several items:
            `("1", "2")` for `text1`, `text2` and `answer1`, `answer2`.
        item: columns that make an item: the same values are the same item.
        item_id: the column that names an item; "": ids are made of its columns.
        answers: what the files call each field of the task.
        votes: counted answers: by field, the column of the count by option.
        gold: columns that hold the right answer, by field.
        values: what values of answers stand for, where the files write them otherwise.
        fields: what is said about fields, by name, as `[fields.<name>]` says it; the
            rest is guessed.
    """

    columns: ColumnNames = ColumnNames()
    header: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    item: tuple[str, ...] = ()
    item_id: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)
    votes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    gold: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
