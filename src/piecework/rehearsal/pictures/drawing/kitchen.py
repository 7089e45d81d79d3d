"""Things in a kitchen."""

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


def mug(paint: Paint) -> str:
    """A mug with its handle to the right, 100 wide and 86 high."""
    return (
        line("M30 -62 C62 -66 62 -22 29 -20", paint.dark, width=11)
        + line("M30 -62 C62 -66 62 -22 29 -20", paint.base, width=7)
        + solid("M-36 -80 L-33 -8 Q-32 0 0 0 Q32 0 33 -8 L36 -80 Z", paint.base)
        + oval((0, -80, 36, 8), paint.light)
        + oval((0, -79, 31, 6), "#4a3022")
        + line("M-28 -66 L-26 -24", "#ffffff66", width=4)
    )


def can(paint: Paint) -> str:
    """A tin can with a printed label, 78 wide and 112 high."""
    body = "M-36 -106 L-36 -6 Q0 8 36 -6 L36 -106 Z"
    label = "M-36 -88 Q0 -76 36 -88 L36 -22 Q0 -10 -36 -22 Z"
    return (
        solid(body, "#c3c8cc")
        + shape(label, paint.base)
        + shape("M-36 -36 Q0 -24 36 -36 L36 -30 Q0 -18 -36 -30 Z", paint.light)
        + shape(label, "url(#round)")
        + oval((0, -106, 36, 8), "#dfe3e5")
        + oval((0, -106, 30, 6), "#aeb4b9")
        + lettering(paint.text, (0, -54), width=62, size=17, ink=paint.ink)
    )


def carton(paint: Paint) -> str:
    """A cardboard box seen from its front corner, 110 wide and 146 high."""
    return (
        shape("M-52 -140 L-34 -152 L60 -150 L44 -138 Z", paint.light)
        + shape("M44 -138 L60 -150 L60 -10 L44 0 Z", paint.dark)
        + block((-52, -140, 96, 140), paint.base)
        + box((-52, -118, 96, 40), "#fdfaf0")
        + box((-52, -78, 96, 5), paint.dark)
        + ball((-4, -38, 26, 21), "#e9c27a")
        + oval((-12, -42, 5, 4), "#a86c2e")
        + oval((4, -33, 5, 4), "#a86c2e")
        + oval((6, -46, 4, 3), "#a86c2e")
        + lettering(paint.text, (-4, -98), width=84, size=21, ink="#2b2b33")
    )


def bottle(paint: Paint) -> str:
    """A bottle with a label, 62 wide and 170 high."""
    body = (
        "M-10 -166 L-10 -128 C-12 -112 -29 -110 -29 -88 L-29 -6 Q-28 0 0 0 "
        "Q28 0 29 -6 L29 -88 C29 -110 12 -112 10 -128 L10 -166 Z"
    )
    return (
        solid(body, paint.base)
        + block((-12, -174, 24, 16), "#d9d4c6", radius=3, shade="round")
        + box((-29, -82, 58, 50), "#fbf7ea")
        + box((-29, -82, 58, 6), paint.dark)
        + box((-29, -38, 58, 6), paint.dark)
        + box((-29, -82, 58, 50), "url(#round)")
        + lettering(paint.text, (0, -57), width=52, size=15, ink="#2b2b33")
        + line("M-20 -92 Q-19 -104 -8 -112", "#ffffff88", width=4)
    )


def jar(paint: Paint) -> str:
    """A glass jar with something coloured in it, 84 wide and 104 high."""
    glass = "M-34 -84 Q-40 -78 -40 -66 L-40 -8 Q-38 0 0 0 Q38 0 40 -8 L40 -66 Q40 -78 34 -84 Z"
    filling = "M-37 -66 Q0 -58 37 -66 L37 -8 Q36 -3 0 -3 Q-36 -3 -37 -8 Z"
    return (
        shape(glass, "#dbe7e9")
        + shape(filling, paint.base)
        + shape(glass, "url(#round)")
        + block((-36, -102, 72, 18), "#b9a06a", radius=4, shade="round")
        + box((-27, -54, 54, 32), "#fdfaf0", radius=3)
        + lettering(paint.text, (0, -38), width=48, size=15, ink="#2b2b33")
        + line("M-31 -70 L-31 -16", "#ffffff99", width=4)
    )


def bowl(paint: Paint) -> str:
    """An empty bowl, 130 wide and 58 high."""
    return (
        box((-24, -7, 48, 7), paint.dark, radius=3)
        + solid("M-64 -52 C-60 -14 -34 -4 0 -4 C34 -4 60 -14 64 -52 Z", paint.base)
        + oval((0, -52, 64, 12), paint.light)
        + oval((0, -51, 57, 9), paint.dark)
        + line("M-50 -36 Q-40 -16 -22 -11", "#ffffff55", width=4)
    )


def apple(paint: Paint) -> str:
    """An apple with a leaf, 66 wide and 70 high."""
    body = (
        "M0 -52 C-14 -64 -34 -54 -33 -32 C-32 -10 -14 2 0 -2 C14 2 32 -10 33 -32 "
        "C34 -54 14 -64 0 -52 Z"
    )
    return (
        solid(body, paint.base, shade="ball")
        + line("M0 -52 Q0 -64 6 -70", "#5b3d25", width=4)
        + shape("M4 -62 Q18 -76 30 -64 Q18 -54 4 -62 Z", "#4d9a45")
    )


def banana(paint: Paint) -> str:
    """A banana lying on its back, 112 wide and 44 high."""
    body = "M-54 -40 C-44 2 30 12 56 -26 L48 -30 C24 -12 -22 -14 -44 -42 Z"
    return (
        solid(body, paint.base, shade="fall")
        + line("M-48 -34 C-30 -4 22 0 50 -26", paint.dark, width=1.5)
        + shape("M-54 -40 L-44 -42 L-46 -50 L-54 -50 Z", "#6b5a2a")
        + oval((53, -28, 4, 3), "#51431f")
    )


def kettle(paint: Paint) -> str:
    """A kettle with a handle above and a spout to the left, 136 wide and 130 high."""
    return (
        line("M-36 -84 C-34 -136 34 -136 36 -84", "#3a3b40", width=10)
        + shape("M-44 -50 L-78 -82 L-66 -88 L-38 -66 Z", paint.dark)
        + solid("M-44 -82 C-58 -50 -56 0 -44 0 L44 0 C56 0 58 -50 44 -82 Z", paint.base)
        + oval((0, -82, 44, 9), paint.light)
        + oval((0, -84, 36, 7), paint.base)
        + ball((0, -94, 8, 7), "#3a3b40")
        + line("M-36 -66 C-44 -44 -44 -26 -40 -12", "#ffffff66", width=5)
    )
