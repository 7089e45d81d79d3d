"""Names of drawn pictures: `scenes = 60` in a campaign file asks for 60 of them.

A campaign knows only the names; the rehearsal draws the pictures. An items file may
also name portraits, such as `portrait_boy_coat_red_kite.svg`: who it is, the garment
and its colour, and what the person does (`piecework.simulation.pictures.portraits`).
"""

import re

from piecework.domain.ids import ItemId

COLUMNS = ("image_id", "url")
"""The columns of scenes that are the items themselves."""


def scene_id(number: int) -> ItemId:
    """Return the item id of a scene, by its number from 1.

    >>> scene_id(42)
    'scene_0042'
    """
    return ItemId(f"scene_{number:04d}")


def picture_name(item_id: ItemId) -> str:
    """Return the file name of a scene's picture."""
    return f"{item_id}.svg"


def scene_number(name: str) -> int:
    """Return the number of the scene in the name of a picture's file.

    >>> scene_number("scene_0042.svg")
    42
    """
    return int(name.removeprefix("scene_").partition(".")[0])


def item_rows(count: int) -> tuple[dict[str, str], ...]:
    """Return rows for an items file: id and address of the first scenes."""
    item_ids = map(scene_id, range(1, count + 1))
    return tuple(
        dict(zip(COLUMNS, (item_id, f"/pictures/{picture_name(item_id)}"), strict=True))
        for item_id in item_ids
    )


_PORTRAIT = re.compile(r"portrait(_[a-z]+){4}\.svg")


def is_portrait_name(name: str) -> bool:
    """Return whether a file name has the form of a portrait's.

    >>> is_portrait_name("portrait_boy_coat_red_kite.svg")
    True
    """
    return _PORTRAIT.fullmatch(name) is not None
