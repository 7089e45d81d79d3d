"""Pictures that lie in the campaign's folder: their sizes, small copies, and copies."""

import base64
import io
import os
import re
import shutil
import warnings
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from PIL import Image, ImageOps

from domain.campaign import Campaign
from domain.hit import Item
from postprocess.datasets.pictures import Size, local_picture

_SMALL_PIXELS = 320
_SMALL_BYTES = 40_000
"""What one picture may add to a report; a drawing that is larger is left out."""

_HEAD_BYTES = 4096
_LENGTHS = [
    re.compile(rf'\s{name}\s*=\s*["\']\s*([0-9.]+)(?:px)?\s*["\']')
    for name in ("width", "height")
]
_VIEW_BOX = re.compile(r'\sviewBox\s*=\s*["\']\s*\S+\s+\S+\s+([0-9.]+)\s+([0-9.]+)')

_UNREADABLE = (
    OSError,
    ValueError,
    SyntaxError,  # Pillow's for broken PNG
    Image.DecompressionBombError,
    Image.DecompressionBombWarning,
)


def picture_sizes(campaign: Campaign) -> dict[str, Size]:
    """Width and height in pixels by item id, where the picture can be read."""
    by_path: dict[Path, Size | None] = {}
    sizes = {}
    for item in campaign.items:
        path = picture_path(campaign, item)
        if path is None:
            continue
        if path not in by_path:
            by_path[path] = _size(path)
        if size := by_path[path]:
            sizes[str(item.item_id)] = size
    return sizes


def small_pictures(campaign: Campaign, item_ids: Iterable[str]) -> dict[str, str]:
    """Small copies as `data:` addresses, by item id, where the picture can be read."""
    items = {str(item.item_id): item for item in campaign.items}
    found = {}
    for item_id in item_ids:
        path = picture_path(campaign, items[item_id])
        if path is not None and (address := _small(path)):
            found[item_id] = address
    return found


def copy_pictures(campaign: Campaign, folder: Path) -> None:
    """Put the pictures of all items into a folder, under their names in the dataset.

    One that is there already with the same size and age is left alone.
    """
    for item in campaign.items:
        path = picture_path(campaign, item)
        if path is None:
            continue
        copy = folder / local_picture(item)
        if copy.is_file() and _is_same(path, copy):
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)


def picture_path(campaign: Campaign, item: Item) -> Path | None:
    """Where an item's picture lies; `None` outside of the campaign's folder."""
    name = local_picture(item)
    if campaign.pictures is None or not name:
        return None
    path = Path(os.path.realpath(campaign.pictures / name))
    is_inside = path.is_relative_to(_folder(campaign.pictures))
    return path if is_inside and path.is_file() else None


@lru_cache(maxsize=4)  # asked for with every picture
def _folder(pictures: Path) -> Path:
    return pictures.resolve()


def _is_same(path: Path, copy: Path) -> bool:
    one, other = path.stat(), copy.stat()
    return (one.st_size, one.st_mtime_ns) == (other.st_size, other.st_mtime_ns)


def _size(path: Path) -> Size | None:
    if path.suffix.lower() == ".svg":
        return _svg_size(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path) as picture:
                return picture.size
    except _UNREADABLE:
        return None


def _svg_size(path: Path) -> Size | None:
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES).decode(errors="replace")
    tag = re.search(r"<svg\b[^>]*>", head)
    if tag is None:
        return None
    width, height = (length.search(tag[0]) for length in _LENGTHS)
    if width and height:
        return _whole(width[1], height[1])
    box = _VIEW_BOX.search(tag[0])
    return _whole(box[1], box[2]) if box else None


def _whole(width: str, height: str) -> Size | None:
    try:
        size = (round(float(width)), round(float(height)))
    except ValueError:
        return None
    return size if all(size) else None


def small_copy(path: Path) -> tuple[str, bytes] | None:
    """Media type and bytes of a small copy; `None` if the picture cannot be read."""
    if path.suffix.lower() == ".svg":
        content = path.read_bytes()
        return ("image/svg+xml", content) if len(content) <= _SMALL_BYTES else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path) as picture:
                picture.draft("RGB", (2 * _SMALL_PIXELS, 2 * _SMALL_PIXELS))
                upright = ImageOps.exif_transpose(picture).convert("RGBA")
    except _UNREADABLE:
        return None
    upright.thumbnail((_SMALL_PIXELS, _SMALL_PIXELS))
    # Where a picture is transparent, paper shows through.
    paper = Image.new("RGBA", upright.size, "white")
    paper.alpha_composite(upright)
    made = io.BytesIO()
    paper.convert("RGB").save(made, "JPEG", quality=70, optimize=True)
    return "image/jpeg", made.getvalue()


def _small(path: Path) -> str:
    copy = small_copy(path)
    if copy is None:
        return ""
    kind, content = copy
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
