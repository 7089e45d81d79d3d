"""`card`, `[dataset]` and `sink` of a campaign file: what its results are, and where they go."""

import re
from typing import Annotated

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    model_validator,
)

from piecework.config.named import Names, Words
from piecework.domain.dataset import (
    LICENCES,
    Licence,
    Pictures,
    Publication,
    Shares,
    Sink,
    licence_named,
)

WebAddress = Annotated[str, StringConstraints(pattern=r"^https?://[^\s\"<>]+$"), Names.LINK]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


_FORMATS = ("parquet", "manifest", "latest", "history")
_TABLE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)?")


def sink_of(to: str, written: str = "") -> Sink:
    """Return what an address and a format mean.

    After the last `#` of a database's URL stands a table.

    >>> sink_of("postgresql://h/d#lab.words", "history")
    Sink(to='postgresql://h/d', table='lab.words', has_history=True, is_manifest=False)

    Raises:
        ValueError: they do not belong together.
    """
    if to.startswith("hf://"):
        if written:
            raise ValueError(f"a repository gets the whole dataset; leave out {written!r}")
        if not re.fullmatch(r"hf://datasets/[\w.-]+/[\w.-]+", to):
            raise ValueError("this is no dataset; write hf://datasets/OWNER/NAME")
    table = to.rpartition("#")[2] if "://" in to and "#" in to else ""
    if table and not _TABLE.fullmatch(table):
        raise ValueError(
            f"after the last # stands a table, and {table!r:.60} is no name: letters, digits and "
            "_, with a dot after the name of a schema"
        )
    if written and bool(table) != (written in {"latest", "history"}):
        raise ValueError(
            f"{written!r} is for a folder or a bucket; a table has 'latest' or 'history'"
            if table
            else f"{written!r} is for a table; name it after the database: #table"
        )
    return Sink(
        to=to.rpartition("#")[0] if table else to,
        table=table,
        has_history=written == "history",
        is_manifest=written == "manifest",
    )


def _parts(value: object) -> object:
    """Return an entry as its address and, if it ends with the name of one, its format."""
    parts = value if isinstance(value, list | tuple) else [value]
    if len(parts) == 1 and isinstance(parts[0], str):
        address, _, last = parts[0].strip().rpartition(" ")
        parts = [address.strip(), last] if address and last in _FORMATS else parts
    if len(parts) not in {1, 2} or not all(isinstance(part, str) for part in parts):
        raise ValueError(
            'write an address as text, such as "postgresql://...#table", or a list of them'
        )
    sink_of(*parts)
    return parts


def _listed(value: object) -> object:
    return value if isinstance(value, list | tuple) else [value]


# The address stands alone, so that a link in its place is seen.
Sinks = Annotated[
    tuple[Annotated[tuple[Annotated[Words, Names.OUTPUT], ...], BeforeValidator(_parts)], ...],
    BeforeValidator(_listed),
    Field(max_length=20),
]
"""`sink`: the places that each release is written to, with formats."""


class CardTable(_Strict):
    """A file of `card`: what only the requester can tell readers of the dataset."""

    file: Annotated[str, Names.DEFINITION] | None = None
    title: Annotated[Words, StringConstraints(max_length=200)] | None = None
    version: Annotated[str, StringConstraints(pattern=r"^\d+\.\d+\.\d+$"), Names.NOTHING] = "1.0.0"
    licence: Words | None = None
    licence_url: WebAddress | None = None
    items_licence: Words | None = None
    items_licence_url: WebAddress | None = None
    contact: Words | None = None
    citation: Words | None = None
    consent: Words | None = None
    ethics: Words | None = None
    homepage: WebAddress | None = None
    tags: Annotated[
        tuple[Annotated[Words, StringConstraints(max_length=60)], ...], Field(max_length=30)
    ] = ()

    @model_validator(mode="after")
    def _licences_are_known(self) -> "CardTable":
        for name in ("licence", "items_licence"):
            stated, url = getattr(self, name), getattr(self, f"{name}_url")
            if url and not stated:
                raise ValueError(f"{name}_url needs {name} too")
            if stated and licence_named(stated, url or "") is None:
                raise ValueError(
                    f"piecework does not know the {name} {stated!r} (it knows "
                    f"{', '.join(LICENCES)}); for another one, set {name}_url too"
                )
        return self


def _are_all(percent: tuple[int, ...]) -> tuple[int, ...]:
    if sum(percent) != 100:  # noqa: PLR2004 - per cent
        raise ValueError("the shares for train, val and test must add up to 100 per cent")
    return percent


_Percent = Annotated[int, Field(ge=0, le=100)]


def _column_or_shares(value: object) -> str:
    return "branch[column]" if isinstance(value, str) else "branch[shares]"


Splits = Annotated[
    Annotated[Words, Tag("branch[column]")]
    | Annotated[
        tuple[_Percent, _Percent, _Percent], AfterValidator(_are_all), Tag("branch[shares]")
    ],
    Discriminator(_column_or_shares),
]
"""Three shares in per cent, or a column of the items with their splits."""


USUAL_SPLITS = (70, 10, 20)


class DatasetTable(_Strict):
    """`[dataset]`: how the dataset is divided, and whether pictures are in it."""

    pictures: Pictures = "addresses"
    splits: Splits = USUAL_SPLITS
    split_by: Words | None = None


def publication_of(card: CardTable, table: DatasetTable, *, grows: bool) -> Publication:
    """Return what the requester states for readers of the dataset."""
    column = table.splits if isinstance(table.splits, str) else ""
    train, val, _ = USUAL_SPLITS if isinstance(table.splits, str) else table.splits
    return Publication(
        title=card.title or "",
        version=card.version,
        licence=_licence(card.licence, card.licence_url),
        items_licence=_licence(card.items_licence, card.items_licence_url),
        contact=card.contact or "",
        citation=card.citation or "",
        consent=card.consent or "",
        ethics=card.ethics or "",
        homepage=card.homepage or "",
        tags=card.tags,
        pictures=table.pictures,
        shares=Shares(
            train_percent=train,
            val_percent=val,
            group_by=table.split_by or "",
            fixed_by=column,
            are_stable=grows,
        ),
    )


def _licence(name: str | None, url: str | None) -> Licence | None:
    return licence_named(name, url or "") if name else None
