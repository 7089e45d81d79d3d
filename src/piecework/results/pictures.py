"""Pictures in the campaign's folder: sizes, copies, and warnings about what is in the files.

Copies never contain the metadata of their pictures
(`piecework.domain.picture_metadata`).
"""

import base64
import io
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from PIL import Image

from piecework.campaign.exchange.picture_bucket import BucketUnreadableError, PictureBucket
from piecework.config.item_pictures import fault_of_end
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.hit import Item
from piecework.domain.picture_metadata import cleaning
from piecework.domain.picture_metadata.cleaning import (
    has_metadata,
    has_place,
    is_sideways,
    without_metadata,
)
from piecework.domain.picture_metadata.tiff import orientation_in
from piecework.domain.pictures import UNREADABLE
from piecework.domain.text import plural
from piecework.postprocess.datasets.pictures import Size, local_picture

_LATER_NS = 1_000_000_000
"""A copy's time is this much later than its picture's; equal times mean metadata."""

_LOOKED_AT, _DECODED = 200, 20
"""The most pictures that are read whole to check them, and that are decoded for it."""

_HEAD_BYTES = 4096
_LENGTHS = [
    re.compile(rf'\s{name}\s*=\s*["\']\s*([0-9.]+)(?:px)?\s*["\']') for name in ("width", "height")
]
_VIEW_BOX = re.compile(r'\sviewBox\s*=\s*["\']\s*\S+\s+\S+\s+([0-9.]+)\s+([0-9.]+)')

_UNREADABLE = (*UNREADABLE, Image.DecompressionBombError, Image.DecompressionBombWarning)


def picture_sizes(campaign: Campaign) -> dict[str, Size]:
    """Width and height in pixels by item id, for readable pictures.

    A bucket's pictures are only read if they are copied into the dataset anyway.
    """
    if _bucket_of(campaign) and campaign.dataset.pictures != "files":
        return {}
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
    """Small copies as `data:` URLs by item id, for readable pictures."""
    items = {str(item.item_id): item for item in campaign.items}
    addresses = {}
    for item_id in item_ids:
        # A report is written without the pictures of a bucket that does not answer.
        with suppress(BucketUnreadableError):
            path = picture_path(campaign, items[item_id])
            if path is not None and (address := _small(path)):
                addresses[item_id] = address
    return addresses


def small_pictures_of(names: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Small copies as `data:` URLs by image, for readable pictures in a folder.

    Args:
        names: the picture's file in the folder, by image.
        folder: pictures outside of it are not read.
    """
    root = folder.resolve()
    addresses = {}
    for image, name in names.items():
        # A stranger's name may be longer than a path can be, or hold a NUL.
        with suppress(OSError, ValueError):
            path = Path(os.path.realpath(root / name))
            is_readable = path.is_relative_to(root) and path.is_file()
            if is_readable and (address := _small(path)):
                addresses[image] = address
    return addresses


def local_pictures(
    campaign: Campaign, shown_as: Mapping[str, Item] | None = None
) -> dict[str, Item]:
    """Return the items by the names that a dataset has of their pictures, but no addresses.

    Args:
        campaign: with its items.
        shown_as: items that the dataset has without ids of workers, by their own ids.
    """
    names = [
        local_picture((shown_as or {}).get(str(item.item_id), item)) for item in campaign.items
    ]
    return {name: item for name, item in zip(names, campaign.items, strict=True) if name}


def copy_pictures(campaign: Campaign, folder: Path, pictures: Mapping[str, Item]) -> None:
    """Copy pictures into a folder.

    The copies have no metadata. A copy of an unchanged picture is left alone.

    Args:
        campaign: with its items.
        folder: of the copies.
        pictures: the items of the pictures, by the names of the copies.

    Raises:
        ConfigError: the pictures are in a bucket, and it cannot be read.
    """
    for name, item in pictures.items():
        try:
            path = picture_path(campaign, item)
        except BucketUnreadableError as fault:
            raise ConfigError([f"[dataset] pictures: {fault}"]) from fault
        if path is None:
            continue
        copy = folder / name
        made_at = path.stat().st_mtime_ns + _LATER_NS
        if copy.is_file() and copy.stat().st_mtime_ns == made_at:
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        partial = copy.with_name(f".{copy.name}.partial")
        partial.write_bytes(without_metadata(path.read_bytes()))
        os.utime(partial, ns=(made_at, made_at))
        partial.replace(copy)


def clean_picture(path: Path) -> bytes:
    """Return a picture's file without metadata."""
    return _clean(path, path.stat().st_mtime_ns)


@lru_cache(maxsize=16)  # a reviewer looks at the same picture repeatedly
def _clean(path: Path, _changed_ns: int) -> bytes:
    return without_metadata(path.read_bytes())


def warnings_about_pictures(campaign: Campaign) -> Iterator[str]:
    """Warn about files that are no whole pictures, and about metadata; checks a sample of many.

    A bucket's pictures are not fetched for this.
    """
    if _bucket_of(campaign):
        return
    paths = dict.fromkeys(path for item in campaign.items if (path := picture_path(campaign, item)))
    looked_at = _spread(paths, _LOOKED_AT)
    # Only decoding finds the end of an AVIF, which takes half a second for a photograph.
    decoded = [path for path in looked_at if path.suffix.lower() == ".avif"]
    left_out = {*decoded}.difference(_spread(decoded, _DECODED))
    broken: dict[Path, str] = {}
    beside, placed = [], []
    for path in looked_at:
        with suppress(OSError):
            content = path.read_bytes()
            is_svg = path.suffix.lower() == ".svg"
            why = "" if path in left_out else fault_of_end(io.BytesIO(content), is_svg=is_svg)
            if why:
                broken[path] = why
            elif has_metadata(content):
                beside.append(path)
                placed += [path] if has_place(content) else []
    if broken:
        (path, why), n_decoded = next(iter(broken.items())), len(looked_at) - len(left_out)
        yield (
            f"{len(broken)} of {plural(n_decoded, 'picture')} checked cannot be decoded to the "
            f"end (the first is {path}: {why}): workers may see nothing to judge, and are paid"
        )
    if beside:
        first = (placed or beside)[0]
        where = f", {len(placed)} of them the place" if placed else ""
        yield (
            f"{len(beside)} of {plural(len(looked_at), 'picture')} checked contain metadata{where} "
            f"(the first is {first}): workers, reviewers and datasets get pictures "
            "without it; the files in the folder keep it"
        )


def _spread(paths: Iterable[Path], most: int) -> list[Path]:
    """Return a number of paths or fewer, from the first to the last in even steps."""
    listed = [*paths]
    return listed[:: max(1, -(-len(listed) // most))]


def picture_path(campaign: Campaign, item: Item) -> Path | None:
    """The path of an item's picture; `None` outside the campaign's folder.

    A bucket's picture is fetched, without metadata.

    Raises:
        BucketUnreadableError: the bucket cannot be read.
    """
    name = item.picture and campaign.pictures and campaign.pictures.name_of(item.picture)
    if not name or campaign.pictures is None:
        return None
    if bucket := _bucket_of(campaign):
        return bucket.copy(name)
    folder = _real_path(campaign.pictures.address)
    path = Path(os.path.realpath(folder / name))
    return path if path.is_relative_to(folder) and path.is_file() else None


def has_picture(campaign: Campaign, item: Item) -> bool:
    """Whether an item's picture is in the campaign's folder or bucket; fetches none."""
    if campaign.pictures is not None and campaign.pictures.folder is None:
        return bool(item.picture and campaign.pictures.name_of(item.picture))
    return picture_path(campaign, item) is not None


@lru_cache(maxsize=4)  # called for every picture
def _real_path(folder: str) -> Path:
    return Path(folder).resolve()


def _bucket_of(campaign: Campaign) -> PictureBucket | None:
    pictures = campaign.pictures
    if pictures is None or pictures.folder is not None:
        return None
    return _bucket_at(pictures.address)


@lru_cache(maxsize=4)  # it keeps copies
def _bucket_at(address: str) -> PictureBucket:
    return PictureBucket(address)


def _size(path: Path) -> Size | None:
    if path.suffix.lower() == ".svg":
        return _svg_size(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path) as picture:
                width, height = picture.size
                turned = orientation_in(picture.info.get("exif", b""))
                return (height, width) if is_sideways(turned) else (width, height)
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
    try:
        return cleaning.small_copy(path.read_bytes(), is_svg=path.suffix.lower() == ".svg")
    except OSError:
        return None


def _small(path: Path) -> str:
    copy = small_copy(path)
    if copy is None:
        return ""
    kind, content = copy
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
