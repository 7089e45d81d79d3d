"""Add photographic flaws: blur, light, a finger, bad framing, rotation.

Each flaw takes the finished picture and a severity. A mild flaw is visible but leaves
the picture readable; a severity of 1 makes it unreadable.
"""

from collections.abc import Iterable
from random import Random

from piecework.simulation.pictures.drawing.pen import HEIGHT, WIDTH, box, oval, placed

_ALL = (-400, -400, WIDTH + 800, HEIGHT + 800)
_MIDDLE = (WIDTH / 2, HEIGHT / 2)


def spoil(picture: str, flaws: Iterable[str], *, severity: float, rng: Random) -> str:
    """Return the picture with all its flaws, the camera's before the light's."""
    wanted = set(flaws)
    side = rng.choice((-1, 1))
    if "rotation" in wanted:
        transaction = side * rng.choice((90, 90, 180, 62))
        moved = placed(picture, (-_MIDDLE[0], -_MIDDLE[1]))
        picture = placed(moved, _MIDDLE, turn=transaction)
    if "framing" in wanted:
        picture = _badly_framed(picture, severity, side)
    if "blur" in wanted:
        picture = _blurred(picture, severity)
    if "dark" in wanted:
        picture += box(_ALL, "#060608", more=f'opacity="{_veil(severity):.2f}"')
    if "bright" in wanted:
        picture += box(_ALL, "#fffdf6", more=f'opacity="{_veil(severity):.2f}"')
    if "obscured" in wanted:
        picture += _finger(severity, side)
    return picture


def _badly_framed(picture: str, severity: float, side: int) -> str:
    # Things are in the middle of the lower half, where an edge cuts them.
    away = WIDTH * (0.2 + 0.08 * severity) * side
    feet = (WIDTH / 2, HEIGHT * 0.75)
    moved = placed(picture, (-feet[0], -feet[1]))
    return placed(moved, (feet[0] + away, feet[1] + 10), scale=1.3)


def _blurred(picture: str, severity: float) -> str:
    # A cubic keeps text legible up to a third of the scale and blurs everything at its
    # end.
    deviation = 1.2 + 34 * severity**3
    return (
        f'<filter id="blur" x="-10%" y="-10%" width="120%" height="120%">'
        f'<feGaussianBlur stdDeviation="{deviation:.1f}"/></filter>'
        f'<g filter="url(#blur)">{picture}</g>'
    )


def _veil(severity: float) -> float:
    return min(0.985, 0.35 + 0.75 * severity)


def _finger(severity: float, side: int) -> str:
    size = 0.6 + 1.3 * severity**2
    finger = (
        oval((0, 0, 150, 116), "#b97f63")
        + oval((-14, -12, 134, 100), "#d39b7c")
        + oval((-40, -34, 70, 50), "#e2b193")
        + '<path d="M-60 60 Q0 84 70 50 M-84 30 Q-10 52 96 14" fill="none" '
        'stroke="#b97f63" stroke-width="4" opacity=".6"/>'
    )
    corner = (WIDTH * (0.03 if side < 0 else 0.97), HEIGHT * 0.86)
    return placed(finger, corner, scale=size)
