"""Drawn pictures of one person doing one thing, for descriptions with errors.

They meet the requirements for photographs in *Gradations of error severity in automatic
image descriptions* (INLG 2020, section 4.2): the person's face and at least half of the
body are visible, the content is immediately clear, and each piece of clothing has one
colour that differs from the next piece.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast, get_args

from piecework.simulation.pictures.drawing.pen import (
    HEIGHT,
    INKS,
    SHADES,
    WIDTH,
    Paint,
    draw_place,
    draw_thing,
    line,
    placed,
    shadow,
)
from piecework.simulation.pictures.drawing.person import Arm, Figure, Garment, Who, hand_of, person

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
