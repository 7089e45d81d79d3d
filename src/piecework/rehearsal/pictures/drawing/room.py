"""Things in a living room and a bathroom."""

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


def sofa(paint: Paint) -> str:
    """A sofa for two, 270 wide and 132 high."""
    return (
        box((-118, -12, 12, 12), "#5a4130")
        + box((106, -12, 12, 12), "#5a4130")
        + block((-112, -132, 224, 96), paint.base, radius=20)
        + block((-106, -74, 104, 36), paint.light, radius=10)
        + block((2, -74, 104, 36), paint.light, radius=10)
        + block((-120, -44, 240, 34), paint.base, radius=8)
        + block((-136, -92, 36, 84), paint.base, radius=15)
        + block((100, -92, 36, 84), paint.base, radius=15)
        + line("M0 -128 L0 -76", paint.dark, width=2)
        + line("M-98 -42 L98 -42", paint.dark, width=2)
    )


def armchair(paint: Paint) -> str:
    """An armchair, 150 wide and 136 high."""
    return (
        box((-60, -12, 10, 12), "#5a4130")
        + box((50, -12, 10, 12), "#5a4130")
        + block((-54, -136, 108, 104), paint.base, radius=24)
        + block((-48, -72, 96, 34), paint.light, radius=10)
        + block((-58, -42, 116, 32), paint.base, radius=8)
        + block((-74, -88, 32, 80), paint.base, radius=14)
        + block((42, -88, 32, 80), paint.base, radius=14)
        + oval((0, -104, 3, 3), paint.dark)
        + oval((-24, -108, 3, 3), paint.dark)
        + oval((24, -108, 3, 3), paint.dark)
    )


def floor_lamp(paint: Paint) -> str:
    """A tall lamp with a cloth shade, 96 wide and 246 high."""
    return (
        oval((0, -196, 84, 66), "#fff1b826")
        + oval((0, -3, 32, 6), "#4d4a48")
        + box((-3, -190, 6, 188), "#6a6562")
        + solid("M-30 -242 L30 -242 L48 -180 L-48 -180 Z", paint.base)
        + oval((0, -180, 48, 6), "#fff0bd")
        + line("M-30 -242 L30 -242", paint.dark, width=3)
    )


def plant(paint: Paint) -> str:
    """A leafy plant in a coloured pot, 110 wide and 150 high."""
    leaves = "".join(
        shape(
            "M0 0 C-20 -26 -18 -62 0 -88 C18 -62 20 -26 0 0 Z",
            colour,
            more=f'transform="translate(0 -52) rotate({turn}) scale({size})"',
        )
        for turn, size, colour in (
            (-72, 0.8, "#2f6b3a"),
            (72, 0.8, "#2f6b3a"),
            (-44, 1.0, "#3c8247"),
            (44, 1.0, "#3c8247"),
            (-18, 1.1, "#4d9a55"),
            (20, 1.08, "#58a55d"),
        )
    )
    return (
        leaves
        + solid("M-30 -54 L-22 -3 Q0 4 22 -3 L30 -54 Z", paint.base)
        + block((-34, -62, 68, 13), paint.base, radius=4, shade="round")
    )


def television(paint: Paint) -> str:
    """A television on a low cupboard, 210 wide and 182 high."""
    return (
        block((-100, -44, 200, 44), "#8d6745", radius=3)
        + line("M0 -40 L0 -6", "#62442c", width=3)
        + oval((-12, -23, 4, 4), "#e0c79a")
        + oval((12, -23, 4, 4), "#e0c79a")
        + box((-26, -52, 52, 8), "#2d2f34")
        + block((-98, -182, 196, 132), paint.base, radius=6)
        + box((-90, -174, 180, 114), "#9ecbe6")
        + oval((52, -146, 15, 15), "#fbe08b")
        + shape("M-90 -88 L-44 -136 L-6 -96 L32 -122 L90 -82 L90 -60 L-90 -60 Z", "#5f8f63")
        + shape("M-90 -174 L-20 -174 L-90 -96 Z", "#ffffff26")
    )


def teddy_bear(paint: Paint) -> str:
    """A sitting teddy bear, 104 wide and 130 high."""
    return (
        ball((-27, -112, 13, 13), paint.base)
        + ball((27, -112, 13, 13), paint.base)
        + oval((-27, -112, 7, 7), paint.light)
        + oval((27, -112, 7, 7), paint.light)
        + ball((-40, -46, 13, 24), paint.base)
        + ball((40, -46, 13, 24), paint.base)
        + ball((0, -36, 36, 36), paint.base)
        + oval((0, -34, 22, 23), paint.light)
        + ball((-27, -12, 20, 13), paint.base)
        + ball((27, -12, 20, 13), paint.base)
        + oval((-31, -11, 9, 8), paint.light)
        + oval((31, -11, 9, 8), paint.light)
        + ball((0, -92, 33, 29), paint.base)
        + oval((0, -82, 15, 11), paint.light)
        + oval((0, -87, 5, 4), "#2b2420")
        + oval((-13, -98, 4, 4), "#2b2420")
        + oval((13, -98, 4, 4), "#2b2420")
        + line("M-6 -78 Q0 -73 6 -78", "#2b2420", width=2)
    )


def towel(paint: Paint) -> str:
    """A folded towel with stripes, 140 wide and 50 high."""
    return (
        block((-68, -24, 136, 24), paint.base, radius=11)
        + block((-66, -46, 132, 25), paint.base, radius=11)
        + box((-66, -38, 132, 4), paint.light)
        + box((-66, -31, 132, 4), paint.light)
        + box((-68, -15, 136, 4), paint.light)
        + line("M60 -46 Q72 -36 62 -24", paint.dark, width=2)
    )


def soap_dispenser(paint: Paint) -> str:
    """A pump bottle with a printed label, 70 wide and 142 high."""
    return (
        box((-4, -132, 8, 30), "#bcc2c6")
        + shape("M-28 -138 Q-28 -144 -20 -144 L12 -144 Q14 -144 14 -134 L-22 -134 Z", "#dfe3e5")
        + box((-12, -110, 24, 14), "#cfd4d7", radius=3)
        + solid(
            "M-18 -98 Q-34 -94 -34 -76 L-34 -8 Q-34 0 0 0 Q34 0 34 -8 L34 -76 Q34 -94 18 -98 Z",
            paint.base,
        )
        + box((-26, -72, 52, 44), "#fbf8ee", radius=6)
        + lettering(paint.text, (0, -50), width=46, size=15, ink="#2b2b33")
    )


def toothbrush_cup(paint: Paint) -> str:
    """A cup with two toothbrushes, 60 wide and 124 high."""
    return (
        line("M-8 -30 L-22 -104", "#4d86c9", width=6)
        + box((-34, -122, 9, 22), "#f5f7f8", radius=2, more='transform="rotate(-8 -30 -110)"')
        + line("M8 -30 L20 -98", "#e0607a", width=6)
        + box((19, -116, 9, 22), "#f5f7f8", radius=2, more='transform="rotate(9 23 -104)"')
        + solid("M-28 -62 L-23 -4 Q0 4 23 -4 L28 -62 Z", paint.base)
        + oval((0, -62, 28, 6), paint.dark)
        + line("M-20 -50 L-17 -14", "#ffffff77", width=4)
    )
