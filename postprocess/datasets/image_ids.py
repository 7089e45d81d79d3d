"""The two ids that an image of a dataset has, and the split that it belongs to.

Tables identify images by the requester's `item_id`, JSON files by COCO's numbers. A
system may have used either, and may have described one split only.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from piecework.domain.errors import ConfigError
from piecework.postprocess.datasets.image_columns import read_image_column

_LIST = "captions.json"


@dataclass(frozen=True, kw_only=True)
class ImageIds:
    """The other id of a dataset's images, and the files with some of its images.

    Attributes:
        other: item id by number, and number by item id.
        files: the ids of the images, of both kinds, by the path of the dataset's folder
            and of each of its splits.
    """

    other: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[Path, frozenset[str]] = field(default_factory=dict)


def read_image_ids(dataset: Path) -> ImageIds:
    """Read them from the list of images in a dataset's folder.

    Args:
        dataset: the folder, or a file in it. Without a readable list the result is
            empty.
    """
    folder = dataset if dataset.is_dir() else dataset.parent
    path = folder / _LIST
    if not path.is_file():
        return ImageIds()
    item_of = _column(path, "item_id")
    split_of = _column(path, "split")
    files = {folder: _both(item_of, item_of)}
    for split in sorted({*split_of.values()} - {""}):
        part = folder / f"captions_{split}.json"
        if part.is_file():
            numbers = (number for number, name in split_of.items() if name == split)
            files[part] = _both(numbers, item_of)
    number_of = {item: number for number, item in item_of.items()}
    return ImageIds(other={**number_of, **item_of}, files=files)


def _column(path: Path, name: str) -> Mapping[str, str]:
    try:
        return read_image_column(path, name)
    except ConfigError:  # A list of another program; its images have one id.
        return {}


def _both(numbers: Iterable[str], item_of: Mapping[str, str]) -> frozenset[str]:
    listed = [*numbers]
    return frozenset([*listed, *(item_of.get(number, number) for number in listed)])
