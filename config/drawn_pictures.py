"""How drawn pictures are named: `scenes = 60` in a campaign file asks for so many.

The names are all that a campaign has to know of them; the rehearsal draws them.
"""

from piecework.domain.ids import ItemId


def scene_id(number: int) -> ItemId:
    """The item id of a scene, by its number from 1.

    >>> scene_id(42)
    'scene_0042'
    """
    return ItemId(f"scene_{number:04d}")


def picture_name(item_id: ItemId) -> str:
    """The file name of a scene's picture in the folder that is served."""
    return f"{item_id}.svg"


def scene_number(name: str) -> int:
    """The number of the scene that a picture's file is named after.

    >>> scene_number("scene_0042.svg")
    42
    """
    return int(name.removeprefix("scene_").partition(".")[0])


def item_rows(count: int) -> tuple[dict[str, str], ...]:
    """Rows for an items file: `image_id` and `url` of each of the first scenes."""
    item_ids = map(scene_id, range(1, count + 1))
    return tuple(
        {"image_id": item_id, "url": f"/pictures/{picture_name(item_id)}"}
        for item_id in item_ids
    )
