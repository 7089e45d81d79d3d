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
