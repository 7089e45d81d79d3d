"""The places of the drawn world, and how people speak of them."""

from collections.abc import Mapping
from dataclasses import dataclass


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


_PLACES = (
    Place(
        name="kitchen counter",
        noun="a kitchen counter",
        phrases=(
            "on a kitchen counter",
            "on the counter in a kitchen",
            "on top of a kitchen worktop",
            "on a light brown counter",
        ),
        backdrops=(
            "in front of a tiled wall",
            "with a window in the background",
            "near a window with a view of green hills",
        ),
        rows=((352, 0.95), (436, 1.12)),
        kinds=(
            "mug",
            "can",
            "box",
            "bottle",
            "jar",
            "bowl",
            "apple",
            "banana",
            "kettle",
        ),
    ),
    Place(
        name="desk",
        noun="a wooden desk",
        phrases=(
            "on a wooden desk",
            "on top of a desk",
            "on a brown desk",
            "on the surface of a desk",
        ),
        backdrops=(
            "in front of a gray wall",
            "below a cork board with two notes",
            "with a cork board on the wall behind",
        ),
        rows=((356, 1.05), (440, 1.15)),
        kinds=(
            "laptop",
            "book",
            "desk lamp",
            "pencil cup",
            "phone",
            "alarm clock",
            "mug",
        ),
    ),
    Place(
        name="street",
        noun="a city street",
        phrases=(
            "on a city street",
            "on the side of a street",
            "along a road in a town",
            "on a street with houses",
        ),
        backdrops=(
            "in front of a row of houses",
            "with colorful buildings in the background",
            "under a blue sky with clouds",
        ),
        rows=((346, 0.95), (440, 1.05)),
        kinds=("car", "bus", "bicycle", "street sign", "mailbox", "dog", "tree"),
    ),
    Place(
        name="park",
        noun="a green park",
        phrases=(
            "in a green park",
            "on the grass in a park",
            "in a grassy field",
            "on a meadow by a path",
        ),
        backdrops=(
            "under a blue sky",
            "near a path and a small pond",
            "with hills in the background",
            "on a sunny day",
        ),
        rows=((318, 0.9), (432, 1.1)),
        kinds=("tree", "bench", "dog", "duck", "ball", "kite", "flower", "bicycle"),
    ),
    Place(
        name="living room",
        noun="a living room",
        phrases=(
            "in a living room",
            "on the floor of a living room",
            "in a room with a red rug",
            "in a room with a wooden floor",
        ),
        backdrops=(
            "with a window in the background",
            "in front of a striped wall",
            "with a painting on the wall behind",
        ),
        rows=((340, 1.0), (444, 1.0)),
        kinds=(
            "sofa",
            "armchair",
            "floor lamp",
            "potted plant",
            "television",
            "cat",
            "dog",
            "teddy bear",
        ),
    ),
    Place(
        name="shelf",
        noun="a wooden shelf",
        phrases=(
            "on a wooden shelf",
            "on a shelf made of wood",
            "on the boards of a shelf",
            "on a brown shelf",
        ),
        backdrops=(
            "with two wide boards",
            "with a plain back",
            "between two round posts",
        ),
        rows=((222, 0.98), (420, 1.12)),
        kinds=(
            "book",
            "jar",
            "vase",
            "alarm clock",
            "teddy bear",
            "candle",
            "box",
            "mug",
            "potted plant",
        ),
    ),
    Place(
        name="bathroom",
        noun="a bathroom counter",
        phrases=(
            "on a bathroom counter",
            "next to a sink in a bathroom",
            "on a white counter in a bathroom",
            "by a bathroom sink",
        ),
        backdrops=(
            "in front of blue tiles",
            "below a mirror on the wall",
            "with a mirror in the background",
        ),
        rows=((356, 1.0), (436, 1.12)),
        kinds=(
            "soap dispenser",
            "toothbrush cup",
            "towel",
            "rubber duck",
            "candle",
            "bottle",
            "potted plant",
        ),
    ),
    Place(
        name="beach",
        noun="a sandy beach",
        phrases=(
            "on a sandy beach",
            "at the beach by the sea",
            "by the water at a beach",
            "on the shore of the sea",
        ),
        backdrops=(
            "under a blue sky with clouds",
            "with the blue sea in the background",
            "on a sunny day",
        ),
        rows=((302, 0.85), (436, 1.1)),
        kinds=(
            "umbrella",
            "ball",
            "sailing boat",
            "bucket",
            "seagull",
            "towel",
            "dog",
        ),
    ),
)

PLACES: Mapping[str, Place] = {place.name: place for place in _PLACES}
