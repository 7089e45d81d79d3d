"""The places of the drawn world, and the phrases for them."""

from collections.abc import Mapping
from dataclasses import dataclass

from piecework.simulation.pictures.catalogue import read_tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A place where pictures are taken.

    Attributes:
        noun: the place as a noun phrase ("a wooden desk").
        phrases: the location of things there ("on a desk").
        backdrops: what else is visible there; all true of the drawing.
        rows: the rows of things from back to front: the height of their feet in the
            picture and their scale.
        kinds: names of the kinds of things found there.
    """

    name: str
    noun: str
    phrases: tuple[str, ...]
    backdrops: tuple[str, ...]
    rows: tuple[tuple[float, float], ...]
    kinds: tuple[str, ...]


PLACES: Mapping[str, Place] = {
    name: Place(name=name, **table) for name, table in read_tables("places.toml").items()
}
