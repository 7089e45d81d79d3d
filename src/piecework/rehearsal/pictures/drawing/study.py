"""Things on a desk or a bookshelf."""

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


def laptop(paint: Paint) -> str:
    """An open laptop, 200 wide and 138 high."""
    return (
        block((-86, -136, 172, 116), paint.base, radius=7)
        + box((-78, -128, 156, 98), "#dfeaf4")
        + box((-78, -128, 156, 14), "#5d7fa8")
        + box((-68, -104, 64, 8), "#8aa0b8")
        + box((-68, -90, 90, 6), "#b2c0ce")
        + box((-68, -78, 78, 6), "#b2c0ce")
        + box((-68, -66, 86, 6), "#b2c0ce")
        + block((30, -106, 40, 46), "#e6b35c", radius=3)
        + shape("M-86 -20 L86 -20 L100 -4 Q100 0 96 0 L-96 0 Q-100 0 -100 -4 Z", paint.light)
        + shape("M-72 -17 L72 -17 L79 -9 L-79 -9 Z", paint.dark)
        + shape("M-22 -7 L22 -7 L25 -2 L-25 -2 Z", paint.base)
    )


def book(paint: Paint) -> str:
    """A closed book standing with its cover to us, 92 wide and 126 high."""
    return (
        shape("M40 -122 L50 -126 L50 -6 L40 0 Z", "#efe7d2")
        + shape("M-44 -122 L-34 -128 L50 -126 L40 -122 Z", "#f7f1e0")
        + block((-44, -122, 84, 122), paint.base, radius=2)
        + box((-44, -122, 10, 122), paint.dark)
        + box((-26, -106, 58, 40), paint.light, radius=2)
        + ball((3, -34, 17, 17), paint.light)
        + box((-26, -12, 58, 4), paint.dark)
        + lettering(paint.text, (3, -86), width=54, size=17, ink="#2a2630")
    )


def lamp(paint: Paint) -> str:
    """A desk lamp with a bent arm, 110 wide and 160 high."""
    return (
        oval((44, -2, 62, 10), "#ffe9a033")
        + solid("M-50 -4 Q-50 -14 -22 -14 Q6 -14 6 -4 Q6 0 -22 0 Q-50 0 -50 -4 Z", paint.dark)
        + line("M-22 -12 L-34 -82 L14 -134", paint.dark, width=7)
        + ball((-34, -82, 7, 7), "#d2d2d2")
        + shape("M14 -112 L-6 0 L100 0 L60 -92 Z", "#fff3b040")
        + solid("M4 -146 L24 -156 Q52 -138 62 -92 L12 -110 Q2 -126 4 -146 Z", paint.base)
        + shape("M12 -110 L62 -92 Q42 -84 26 -92 Q14 -98 12 -110 Z", "#fff2b3")
    )


def pencil_cup(paint: Paint) -> str:
    """A cup full of pencils, 60 wide and 118 high."""
    pencils = "".join(
        line(f"M{foot} -40 L{top} {height}", colour, width=7)
        + shape(f"M{top - 4} {height} L{top} {height - 11} L{top + 4} {height} Z", "#e8cfa0")
        for foot, top, height, colour in (
            (-14, -24, -98, "#d9482b"),
            (-4, -6, -106, "#e8b52c"),
            (6, 10, -102, "#3c7d46"),
            (14, 26, -92, "#3765ad"),
        )
    )
    return (
        pencils
        + solid("M-28 -62 L-25 -4 Q0 4 25 -4 L28 -62 Z", paint.base)
        + oval((0, -62, 28, 5), paint.dark)
        + box((-27, -44, 54, 7), paint.light)
    )


def smartphone(paint: Paint) -> str:
    """A telephone standing upright, 62 wide and 118 high."""
    icons = "".join(
        box((x, y, 10, 10), colour, radius=2)
        for y, colours in (
            (-92, ("#e25a4a", "#efb93a", "#54a35c")),
            (-76, ("#4d86c9", "#a25fbd", "#e6843a")),
        )
        for x, colour in zip((-20, -5, 10), colours, strict=True)
    )
    return (
        block((-30, -118, 60, 118), paint.base, radius=9)
        + box((-25, -108, 50, 96), "#23324a", radius=3)
        + shape("M-25 -40 L-4 -64 L10 -48 L25 -66 L25 -12 L-25 -12 Z", "#47699b")
        + icons
        + oval((0, -6, 4, 3), "#777c86")
        + shape("M-25 -108 L2 -108 L-25 -50 Z", "#ffffff22")
    )


def clock(paint: Paint) -> str:
    """An alarm clock with two bells, 88 wide and 104 high."""
    marks = "".join(
        box((-1.5, -34, 3, 7), "#44464d", more=f'transform="translate(0 -48) rotate({turn})"')
        for turn in range(0, 360, 30)
    )
    return (
        line("M-24 -10 L-32 0", paint.dark, width=7)
        + line("M24 -10 L32 0", paint.dark, width=7)
        + ball((-24, -92, 15, 11), paint.dark)
        + ball((24, -92, 15, 11), paint.dark)
        + box((-3, -104, 6, 14), paint.dark)
        + ball((0, -48, 44, 44), paint.base)
        + oval((0, -48, 36, 36), "#fbf8ee")
        + marks
        + line("M0 -48 L0 -72", "#2a2c33", width=4)
        + line("M0 -48 L16 -40", "#2a2c33", width=4)
        + oval((0, -48, 4, 4), "#c23b2e")
    )


def vase(paint: Paint) -> str:
    """A vase with three tulips, 92 wide and 176 high."""
    flowers = "".join(
        line(f"M0 -88 Q{x / 2} -120 {x} {y}", "#4b8b4a", width=4)
        + shape(
            f"M{x - 13} {y - 22} L{x - 5} {y - 14} L{x} {y - 26} L{x + 5} {y - 14} "
            f"L{x + 13} {y - 22} Q{x + 15} {y + 5} {x} {y + 6} "
            f"Q{x - 15} {y + 5} {x - 13} {y - 22} Z",
            tulip,
        )
        for x, y, tulip in ((-30, -138, "#e0607a"), (2, -152, "#f0b93c"), (31, -136, "#e0607a"))
    )
    body = (
        "M-14 -92 C-18 -76 -36 -64 -34 -36 C-32 -10 -20 0 0 0 C20 0 32 -10 34 -36 "
        "C36 -64 18 -76 14 -92 Z"
    )
    return (
        flowers
        + solid(body, paint.base)
        + oval((0, -92, 14, 4), paint.dark)
        + shape("M-35 -46 Q0 -34 35 -46 L35 -36 Q0 -24 -34 -36 Z", paint.light)
    )


def candle(paint: Paint) -> str:
    """A burning candle on a dish, 64 wide and 110 high."""
    return (
        oval((0, -92, 34, 30), "#ffe7a533")
        + oval((0, -4, 32, 6), "#b7a98f")
        + oval((0, -6, 30, 5), "#d9cdb4")
        + solid("M-16 -70 L-16 -8 Q0 -3 16 -8 L16 -70 Z", paint.base)
        + oval((0, -70, 16, 4), paint.light)
        + line("M0 -70 L0 -79", "#3b352e", width=2.5)
        + shape("M0 -106 C11 -92 10 -78 0 -76 C-10 -78 -9 -92 0 -106 Z", "#f6a52b")
        + shape("M0 -95 C6 -88 5 -79 0 -77 C-5 -79 -5 -88 0 -95 Z", "#fff0b0")
    )
