"""Things in a street, in a park and on a beach."""

from math import cos, pi, sin

from piecework.rehearsal.pictures.drawing.pen import (
    Paint,
    ball,
    block,
    box,
    lettering,
    line,
    oval,
    shape,
    solid,
)


def car(paint: Paint) -> str:
    """A car driving to the right, 230 wide and 96 high."""
    body = (
        "M-112 -22 L-110 -48 Q-108 -56 -92 -58 L-66 -62 L-40 -90 Q-36 -94 -28 -94 "
        "L34 -94 Q42 -94 48 -88 L70 -62 L102 -54 Q112 -50 112 -38 L112 -22 Z"
    )
    return (
        solid(body, paint.base, shade="fall")
        + shape("M-54 -62 L-33 -85 L2 -85 L2 -62 Z", "#bcd9e8")
        + shape("M9 -62 L9 -85 L36 -85 L54 -62 Z", "#bcd9e8")
        + shape("M-54 -62 L-33 -85 L-22 -85 L-40 -62 Z", "#ffffff77")
        + line("M5 -60 L5 -26", paint.dark, width=2)
        + box((-18, -52, 14, 4), paint.dark, radius=2)
        + box((20, -52, 14, 4), paint.dark, radius=2)
        + oval((106, -44, 6, 5), "#fff3b8")
        + box((-113, -46, 7, 10), "#b12a22", radius=2)
        + box((-112, -26, 224, 7), paint.dark, radius=3)
        + _wheel(-66, 21)
        + _wheel(66, 21)
    )


def bus(paint: Paint) -> str:
    """A city bus with its destination above the windscreen, 300 wide and 142 high."""
    windows = "".join(
        block((x, -104, 38, 40), "#bcd9e8", radius=4) for x in (-138, -94, -50, -6, 38)
    )
    return (
        block((-148, -140, 296, 122), paint.base, radius=12)
        + box((-148, -54, 296, 8), paint.light)
        + windows
        + block((84, -104, 30, 82), "#a9c9da", radius=3)
        + line("M99 -102 L99 -24", paint.dark, width=2)
        + block((122, -104, 26, 48), "#bcd9e8", radius=4)
        + box((-60, -132, 150, 22), "#1f2126", radius=3)
        + lettering(paint.text, (15, -121), width=138, size=17, ink="#ffc545")
        + oval((141, -34, 5, 6), "#fff3b8")
        + box((-148, -24, 296, 7), paint.dark)
        + _wheel(-92, 24)
        + _wheel(62, 24)
    )


def bicycle(paint: Paint) -> str:
    """A bicycle, 160 wide and 100 high."""
    return (
        _spokes(-50)
        + _spokes(50)
        + line("M-50 -32 L-22 -74 L32 -74 L0 -32 L-50 -32 M0 -32 L-26 -80", paint.base, width=6)
        + line("M50 -32 L30 -88 L44 -94", paint.base, width=6)
        + line("M38 -92 Q52 -98 54 -86", "#2c2d31", width=5)
        + line("M-38 -82 L-16 -82", "#2c2d31", width=8)
        + oval((0, -32, 8, 8), "#4a4c52")
        + line("M0 -32 L10 -20 M4 -19 L17 -19", "#2c2d31", width=3.5)
    )


def street_sign(paint: Paint) -> str:
    """A sign with a word on a post, 112 wide and 196 high."""
    return (
        box((-4, -140, 8, 140), "#8b9096")
        + box((-4, -140, 3, 140), "#b7bcc1")
        + block((-56, -196, 112, 62), paint.base, radius=9)
        + box((-51, -191, 102, 52), "none", radius=6, more='stroke="#fdfbf4" stroke-width="3"')
        + lettering(paint.text, (0, -165), width=88, size=27, ink=paint.ink)
    )


def mailbox(paint: Paint) -> str:
    """A mailbox on a post, 86 wide and 130 high."""
    return (
        box((-7, -74, 14, 74), "#7d5a3c")
        + solid(
            "M-42 -72 L-42 -104 Q-42 -128 -16 -128 L20 -128 Q44 -128 44 -104 L44 -72 Z",
            paint.base,
            shade="fall",
        )
        + shape("M-42 -72 L-42 -104 Q-42 -128 -18 -128 Q2 -126 2 -104 L2 -72 Z", paint.dark)
        + box((-30, -106, 22, 5), "#1f2126", radius=2)
        + line("M26 -98 L26 -124", "#e8e2d0", width=4)
        + box((26, -126, 16, 11), "#d8402f")
    )


def tree(paint: Paint) -> str:
    """A tree with a round crown, 160 wide and 230 high."""
    return (
        solid("M-13 -120 Q-10 -30 -24 0 L26 0 Q10 -30 13 -120 Z", "#7c5637")
        + line("M2 -100 L30 -136", "#7c5637", width=8)
        + ball((-44, -134, 42, 38), paint.dark)
        + ball((46, -138, 42, 40), paint.dark)
        + ball((-22, -172, 48, 44), paint.base)
        + ball((28, -178, 46, 44), paint.base)
        + ball((2, -142, 50, 38), paint.base)
        + oval((-24, -188, 18, 12), paint.light, more='opacity=".5"')
        + oval((20, -152, 16, 9), paint.light, more='opacity=".4"')
    )


def bench(paint: Paint) -> str:
    """A park bench with slats, 186 wide and 92 high."""
    slats = "".join(block((-90, y, 180, 10), paint.base, radius=3) for y in (-90, -75, -60))
    return (
        line("M-72 -88 L-72 0 M72 -88 L72 0", "#3d4045", width=7)
        + slats
        + block((-93, -45, 186, 9), paint.base, radius=3)
        + block((-95, -35, 190, 10), paint.dark, radius=3)
        + line("M-84 -26 L-84 0 M84 -26 L84 0", "#3d4045", width=7)
    )


def beach_ball(paint: Paint) -> str:
    """A ball with white segments, 70 across."""
    return (
        oval((0, -35, 35, 35), paint.base)
        + shape(
            "M0 -70 C-16 -52 -16 -18 0 0 C-28 -4 -35 -22 -35 -35 C-35 -48 -28 -66 0 -70 Z",
            "#fbf8ee",
        )
        + shape("M0 -70 C18 -56 20 -18 0 0 C12 -20 12 -52 0 -70 Z", "#fbf8ee")
        + oval((0, -66, 6, 3.4), "#fbf8ee")
        + oval((0, -35, 35, 35), "url(#ball)")
    )


def kite(paint: Paint) -> str:
    """A kite high above its feet with a tail of ribbons, 100 wide and 230 high."""
    ribbons = "".join(
        shape(f"M{x} {y} l-10 -6 l0 12 Z M{x} {y} l10 -6 l0 12 Z", colour)
        for x, y, colour in ((6, -100, "#e0607a"), (-4, -80, "#f0b93c"), (8, -60, "#4d86c9"))
    )
    return (
        line("M0 -122 Q14 -104 2 -88 Q-10 -72 8 -56", "#6b6b6b", width=2)
        + ribbons
        + solid("M0 -236 L48 -184 L0 -120 L-48 -184 Z", paint.base, shade="fall")
        + shape("M0 -236 L48 -184 L0 -184 Z", paint.light)
        + shape("M0 -120 L-48 -184 L0 -184 Z", paint.dark)
        + line("M-48 -184 L48 -184 M0 -236 L0 -120", "#00000055", width=2)
    )


def flower(paint: Paint) -> str:
    """A flower on its stem, 60 wide and 108 high."""
    petals = "".join(
        oval(
            (17 * cos(turn * pi / 4), -82 + 17 * sin(turn * pi / 4), 11, 11),
            paint.base if turn % 2 else paint.light,
        )
        for turn in range(8)
    )
    return (
        line("M0 -66 Q4 -30 0 0", "#4b8b4a", width=5)
        + shape("M1 -26 Q26 -46 34 -26 Q18 -14 1 -22 Z", "#58a055")
        + shape("M1 -16 Q-24 -36 -32 -16 Q-16 -4 1 -12 Z", "#4b8b4a")
        + petals
        + ball((0, -82, 12, 12), "#f0c43c")
    )


def umbrella(paint: Paint) -> str:
    """A sunshade on its pole, 190 wide and 210 high."""
    return (
        box((-3, -160, 6, 160), "#cdbb9a")
        + solid(
            "M-94 -134 C-84 -182 -44 -206 0 -206 C44 -206 84 -182 94 -134 Q78 "
            "-146 62 -134 Q46 -146 31 -134 Q15 -146 0 -134 Q-15 -146 -31 -134 "
            "Q-46 -146 -62 -134 Q-78 -146 -94 -134 Z",
            paint.base,
            shade="fall",
        )
        + shape("M0 -206 C-26 -188 -34 -160 -31 -134 Q-15 -146 0 -134 Z", "#fbf8eecc")
        + shape(
            "M0 -206 C44 -200 66 -166 62 -134 Q78 -146 94 -134 C84 -182 44 -206 0 -206 Z",
            "#fbf8eecc",
        )
        + shape(
            "M0 -206 C-50 -200 -66 -166 -62 -134 Q-78 -146 -94 -134 C-84 -182 -44 -206 0 -206 Z",
            "#fbf8eecc",
        )
        + oval((0, -208, 4, 5), "#cdbb9a")
    )


def sailing_boat(paint: Paint) -> str:
    """A small boat under sail, 150 wide and 176 high."""
    return (
        box((-3, -172, 5, 140), "#8a6a48")
        + shape("M6 -170 L68 -48 L6 -48 Z", "#fbf8ee")
        + shape("M6 -170 L68 -48 L44 -48 Z", "#00000014")
        + shape("M-8 -154 L-8 -48 L-52 -48 Z", paint.light)
        + solid("M-76 -38 L78 -38 Q64 0 40 0 L-44 0 Q-66 -4 -76 -38 Z", paint.base, shade="fall")
        + box((-75, -38, 152, 6), "#fbf8ee")
    )


def bucket(paint: Paint) -> str:
    """A toy bucket with a spade in it, 76 wide and 112 high."""
    return (
        line("M8 -60 L26 -104", "#d9a441", width=6)
        + line("M18 -108 L34 -100", "#d9a441", width=7)
        + solid("M-36 -66 L-28 -4 Q0 4 28 -4 L36 -66 Z", paint.base)
        + oval((0, -66, 36, 7), paint.light)
        + oval((0, -65, 31, 5), "#d9bd86")
        + line("M-36 -64 C-32 -22 32 -22 36 -64", "#f2efe6", width=4)
    )


def _wheel(x: float, radius: float) -> str:
    return (
        oval((x, -radius, radius, radius), "#26272b")
        + oval((x, -radius, radius * 0.58, radius * 0.58), "#b9bec3")
        + oval((x, -radius, radius * 0.2, radius * 0.2), "#5a5e64")
    )


def _spokes(x: float) -> str:
    rays = " ".join(
        f"M{x} -32 l{28 * cos(turn * pi / 6):.1f} {28 * sin(turn * pi / 6):.1f}"
        for turn in range(12)
    )
    return line(rays, "#9a9fa5", width=1) + oval(
        (x, -32, 30, 30), "none", more='stroke="#26272b" stroke-width="5"'
    )
