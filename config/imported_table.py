"""A file of columns: what it says about files that another tool wrote."""

from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    StringConstraints,
    model_validator,
)

from piecework.config.named import Names, as_list
from piecework.domain.clock import zone_named
from piecework.domain.imported import ColumnNames, Reading, Times

Column = Annotated[str, StringConstraints(min_length=1, max_length=1000), Names.NOTHING]


Columns = Annotated[tuple[Column, ...], BeforeValidator(as_list)]
Number = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,3}$"), Names.NOTHING]


def _numbers(value: object) -> object:
    """Accept whole numbers, as most endings are, and text such as "01"."""
    if not isinstance(value, list | tuple):
        return value
    return [
        str(number) if isinstance(number, int) and not isinstance(number, bool) else number
        for number in value
    ]


def _encoding(name: str) -> str:
    try:
        b"".decode(name)
    except (LookupError, ValueError) as fault:
        raise ValueError(
            f"{name!r} is not a text encoding; write utf-8, utf-16 or cp1252"
        ) from fault
    return name


def _zone(name: str) -> str:
    zone_named(name)
    return name


Zone = Annotated[str, StringConstraints(min_length=1), AfterValidator(_zone), Names.NOTHING]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ImportedColumnsTable(_Strict):
    """`[columns]`: the columns of a plain table that describe the work."""

    assignment: Columns = ()
    hit: Columns = ()
    worker: Column | None = None
    accepted: Column | None = None
    submitted: Column | None = None
    seconds: Column | None = None
    outcome: Column | None = None
    feedback: Column | None = None


class ImportedTable(_Strict):
    """The file that `[imported] columns` names; `file` is that name, and no key."""

    file: Annotated[str, Names.DEFINITION] | None = None
    columns: ImportedColumnsTable = ImportedColumnsTable()
    header: tuple[Column, ...] = ()
    separator: Literal[",", ";", "\t", "|"] | None = None
    encoding: Annotated[str, AfterValidator(_encoding), Names.NOTHING] | None = None
    zone: Zone | None = None
    zones: dict[Column, Zone] = {}
    day_first: bool | None = None
    numbers: Annotated[tuple[Number, ...], BeforeValidator(_numbers)] = ()
    item: Columns = ()
    item_id: Column | None = None
    answers: dict[Column, Column] = {}
    votes: dict[Column, dict[Column, Column]] = {}
    gold: dict[Column, Column] = {}
    values: dict[Column, Annotated[str, Names.NOTHING]] = {}

    @model_validator(mode="after")
    def _answers_are_named_once(self) -> "ImportedTable":
        twice = set(self.answers) & set(self.votes)
        if twice:
            raise ValueError(f"{min(twice)} is both in answers and in votes")
        return self

    def reading(self) -> Reading:
        """Return the table as a value; without `numbers`, rows are about one item."""
        columns = self.columns.model_dump()
        return Reading(
            columns=ColumnNames(
                **{name: cell for name, cell in columns.items() if cell is not None}
            ),
            header=self.header,
            separator=self.separator or "",
            encoding=self.encoding or "",
            times=Times(zone=self.zone or "", zones=self.zones, day_first=self.day_first),
            numbers=self.numbers,
            item=self.item,
            item_id=self.item_id or "",
            answers=self.answers,
            votes=self.votes,
            gold=self.gold,
            values=self.values,
        )
