"""A campaign's pictures: where they are, and the names of drawn ones.

`scenes = 60` in a campaign file asks for 60 drawn pictures. A campaign knows only their
names; the rehearsal draws them. An items file may also name portraits, such as
`portrait_boy_coat_red_kite.svg`: who it is, the garment and its colour, and what the
person does (`piecework.simulation.pictures.portraits`).
"""

import os
import posixpath
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from piecework.domain.ids import ItemId

_SERVED = "/pictures/"

UNREADABLE = (
    OSError,
    ValueError,
    SyntaxError,  # Pillow raises it for a broken PNG
    KeyError,
    TypeError,
    EOFError,
    MemoryError,
)
"""What Pillow raises about a broken picture; if it is too large, errors of its own."""


@dataclass(frozen=True, slots=True)
class PictureLocation:
    """A folder, or an address such as `s3://bucket/photos`.

    Attributes:
        address: an absolute path, or a URL that may have `${VARIABLES}`.
    """

    address: str

    @classmethod
    def named(cls, written: str, *, beside: Path) -> "PictureLocation":
        """Return the location that a file names; its relative paths start beside it."""
        if "://" in written:
            return cls(written.rstrip("/"))
        return cls(str((beside / written).resolve()))

    @property
    def folder(self) -> Path | None:
        """The folder on this machine; `None` for a bucket."""
        return None if "://" in self.address else Path(self.address)

    def name_of(self, written: str) -> str:
        """Return a picture's path inside, as an item names it; "" if it is elsewhere.

        >>> PictureLocation("/photos").name_of("/photos/a/b.jpg")
        'a/b.jpg'
        >>> PictureLocation("/photos").name_of("../plans/b.jpg")
        ''
        >>> bucket = PictureLocation("s3://zoo/photos")
        >>> bucket.name_of("s3://zoo/photos/a/b.jpg"), bucket.name_of("a/b.jpg")
        ('a/b.jpg', 'a/b.jpg')
        >>> bucket.name_of("s3://zoo/plans/b.jpg"), bucket.name_of("../plans/b.jpg")
        ('', '')
        """
        inside = written.removeprefix(f"{self.address}/")
        if inside == written:
            if _has_host(written):
                return ""
            inside = written.removeprefix(_SERVED)
        if self.folder is None:
            return inside if is_plain_name(inside) else ""
        return _inside(self.address, inside)

    def __str__(self) -> str:
        """Return the address."""
        return self.address


def _inside(folder: str, name: str) -> str:
    """Return the path in a folder of a file that is named from there; "" if it is elsewhere."""
    path = posixpath.normpath(posixpath.join(folder, name))
    if not path.startswith(f"{folder}/") and "\0" not in path:
        path = os.path.realpath(path)  # links may lead into the folder
    inside = path.removeprefix(f"{folder}/")
    return "" if inside == path else inside


def is_plain_name(name: str) -> bool:
    r"""Return whether a name leads to something inside, whatever it is joined to.

    >>> is_plain_name("a/b.jpg"), is_plain_name("a/../b.jpg"), is_plain_name("/b.jpg")
    (True, False, False)
    """
    steps = name.split("/")
    return not ({"", ".", ".."} & {*steps} or {"\0", "\\"} & {*name})


def _has_host(written: str) -> bool:
    try:
        return bool(urlsplit(written).netloc)
    except ValueError:
        return True


SCENE_COLUMNS = ("image_id", "url")
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


def scene_rows(count: int) -> tuple[dict[str, str], ...]:
    """Return rows for an items file: id and address of the first scenes."""
    item_ids = map(scene_id, range(1, count + 1))
    return tuple(
        dict(zip(SCENE_COLUMNS, (item_id, f"/pictures/{picture_name(item_id)}"), strict=True))
        for item_id in item_ids
    )


_PORTRAIT = re.compile(r"portrait(_[a-z]+){4}\.svg")


def is_portrait_name(name: str) -> bool:
    """Return whether a file name has the form of a portrait's.

    >>> is_portrait_name("portrait_boy_coat_red_kite.svg")
    True
    """
    return _PORTRAIT.fullmatch(name) is not None
