"""A person from head to feet: old or young, in one piece of coloured clothing.

Studies of descriptions need a person with a visible face and one colour for each piece
of clothing, so that a wrong word is wrong in only one way.
"""

from dataclasses import dataclass
from typing import Literal

from piecework.simulation.pictures.drawing.pen import (
    INKS,
    Paint,
    ball,
    block,
    line,
    oval,
    placed,
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
