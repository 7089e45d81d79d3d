"""The catalogue of the drawn world: kinds of things, their colours and labels."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_ANY_COLOUR = ("red", "blue", "green", "yellow", "orange", "purple", "pink", "white")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of thing.

    Attributes:
        size: width and height in the picture's pixels at scale 1.
        texts: the texts that may be printed on it; if there are any, one always is.
        at_most: the largest count in one picture.
        stands_behind: whether it belongs to the back row.
    """

    name: str
    plural: str
    size: tuple[float, float]
    colours: tuple[str, ...] = _ANY_COLOUR
    texts: tuple[str, ...] = ()
    at_most: int = 3
    stands_behind: bool = False


def read_tables(name: str) -> Mapping[str, dict[str, Any]]:
    """Return the tables of a TOML file next to this module, with lists as tuples."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return {
        key: {field: _fixed(value) for field, value in table.items()}
        for key, table in tomllib.loads(text).items()
    }


def _fixed(value: object) -> object:
    return tuple(map(_fixed, value)) if isinstance(value, list) else value


KINDS: Mapping[str, Kind] = {
    name: Kind(name=name, **table) for name, table in read_tables("catalogue.toml").items()
}
