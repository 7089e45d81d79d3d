"""Drawn pictures of one person doing one thing, for descriptions with errors.

They meet the requirements for photographs in *Gradations of error severity in automatic
image descriptions* (INLG 2020, section 4.2): the person's face and at least half of the
body are visible, the content is immediately clear, and each piece of clothing has one
colour that differs from the next piece.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, cast, get_args

from piecework.simulation.pictures.drawing.picture import (
    HEIGHT,
    INKS,
    SHADES,
    WIDTH,
    Paint,
    ball,
    block,
    draw_place,
    draw_thing,
    line,
    oval,
    placed,
    shadow,
    shape,
    solid,
)

Who = Literal["man", "woman", "boy", "girl"]
Garment = Literal["shirt", "coat", "skirt"]
Arm = Literal["up", "forward", "down"]

_SKIN, _SHOE, _TROUSERS, _BLOUSE = "#e3b38f", "#3b3431", "#59616c", "#f3f1ea"
_HAIR = {"man": "#3f2d22", "woman": "#5b3320", "boy": "#6a4526", "girl": "#4a2c1c"}
_CHILDREN = frozenset({"boy", "girl"})
CHILD_SCALE = 0.66
"""The scale of a child next to an adult, except for the head."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A person to draw, and their clothes.

    Attributes:
        arm: whether the right hand is up, forward or hanging down.
    """

    who: Who
    garment: Garment
    colour: str
    arm: Arm = "down"

    @property
    def is_child(self) -> bool:
        """Whether it is a child."""
        return self.who in _CHILDREN


HANDS = {"up": (78.0, -306.0), "forward": (96.0, -196.0), "down": (62.0, -138.0)}
"""The position of an adult's right hand, relative to the feet."""


def person(figure: Figure) -> str:
    """Draw a figure, 300 high and 130 wide with its arms down; a child is smaller."""
    paint = Paint(INKS[figure.colour])
    body = _legs(figure) + _clothes(figure, paint) + _arms(figure, paint)
    crown = -300.0
    if figure.is_child:
        # A child's head is nearly as large as an adult's.
        crown = -222.0
        body = placed(body, (0, 0), scale=CHILD_SCALE)
    return _long_hair(figure, top=crown) + body + _head(figure, top=crown)


def hand_of(figure: Figure) -> tuple[float, float]:
    """Return the position of the right hand, relative to the feet."""
    x, y = HANDS[figure.arm]
    scale = CHILD_SCALE if figure.is_child else 1.0
    return x * scale, y * scale


def _legs(figure: Figure) -> str:
    colour = _SKIN if figure.garment == "skirt" else _TROUSERS
    return (
        line("M-20 -140 L-22 -10", colour, width=26)
        + line("M20 -140 L22 -10", colour, width=26)
        + oval((-27, -6, 21, 9), _SHOE)
        + oval((27, -6, 21, 9), _SHOE)
    )


def _clothes(figure: Figure, paint: Paint) -> str:
    neck = block((-11, -250, 22, 24), _SKIN)
    torso = "M-42 -232 Q0 -246 42 -232 L40 -136 Q0 -128 -40 -136 Z"
    if figure.garment == "skirt":
        skirt = "M-34 -158 L34 -158 L66 -72 Q0 -58 -66 -72 Z"
        return neck + solid(torso, _BLOUSE) + solid(skirt, paint.base, shade="fall")
    if figure.garment == "shirt":
        return neck + solid(torso, paint.base)
    coat = "M-44 -234 Q0 -248 44 -234 L54 -66 Q0 -56 -54 -66 Z"
    return (
        neck
        + solid(coat, paint.base)
        + shape("M-20 -240 L0 -190 L20 -240 L30 -236 L4 -168 L-4 -168 L-30 -236 Z",
                paint.dark)
        + line("M0 -176 L0 -62", paint.dark, width=3)
        + "".join(oval((9, y, 4, 4), paint.dark) for y in (-158, -128, -98))
    )  # fmt: skip


def _arms(figure: Figure, paint: Paint) -> str:
    sleeve = _BLOUSE if figure.garment == "skirt" else paint.base
    x, y = HANDS[figure.arm]
    elbow = {"up": (72, -250), "forward": (66, -186), "down": (58, -180)}[figure.arm]
    middle = f"{elbow[0]} {elbow[1]}"
    return (
        line("M-38 -220 L-56 -180", sleeve, width=24)
        + line("M-56 -180 L-60 -140", _sleeve_end(figure, sleeve), width=19)
        + oval((-60, -134, 12, 13), _SKIN)
        + line(f"M38 -220 L{middle}", sleeve, width=24)
        + line(f"M{middle} L{x:g} {y:g}", _sleeve_end(figure, sleeve), width=19)
        + oval((x, y, 12, 13), _SKIN)
    )


def _sleeve_end(figure: Figure, sleeve: str) -> str:
    return sleeve if figure.garment == "coat" else _SKIN


def _long_hair(figure: Figure, *, top: float) -> str:
    """Draw the hair that falls behind the shoulders."""
    hair, y = _HAIR[figure.who], top + 36
    if figure.who == "woman":
        return solid(f"M-38 {y + 58} Q-44 {y - 44} 0 {y - 44} Q44 {y - 44} 38 {y + 58} Z", hair)
    if figure.who == "girl":
        return "".join(
            oval((side * 42, y + 12, 13, 28), hair) + oval((side * 35, y - 14, 6, 6), "#c8342b")
            for side in (-1, 1)
        )
    return ""


def _head(figure: Figure, *, top: float) -> str:
    """Draw a face with a fringe; `top` is the height of the crown."""
    hair, y = _HAIR[figure.who], top + 36
    fringe = (
        f"M-32 {y + 2} Q-36 {y - 42} 0 {y - 42} Q36 {y - 42} 32 {y + 2} "
        f"Q24 {y - 20} 0 {y - 20} Q-24 {y - 20} -32 {y + 2} Z"
    )
    lips = "#b4473f" if figure.who == "woman" else "#8f5b4a"
    return (
        ball((0, y, 31, 36), _SKIN)
        + shape(fringe, hair)
        + oval((-11, y + 1, 3.6, 4.4), "#1d1a18")
        + oval((11, y + 1, 3.6, 4.4), "#1d1a18")
        + line(f"M-17 {y - 8} q6 -4 11 -1 M17 {y - 8} q-6 -4 -11 -1", hair, width=2.4)
        + line(f"M0 {y + 3} l-2 9 l4 0", "#b98262", width=2)
        + line(f"M-10 {y + 20} Q0 {y + 27} 10 {y + 20}", lips, width=3)
    )


_FEET = (285.0, 452.0)
_SCALE = 1.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """An activity of a person, and how to draw it.

    Attributes:
        place: the name of the background.
        props: draws the objects, given the position of the right hand.
        arm: the position of the right arm.
    """

    place: str
    props: Callable[[float, float], str]
    arm: Arm


@dataclass(frozen=True, slots=True, kw_only=True)
class Portrait:
    """A picture: a person, their clothes and their activity (a key of `ACTIVITIES`)."""

    who: Who
    garment: Garment
    colour: str
    doing: str


def portrait_name(portrait: Portrait) -> str:
    """Return the file name of a portrait, which says what it shows.

    >>> portrait_name(Portrait(who="boy", garment="coat", colour="red", doing="kite"))
    'portrait_boy_coat_red_kite.svg'
    """
    parts = (portrait.who, portrait.garment, portrait.colour, portrait.doing)
    return f"portrait_{'_'.join(parts)}.svg"


def portrait_named(name: str) -> Portrait | None:
    """Return the portrait of a file name, or `None` if no portrait has this name."""
    # "portrait", who, garment, colour, doing
    parts = name.removesuffix(".svg").split("_")
    if len(parts) != 5:  # noqa: PLR2004 - the parts above
        return None
    _, who, garment, colour, doing = parts
    if (
        who not in get_args(Who)
        or garment not in get_args(Garment)
        or colour not in INKS
        or doing not in ACTIVITIES
    ):
        return None
    portrait = Portrait(
        who=cast("Who", who), garment=cast("Garment", garment), colour=colour,
        doing=doing,
    )  # fmt: skip
    return portrait if portrait_name(portrait) == name else None


def known_portraits() -> str:
    """Return the parts that names of portraits may have, as a clause."""
    return (
        "a name is portrait_WHO_GARMENT_COLOUR_ACTIVITY.svg, with who "
        f"{', '.join(get_args(Who))}; garment {', '.join(get_args(Garment))}; colour "
        f"{', '.join(INKS)}; activity {', '.join(ACTIVITIES)}"
    )


def draw_portrait(portrait: Portrait) -> str:
    """Return the picture as an SVG document without scripts, links or other files."""
    activity = ACTIVITIES[portrait.doing]
    figure = Figure(
        who=portrait.who, garment=portrait.garment, colour=portrait.colour, arm=activity.arm
    )
    x, y = hand_of(figure)
    at = (_FEET[0] + x * _SCALE, _FEET[1] + y * _SCALE)
    standing = placed(shadow(120) + person(figure), _FEET, scale=_SCALE)
    picture = draw_place(activity.place) + standing + activity.props(*at)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}"><defs>{SHADES}</defs>{picture}</svg>\n'
    )


def _drawn(thing: str, colour: str) -> str:
    return draw_thing(thing, Paint(INKS[colour]))


def _tennis(x: float, y: float) -> str:
    return placed(_drawn("racket", "red"), (x, y), scale=1.2, turn=28) + placed(
        _drawn("tennis ball", "yellow"), (x + 130, y - 40), scale=1.2
    )


def _frisbee(x: float, y: float) -> str:
    return placed(_drawn("frisbee", "orange"), (x + 110, y - 12), scale=1.2)


def _pitching(x: float, y: float) -> str:
    return placed(_drawn("baseball", "white"), (x + 8, y - 16), scale=1.2)


def _kite(x: float, y: float) -> str:
    string = line(f"M{x:g} {y:g} Q{x + 90:g} {y - 10:g} 520 150", "#6b6b6b", width=2)
    return string + placed(_drawn("kite", "yellow"), (520, 270), scale=0.95)


def _umbrella(x: float, y: float) -> str:
    return placed(_drawn("umbrella", "red"), (x + 4, y + 40), scale=1.0, turn=8)


def _dog(x: float, y: float) -> str:
    leash = line(f"M{x:g} {y:g} Q{x + 40:g} {y + 90:g} 505 385", "#b8332c", width=3)
    dog = shadow(150) + _drawn("dog", "brown")
    return placed(dog, (490, 456), scale=1.05) + leash


def _ball(_x: float, _y: float) -> str:
    return placed(shadow(70) + _drawn("ball", "red"), (420, 456), scale=1.15)


def _bicycle(_x: float, _y: float) -> str:
    return placed(shadow(160) + _drawn("bicycle", "green"), (490, 452), scale=1.5)


def _flower(x: float, y: float) -> str:
    return placed(_drawn("flower", "red"), (x, y + 30), scale=1.0, turn=8)


def _bucket(x: float, y: float) -> str:
    return placed(_drawn("bucket", "green"), (x + 4, y + 92), scale=1.0)


ACTIVITIES: Mapping[str, Activity] = {
    "tennis": Activity(place="tennis court", props=_tennis, arm="forward"),
    "frisbee": Activity(place="park", props=_frisbee, arm="forward"),
    "pitching": Activity(place="baseball field", props=_pitching, arm="up"),
    "kite": Activity(place="park", props=_kite, arm="forward"),
    "umbrella": Activity(place="beach", props=_umbrella, arm="forward"),
    "dog": Activity(place="street", props=_dog, arm="down"),
    "ball": Activity(place="beach", props=_ball, arm="down"),
    "bicycle": Activity(place="street", props=_bicycle, arm="down"),
    "flower": Activity(place="park", props=_flower, arm="forward"),
    "bucket": Activity(place="beach", props=_bucket, arm="down"),
}
"""The activities of a person."""
