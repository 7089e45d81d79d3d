"""Sports grounds and equipment."""

from piecework.rehearsal.pictures.drawing.pen import Paint, ball, box, line, oval, shape


def tennis_court() -> str:
    """A blue court with its lines, the net and a fence behind it."""
    mesh = "".join(line(f"M{x} 214 L{x} 274", "#f3f1ea66", width=1) for x in range(-150, 800, 12))
    fence = "".join(line(f"M{x} 60 L{x} 200", "#3f5a4a", width=2) for x in range(-150, 800, 22))
    return (
        box((-160, -160, 960, 380), "#bfe0f0")
        + box((-160, 60, 960, 150), "#6f9a80")
        + fence
        + box((-160, 200, 960, 480), "#5b8f6b")
        + shape("M40 210 L600 210 L780 640 L-140 640 Z", "#3f78b5")
        + line("M96 210 L-20 640 M544 210 L660 640", "#f3f1ea", width=5)
        + line("M40 210 L600 210 M320 300 L320 640 M8 300 L632 300", "#f3f1ea", width=4)
        + mesh
        + line("M-160 214 L800 214", "#fdfbf4", width=6)
        + line("M-160 244 L800 244", "#f3f1ea55", width=1)
    )


def baseball_field() -> str:
    """A lawn with the brown infield, its bases and a stand behind it."""
    rows = "".join(box((-160, y, 960, 9), "#7c8794") for y in range(40, 160, 24))
    return (
        box((-160, -160, 960, 380), "#bfe0f0")
        + box((-160, 30, 960, 150), "#95a0ac")
        + rows
        + box((-160, 168, 960, 30), "#2f6b48")
        + box((-160, 198, 960, 480), "#68a355")
        + shape("M320 214 Q700 260 800 520 L-160 520 Q-60 260 320 214 Z", "#c08a5c")
        + shape("M320 250 L560 360 L320 520 L80 360 Z", "#68a355")
        + "".join(
            shape(f"M{x} {y - 7} l14 7 l-14 7 l-14 -7 Z", "#fdfbf4")
            for x, y in ((320, 250), (560, 360), (80, 360))
        )
        + oval((320, 420, 170, 44), "#c08a5c")
    )


def racket(_paint: Paint) -> str:
    """A tennis racket held by its grip at (0, 0), leaning to the right."""
    strings = "".join(
        line(f"M{x} -104 L{x} -52", "#fdfbf4", width=1.2) for x in range(-16, 17, 8)
    ) + "".join(line(f"M-20 {y} L20 {y}", "#fdfbf4", width=1.2) for y in range(-98, -50, 9))
    return (
        line("M0 8 L0 -44", "#2c2c30", width=8)
        + oval((0, -78, 24, 33), "none", more='stroke="#c8342b" stroke-width="6"')
        + strings
    )


def tennis_ball(_paint: Paint) -> str:
    """A tennis ball around (0, 0)."""
    return ball((0, 0, 11, 11), "#d8e04a") + line("M-8 -6 Q0 0 -8 7", "#fdfbf4", width=2)


def frisbee(_paint: Paint) -> str:
    """A flying disc around (0, 0)."""
    return (
        oval((0, 0, 42, 13), "#d9531e")
        + oval((0, -4, 40, 10), "#f0803c")
        + oval((0, -4, 22, 5), "#f7a876")
        + line("M58 -8 L86 -14 M60 4 L92 4", "#ffffffcc", width=3)
    )


def baseball(_paint: Paint) -> str:
    """A baseball around (0, 0)."""
    return (
        ball((0, 0, 13, 13), "#f7f4ea")
        + line("M-8 -9 Q-2 0 -8 9 M8 -9 Q2 0 8 9", "#c8342b", width=1.6)
    )  # fmt: skip
