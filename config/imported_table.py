"""`[imported]` of a campaign file, or of a file of its own: the columns of files."""

from typing import Annotated

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    StringConstraints,
    model_validator,
)

from piecework.config.named import Names
from piecework.domain.imported import ColumnNames, Reading

Column = Annotated[str, StringConstraints(min_length=1, max_length=1000), Names.NOTHING]


def _several(value: object) -> object:
    return (value,) if isinstance(value, str) else value


Columns = Annotated[tuple[Column, ...], BeforeValidator(_several)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ImportedColumnsTable(_Strict):
    """`[imported.columns]`: the columns of a plain table that describe the work."""

    assignment: Columns = ()
    hit: Columns = ()
    worker: Column | None = None
    accepted: Column | None = None
    submitted: Column | None = None
    seconds: Column | None = None
    outcome: Column | None = None
    feedback: Column | None = None


class ImportedTable(_Strict):
    """`[imported]`: results that another tool collected."""

    columns: ImportedColumnsTable = ImportedColumnsTable()
    header: tuple[Column, ...] = ()
    numbers: tuple[int, ...] = ()
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
        """Return the table as a value."""
        columns = self.columns.model_dump()
        return Reading(
            columns=ColumnNames(
                **{name: cell for name, cell in columns.items() if cell is not None}
            ),
            header=self.header,
            numbers=tuple(map(str, self.numbers)),
            item=self.item,
            item_id=self.item_id or "",
            answers=self.answers,
            votes=self.votes,
            gold=self.gold,
            values=self.values,
        )
