"""The places of the drawn world, and how people speak of them."""

from collections.abc import Mapping
from dataclasses import dataclass

from piecework.rehearsal.pictures.catalogue import read_tables


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One place that pictures are taken at.

    Attributes:
        noun: how it is called as a thing ("a wooden desk").
        phrases: where something is that is there ("on a desk").
        backdrops: what else everybody can see there; all true of the drawing.
        rows: where things stand, from the back to the front: height of their feet in
            the picture and their scale.
        kinds: names of the kinds that belong there.
    """

    name: str
    noun: str
    phrases: tuple[str, ...]
    backdrops: tuple[str, ...]
    rows: tuple[tuple[float, float], ...]
    kinds: tuple[str, ...]


PLACES: Mapping[str, Place] = {
    name: Place(name=name, **table)
    for name, table in read_tables("places.toml").items()
}
