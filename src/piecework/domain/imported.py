"""How to read results of another tool: the meaning of each column.

A campaign file states it under `[imported]`; the rest is guessed from the files. A
campaign with this table cannot post or pay.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

UNNAMED = "unnamed:"
"""Prefix of worker ids if a file does not say who worked; such workers count as
different people, one per assignment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnNames:
    """Columns of a plain table about each assignment; empty: there is no such column.

    Attributes:
        assignment: columns that together identify an assignment; rows with the same
            values belong to one. Without them each row is one.
        hit: columns that together identify a HIT.
        seconds: how long the work took; with one of the two times it gives the other.
        outcome: the decision about the answer elsewhere.
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
class Times:
    """How the times of a file are written.

    Attributes:
        zone: the zone of times that name none, as an offset or a name of the IANA
            database; "": UTC.
        zones: zones by the abbreviation that the files use.
        day_first: whether 03/04/2017 is a day in April; `None`: not known, and only
            dates with a day above 12 can be read.
    """

    zone: str = ""
    zones: Mapping[str, str] = field(default_factory=dict)
    day_first: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The meaning of the files' columns.

    Attributes:
        columns: columns of a plain table; files of known tools do not need them.
        header: names of the columns of a file without a header line.
        separator: what separates the cells of a table; "": guessed.
        encoding: the encoding of text files; "": guessed.
        times: how times are written.
        numbers: numbers in column names if a row is about several items: `("1", "2")`
            for `text1`, `text2` and `answer1`, `answer2`; `None`: guessed.
        item: columns that identify an item: the same values are the same item.
        item_id: the column that names an item; "": ids are derived from its columns.
        answers: the files' name for each field of the task.
        votes: counted answers: by field, the column of the count by option.
        gold: columns that hold the right answer, by field.
        values: the meaning of values of answers that the files write differently.
        fields: settings of fields by name, as `[fields.<name>]` states them; the rest
            is guessed.
        marks: the kind of marks of each known answer, "" if it has none; not stated, but
            taken from the fields, so that a later file's answers keep their names.
    """

    columns: ColumnNames = field(default_factory=ColumnNames)
    header: tuple[str, ...] = ()
    separator: str = ""
    encoding: str = ""
    times: Times = field(default_factory=Times)
    numbers: tuple[str, ...] | None = None
    item: tuple[str, ...] = ()
    item_id: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)
    votes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    gold: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    marks: Mapping[str, str] = field(default_factory=dict)


Role = Literal["text", "item", "worker", "label"]


COLUMNS_READ = "The column "
"""How a remark begins that says which columns were read, and warns of nothing."""

GUESSED = "Guessed: "
"""How a remark begins that says how a file was read, and warns of nothing either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedColumns:
    """The columns of a table of any origin that a person named; empty if they did not.

    Attributes:
        text: the column with the texts.
        item: the column that names what a row is about.
        worker: the column that names who answered.
        label: columns with answers that are no texts.
    """

    text: str = ""
    item: str = ""
    worker: str = ""
    label: tuple[str, ...] = ()

    def of(self, role: Role) -> tuple[str, ...]:
        """Return the columns of a role: at most one, except for labels."""
        if role == "label":
            return self.label
        name = {"text": self.text, "item": self.item, "worker": self.worker}[role]
        return (name,) if name else ()

    def __bool__(self) -> bool:
        """Return whether any column is named."""
        return any((self.text, self.item, self.worker, self.label))


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFile:
    """One import of one file, counted in assignments.

    Attributes:
        known: already in the store, from this file or another.
        not_sent: accepted but never submitted.
        unreadable: rows that were set aside.
        conflict: why the first was, if it may be another person's; not stored.
    """

    file: str
    sha256: str
    format_name: str
    assignments: int = 0
    known: int = 0
    not_sent: int = 0
    unreadable: int = 0
    conflict: str = ""
