"""The picture of each item in a dataset's files."""

import posixpath
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from piecework.domain.column_names import FILE_NAME, HEIGHT, WIDTH
from piecework.domain.hit import Item
from piecework.domain.late_modules import pd

Size = tuple[int, int]
"""Width and height in pixels."""

_LOCAL = "/pictures/"


def picture_columns(items: Sequence[Item], sizes: Mapping[str, Size]) -> "pd.DataFrame":
    """Return a row per item: `file_name` (str), `width` and `height` (Int64).

    Args:
        items: the items in the order of their file.
        sizes: sizes by item id; an item's own columns `width` and `height` take
            precedence.
    """
    whole = [_size(item, sizes) or (pd.NA, pd.NA) for item in items]
    return pd.DataFrame(
        {
            FILE_NAME: pd.Series(_file_names(items), dtype="str"),
            WIDTH: pd.Series([width for width, _ in whole], dtype="Int64"),
            HEIGHT: pd.Series([height for _, height in whole], dtype="Int64"),
        }
    )


def local_picture(item: Item) -> str:
    """Return the picture's path in the campaign's folder; "" if elsewhere or missing.

    >>> from piecework.domain.ids import ItemId
    >>> local_picture(Item(item_id=ItemId("7"), columns={"url": "/pictures/a/b.png"}))
    'a/b.png'
    """
    url = item.picture
    if not url or urlsplit(url).netloc:
        return ""
    return posixpath.normpath(url.removeprefix(_LOCAL))


def file_name(item: Item) -> str:
    """Return the picture's path in its folder, else the item's `file_name` column.

    Otherwise the last part of the picture's address, else the item's id.

    >>> from piecework.domain.ids import ItemId
    >>> url = "https://pictures.example/birds/a%20b.jpg?size=2"
    >>> file_name(Item(item_id=ItemId("7"), columns={"url": url}))
    'a b.jpg'
    """
    of_url = PurePosixPath(unquote(urlsplit(item.picture).path)).name
    stated = item.columns.get("file_name")
    return local_picture(item) or stated or of_url or str(item.item_id)


def _file_names(items: Sequence[Item]) -> list[str]:
    """Return the name of each item's picture; different pictures have different names.

    A name that is taken gets the item's id as prefix. Pictures in the campaign's folder
    keep theirs, under which they are copied.
    """
    picture_of = {path: path for path in map(local_picture, items) if path}
    name_of: dict[str, str] = {}
    for item in items:
        picture, name = _picture_or_id(item), file_name(item)
        if picture in name_of:
            continue
        while picture_of.setdefault(name, picture) != picture:
            name = f"{item.item_id}_{name}"
        name_of[picture] = name
    return [name_of[_picture_or_id(item)] for item in items]


def _picture_or_id(item: Item) -> str:
    return local_picture(item) or item.picture or str(item.item_id)


def _size(item: Item, sizes: Mapping[str, Size]) -> Size | None:
    stated = (item.columns.get("width", ""), item.columns.get("height", ""))
    if all(cell.isascii() and cell.isdigit() and int(cell) for cell in stated):
        return int(stated[0]), int(stated[1])
    return sizes.get(str(item.item_id))
