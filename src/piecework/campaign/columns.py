"""Match the columns of an items file to a task's, by name and by contents."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePosixPath

from piecework.config.items_file import Row
from piecework.domain.hit import PICTURES

_ID_NAMES = (
    *("id", "item_id", "image_id", "picture_id", "photo_id", "name", "key"),
    *("file_name", "filename", "file", "image", "picture", "photo"),
)
_ADDRESS_NAMES = (
    *("url", "image_url", "img_url", "picture_url", "photo_url", "image", "img"),
    *("picture", "photo", "src", "link", "path", "file_name", "filename", "file"),
)
_ENDS_AS_ID = re.compile(
    r"(?:^|[\W_])(?:id|uid|uuid|guid|key|code|nr|no|number|sku|doi|isbn)$|^id[\W_]", re.IGNORECASE
)
_ENDS_AS_WORD = re.compile(r"[a-z0-9]I[Dd]$")
_OF_PEOPLE = re.compile(
    r"worker|participant|user|annotator|rater|subject|person|prolific|assignment|hit", re.IGNORECASE
)
"""Such ids say who worked or when, not what the item is."""
_ALIKE = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """How the columns of a file match those of a task.

    Attributes:
        renamed: the file's names by the task's, where they differ.
        missing: columns of the task without a known match in the file.
    """

    renamed: Mapping[str, str]
    missing: tuple[str, ...]


def match_columns(
    wanted: Sequence[str],
    rows: Sequence[Row],
    *,
    item_id: str,
    addresses: Sequence[str],
    stated: Mapping[str, str],
) -> Matched:
    """Find a column of the file for each column that a task wants.

    Args:
        wanted: the task's columns.
        rows: the file's rows, all with the same columns.
        item_id: the wanted column that is the id.
        addresses: the wanted columns that are addresses of pictures.
        stated: the file's names by the task's, as a person stated them.
    """
    header = [*rows[0]] if rows else []
    renamed: dict[str, str] = {**stated}
    missing = []
    # The id may come from the column of addresses, so it is matched last.
    for name in sorted(wanted, key=lambda name: name == item_id):
        if name in header or name in renamed:
            continue
        taken = {*renamed.values(), *wanted}
        free = [column for column in header if column not in taken]
        if name == item_id:
            alike = _id(name, header, rows, wanted)
        elif name in addresses:
            alike = _address(name, free, rows)
        else:
            alike = _same_letters(name, free) or _alike(name, free)
        if alike:
            renamed[name] = alike
            if alike in wanted:  # the page shows the id, too
                renamed[alike] = alike
        else:
            missing.append(name)
    in_order = sorted(renamed, key=[*wanted, *renamed].index)
    return Matched(renamed={name: renamed[name] for name in in_order}, missing=tuple(missing))


def folder_of_pictures(folders: Sequence[Path], address: str) -> Path | None:
    """Return the first of these folders or their subfolders that holds this file."""
    inside = address.removeprefix("/pictures/").lstrip("/")
    for folder in folders:
        below = sorted(path for path in folder.iterdir() if path.is_dir())
        for candidate in (folder, *below):
            if (candidate / inside).is_file():
                return candidate
    return None


def is_on_the_web(address: str) -> bool:
    """Whether an address needs no folder of pictures."""
    return address.startswith(("http://", "https://"))


def _id(name: str, header: Sequence[str], rows: Sequence[Row], wanted: Sequence[str]) -> str:
    """Return the column that names each row: by a usual name, or one that ends in id.

    A column of the second kind may be shown to workers as well.
    """
    free = [column for column in header if column not in wanted]
    named = (_same_letters(known, free) for known in (name, *_ID_NAMES))
    ending = (
        column
        for column in header
        if (_ENDS_AS_ID.search(column) or _ENDS_AS_WORD.search(column))
        and not _OF_PEOPLE.search(column)
    )
    return next((column for column in (*named, *ending) if column and _is_key(column, rows)), "")


def _is_key(column: str, rows: Sequence[Row]) -> bool:
    values = [row.get(column, "").strip() for row in rows]
    return all(values) and len(set(values)) == len(values)


def _address(name: str, columns: list[str], rows: Sequence[Row]) -> str:
    holding = [column for column in columns if _holds_addresses(column, rows)]
    named = (_same_letters(known, holding) for known in (name, *_ADDRESS_NAMES))
    by_name = next(filter(None, named), "")
    return by_name or (holding[0] if len(holding) == 1 else "")


def _holds_addresses(column: str, rows: Sequence[Row]) -> bool:
    values = [cell for row in rows if (cell := row.get(column, "").strip())]
    return bool(values) and all(
        is_on_the_web(value) or PurePosixPath(value).suffix.lower() in PICTURES for value in values
    )


def _same_letters(name: str, columns: Sequence[str]) -> str:
    """Return the column with this name, ignoring case and punctuation; or ""."""
    return next(_called(name, columns), "")


def _called(name: str, columns: Sequence[str]) -> Iterator[str]:
    wanted = _letters(name)
    # MTurk's files of results call a column of the items so.
    yield from (column for column in columns if _letters(column.removeprefix("Input.")) == wanted)


def _letters(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


def _alike(name: str, columns: Sequence[str]) -> str:
    return next(iter(get_close_matches(name, columns, n=1, cutoff=_ALIKE)), "")
