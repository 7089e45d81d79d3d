"""`items`, `[grows]` and a file of columns: where items come from, and other tools' answers."""

from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from piecework.config.named import Names, Words, as_list
from piecework.domain.clock import zone_named
from piecework.domain.growing import MOST_IN_BATCH, OnChange, OnRemoval
from piecework.domain.imported import ColumnNames, Reading, Times


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def is_read_as_it_arrives(file: str | None) -> bool:
    """Return whether `items.file` names more than a CSV or JSON Lines file here."""
    return file is not None and (
        "://" in file or file.lower().endswith((".parquet", ".manifest", "/"))
    )


class ItemsTable(_Strict):
    """`[items]`: where the items come from."""

    file: Annotated[str, Names.INPUT] | None = None
    columns: dict[Words, Words] = {}
    scenes: Annotated[int, Field(ge=1, le=100_000)] | None = None
    query: Words | None = None

    @model_validator(mode="after")
    def _outside(self) -> "ItemsTable":
        is_database = any(mark in (self.file or "") for mark in ("://", "${"))
        if self.query is not None and not is_database:
            raise ValueError('query is for a database; write its URL, file = "postgresql://..."')
        if self.query is not None and self.scenes:
            raise ValueError("a query gives all items; leave out scenes")
        return self

    @property
    def grows_only(self) -> str:
        """Why these items have to grow; "" for items that may be fixed."""
        if self.query or is_read_as_it_arrives(self.file):
            return (
                "a query, a folder/, a .parquet or .manifest file or an address is "
                "read as it grows; add [grows]"
            )
        return ""

    @model_validator(mode="after")
    def _one_source(self) -> "ItemsTable":
        if self.file is None and self.scenes is None:
            raise ValueError(
                "give a file, or scenes for captions of drawn pictures; a folder of pictures is "
                'items = "photos/"'
            )
        if self.columns and self.file is None:
            raise ValueError("columns renames the columns of a file; set items.file")
        return self


class GrowsTable(_Strict):
    """`[grows]`: rows of the items may be added while the campaign runs."""

    batch: Annotated[int, Field(ge=1, le=MOST_IN_BATCH)] = 100
    every_hours: Annotated[float, Field(ge=0.01, le=8760)] = 24
    on_change: OnChange = "refuse"
    on_removal: OnRemoval = "withdraw"
    archive_after_batches: Annotated[int, Field(ge=1, le=100_000)] | None = None


_OF_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".manifest")


def _is_items(value: object) -> object:
    if isinstance(value, str):
        return {"file": value}
    if not isinstance(value, dict | ItemsTable):
        raise ValueError(  # noqa: TRY004 - pydantic only collects ValueError
            'name the file or the folder of pictures, such as "items.csv", or write a table'
        )
    return value


def is_folder(items: object, pictures: object) -> bool:
    """Return whether `items` names a folder of pictures: a text that no table's name ends.

    If `pictures` are stated beside it, it names a file of rows.
    """
    is_table = isinstance(items, str) and items.lower().endswith(_OF_TABLES)
    return isinstance(items, str) and pictures is None and not is_table


Items = Annotated[ItemsTable, BeforeValidator(_is_items)]


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
