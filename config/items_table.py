"""`items` and `[grows]` of a campaign file: where the items come from, and how they grow."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from piecework.config.named import Names, Words
from piecework.domain.growing import MOST_IN_BATCH, OnChange, OnRemoval


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
    pictures: Annotated[str, Names.INPUT] | None = None
    scenes: Annotated[int, Field(ge=1, le=100_000)] | None = None
    query: Words | None = None
    database: Annotated[Words, Names.DATABASE] | None = None

    @model_validator(mode="after")
    def _outside(self) -> "ItemsTable":
        if (self.query is None) != (self.database is None):
            raise ValueError("query and database belong together; set both")
        if self.query is not None and (self.file or self.scenes or self.pictures):
            raise ValueError("a query gives all items; leave out file and pictures")
        return self

    @property
    def grows_only(self) -> str:
        """Why these items have to grow; "" for items that may be fixed."""
        if self.query or is_read_as_it_arrives(self.file):
            return (
                "a query, a folder/, a .parquet or .manifest file or an address is "
                "read as it grows; add [grows]"
            )
        if not self.file and "://" in (self.pictures or ""):
            return (
                "pictures at an address are listed as they arrive; add [grows], "
                "or name them in a file"
            )
        return ""

    @model_validator(mode="after")
    def _one_source(self) -> "ItemsTable":
        if {self.file, self.scenes, self.pictures, self.query} == {None}:
            raise ValueError(
                "give a file, a folder of pictures, or scenes for captions of drawn pictures"
            )
        if self.columns and self.file is None and self.query is None:
            raise ValueError("columns renames the columns of a file; set items.file")
        if self.scenes is not None and self.pictures is not None:
            raise ValueError("scenes draws the pictures; leave out pictures")
        return self


class GrowsTable(_Strict):
    """`[grows]`: rows of the items may be added while the campaign runs."""

    batch: Annotated[int, Field(ge=1, le=MOST_IN_BATCH)] = 100
    every_hours: Annotated[float, Field(ge=0.01, le=8760)] = 24
    on_change: OnChange = "refuse"
    on_removal: OnRemoval = "withdraw"


_OF_TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".manifest")


def _is_items(value: object) -> object:
    if not isinstance(value, dict | ItemsTable):
        raise ValueError(  # noqa: TRY004 - pydantic only collects ValueError
            'name the file or the folder of pictures, such as "items.csv", or write a table'
        )
    return value


def items_in_full(items: object, pictures: object) -> object:
    """Return `items` as a table.

    A text names a file of rows if it ends as one, or if `pictures` are stated beside it;
    otherwise it names a folder of pictures.
    """
    if isinstance(items, str):
        is_file = pictures is not None or items.lower().endswith(_OF_TABLES)
        items = {"file" if is_file else "pictures": items}
    if pictures is None or not isinstance(items, dict):
        return items
    if "pictures" in items:
        raise ValueError("pictures is stated twice, at the top and in [items]")
    return {**items, "pictures": pictures}


Items = Annotated[ItemsTable, BeforeValidator(_is_items)]
