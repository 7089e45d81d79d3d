"""What there is in the drawn world: kinds of things, their colours and labels."""

from collections.abc import Mapping
from dataclasses import dataclass

ANY_COLOUR = ("red", "blue", "green", "yellow", "orange", "purple", "pink", "white")
FUR = ("brown", "black", "white", "orange", "gray")


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of thing.

    Attributes:
        size: width and height in the picture's pixels at scale 1.
        texts: what may be printed on it; with texts, one of them always is.
        at_most: the greatest count drawn in one picture.
        stands_behind: whether it belongs to the back row.
    """

    name: str
    plural: str
    size: tuple[float, float]
    colours: tuple[str, ...] = ANY_COLOUR
    texts: tuple[str, ...] = ()
    at_most: int = 3
    stands_behind: bool = False


_KINDS = (
    Kind(name="mug", plural="mugs", size=(104, 88)),
    Kind(
        name="can",
        plural="cans",
        size=(78, 112),
        colours=("red", "blue", "green", "yellow", "orange"),
        texts=("CORN", "BEANS", "SOUP", "TUNA", "PEAS", "TOMATO"),
    ),
    Kind(
        name="box",
        plural="boxes",
        size=(118, 152),
        colours=("red", "blue", "green", "orange", "purple", "yellow"),
        texts=("OATS", "TEA", "CRACKERS", "CEREAL", "COOKIES"),
        at_most=2,
        stands_behind=True,
    ),
    Kind(
        name="bottle",
        plural="bottles",
        size=(64, 174),
        colours=("green", "brown", "red", "blue"),
        texts=("OIL", "JUICE", "VINEGAR", "SYRUP", "KETCHUP"),
        stands_behind=True,
    ),
    Kind(
        name="jar",
        plural="jars",
        size=(86, 104),
        colours=("red", "orange", "yellow", "purple", "green"),
        texts=("JAM", "HONEY", "OLIVES", "PICKLES", "MUSTARD"),
    ),
    Kind(name="bowl", plural="bowls", size=(132, 62), at_most=2),
    Kind(name="apple", plural="apples", size=(68, 72), colours=("red", "green")),
    Kind(
        name="banana",
        plural="bananas",
        size=(114, 46),
        colours=("yellow", "green"),
        at_most=2,
    ),
    Kind(
        name="kettle",
        plural="kettles",
        size=(150, 132),
        colours=("red", "blue", "gray", "white", "green"),
        at_most=1,
        stands_behind=True,
    ),
    Kind(
        name="laptop",
        plural="laptops",
        size=(202, 138),
        colours=("gray", "black", "white"),
        at_most=1,
        stands_behind=True,
    ),
    Kind(
        name="book",
        plural="books",
        size=(100, 128),
        texts=("ATLAS", "POEMS", "BIRDS", "HISTORY", "CHESS", "COOKING", "SPACE"),
    ),
    Kind(
        name="desk lamp",
        plural="desk lamps",
        size=(150, 162),
        at_most=1,
        stands_behind=True,
    ),
    Kind(name="pencil cup", plural="pencil cups", size=(66, 118), at_most=1),
    Kind(
        name="phone",
        plural="phones",
        size=(64, 120),
        colours=("black", "white", "blue", "red"),
        at_most=2,
    ),
    Kind(name="alarm clock", plural="alarm clocks", size=(94, 106), at_most=1),
    Kind(
        name="vase",
        plural="vases",
        size=(96, 180),
        colours=("blue", "white", "green", "purple"),
        at_most=1,
        stands_behind=True,
    ),
    Kind(name="candle", plural="candles", size=(66, 108)),
    Kind(
        name="sofa",
        plural="sofas",
        size=(278, 134),
        at_most=1,
        stands_behind=True,
    ),
    Kind(
        name="armchair",
        plural="armchairs",
        size=(154, 138),
        at_most=2,
        stands_behind=True,
    ),
    Kind(
        name="floor lamp",
        plural="floor lamps",
        size=(110, 246),
        at_most=1,
        stands_behind=True,
    ),
    Kind(name="potted plant", plural="potted plants", size=(130, 152), at_most=2),
    Kind(
        name="television",
        plural="televisions",
        size=(206, 184),
        colours=("black", "gray"),
        at_most=1,
        stands_behind=True,
    ),
    Kind(
        name="teddy bear",
        plural="teddy bears",
        size=(110, 128),
        colours=("brown", "pink", "white", "blue"),
        at_most=2,
    ),
    Kind(name="towel", plural="towels", size=(140, 50), at_most=2),
    Kind(
        name="soap dispenser",
        plural="soap dispensers",
        size=(72, 146),
        texts=("SOAP", "SHAMPOO", "LOTION"),
        at_most=2,
    ),
    Kind(name="toothbrush cup", plural="toothbrush cups", size=(70, 124), at_most=1),
    Kind(
        name="dog",
        plural="dogs",
        size=(160, 118),
        colours=("brown", "black", "white"),
        at_most=2,
    ),
    Kind(name="cat", plural="cats", size=(104, 126), colours=FUR, at_most=2),
    Kind(name="duck", plural="ducks", size=(110, 78), colours=("white", "brown")),
    Kind(
        name="seagull",
        plural="seagulls",
        size=(140, 100),
        colours=("white", "gray"),
        stands_behind=True,
    ),
    Kind(
        name="rubber duck",
        plural="rubber ducks",
        size=(102, 86),
        colours=("yellow", "pink", "blue"),
    ),
    Kind(name="car", plural="cars", size=(230, 98), at_most=2),
    Kind(
        name="bus",
        plural="buses",
        size=(300, 142),
        colours=("red", "blue", "green", "yellow"),
        texts=("CENTRAL", "AIRPORT", "LINE 12", "HARBOUR"),
        at_most=1,
        stands_behind=True,
    ),
    Kind(name="bicycle", plural="bicycles", size=(166, 104), at_most=2),
    Kind(
        name="street sign",
        plural="street signs",
        size=(114, 198),
        colours=("red", "blue", "green"),
        texts=("STOP", "EXIT", "SLOW", "PARKING", "SCHOOL"),
        at_most=1,
        stands_behind=True,
    ),
    Kind(
        name="mailbox",
        plural="mailboxes",
        size=(92, 130),
        colours=("red", "blue", "gray"),
        at_most=1,
    ),
    Kind(
        name="tree",
        plural="trees",
        size=(172, 232),
        colours=("green", "orange"),
        stands_behind=True,
    ),
    Kind(
        name="bench",
        plural="benches",
        size=(194, 92),
        colours=("brown", "green", "red"),
        at_most=1,
    ),
    Kind(name="ball", plural="balls", size=(74, 72)),
    Kind(name="kite", plural="kites", size=(104, 238), at_most=1, stands_behind=True),
    Kind(
        name="flower",
        plural="flowers",
        size=(74, 112),
        colours=("red", "yellow", "pink", "purple", "white"),
        at_most=5,
    ),
    Kind(
        name="umbrella",
        plural="umbrellas",
        size=(190, 212),
        colours=("red", "blue", "green", "yellow", "orange"),
        at_most=2,
    ),
    Kind(
        name="sailing boat",
        plural="sailing boats",
        size=(156, 174),
        colours=("red", "blue", "brown"),
        at_most=2,
        stands_behind=True,
    ),
    Kind(name="bucket", plural="buckets", size=(78, 112), at_most=2),
)

KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _KINDS}
