"""Animals, and a duck made of rubber."""

from piecework.rehearsal.pictures.drawing.pen import Paint, ball, line, oval, shape, solid


def dog(paint: Paint) -> str:
    """A dog standing and looking to the right, 150 wide and 116 high."""
    return (
        line("M-56 -62 Q-76 -76 -74 -96", paint.base, width=9)
        + line("M-44 -40 L-46 -4", paint.dark, width=13)
        + line("M30 -40 L32 -4", paint.dark, width=13)
        + solid(
            "M-60 -62 C-60 -80 20 -78 40 -78 C54 -60 48 -34 30 -32 C0 -26 -36 "
            "-26 -50 -34 C-60 -40 -62 -52 -60 -62 Z",
            paint.base,
            shade="fall",
        )
        + line("M-32 -40 L-34 -3", paint.base, width=13)
        + line("M16 -40 L18 -3", paint.base, width=13)
        + solid(
            "M24 -70 C22 -100 34 -112 52 -110 C64 -108 66 -98 78 -94 C84 -86 "
            "78 -78 66 -78 C58 -66 46 -56 32 -58 Z",
            paint.base,
            shade="fall",
        )
        + shape("M34 -108 C22 -104 18 -84 26 -74 C36 -78 42 -94 42 -106 Z", paint.dark)
        + oval((56, -98, 3.4, 3.4), "#1d1a18")
        + oval((79, -90, 5, 4), "#1d1a18")
        + line("M24 -62 Q34 -56 46 -62", "#b8332c", width=5)
    )


def cat(paint: Paint) -> str:
    """A sitting cat with its tail around it, 92 wide and 124 high."""
    return (
        line("M26 -10 C58 -6 60 -34 46 -48", paint.base, width=11)
        + solid("M-28 0 C-38 -40 -20 -78 0 -80 C20 -78 38 -40 28 0 Z", paint.base, shade="fall")
        + line("M-9 -40 L-9 -4", paint.dark, width=2)
        + line("M9 -40 L9 -4", paint.dark, width=2)
        + shape("M-28 -100 L-30 -126 L-9 -112 Z", paint.base)
        + shape("M28 -100 L30 -126 L9 -112 Z", paint.base)
        + shape("M-25 -106 L-26 -119 L-15 -111 Z", "#e7a5a0")
        + shape("M25 -106 L26 -119 L15 -111 Z", "#e7a5a0")
        + ball((0, -92, 30, 25), paint.base)
        + oval((-11, -96, 5, 6), "#d6d25a")
        + oval((11, -96, 5, 6), "#d6d25a")
        + oval((-11, -96, 1.8, 5), "#1d1a18")
        + oval((11, -96, 1.8, 5), "#1d1a18")
        + shape("M-4 -87 L4 -87 L0 -82 Z", "#d98880")
        + line("M0 -82 Q-5 -76 -9 -79 M0 -82 Q5 -76 9 -79", "#4a3a36", width=1.6)
        + line(
            "M-14 -84 L-38 -88 M-14 -81 L-37 -78 M14 -84 L38 -88 M14 -81 L37 -78",
            "#ffffffaa",
            width=1.2,
        )
    )


def duck(paint: Paint) -> str:
    """A duck in profile, 96 wide and 76 high."""
    return (
        line("M-6 -10 L-6 0 L2 0 M12 -10 L12 0 L20 0", "#e08a2c", width=3.5)
        + solid(
            "M-46 -42 C-30 -46 0 -50 22 -44 C40 -36 36 -8 6 -8 C-22 -8 -38 -20 -46 -42 Z",
            paint.base,
            shade="fall",
        )
        + shape("M-24 -36 C-8 -42 14 -38 18 -28 C8 -16 -14 -18 -24 -36 Z", paint.dark)
        + solid(
            "M10 -38 C8 -56 16 -74 32 -73 C46 -72 48 -54 38 -46 C34 -40 30 -36 28 -30 Z",
            paint.base,
            shade="fall",
        )
        + shape("M45 -64 L62 -58 L44 -54 Z", "#e9a23a")
        + oval((35, -62, 3, 3), "#1d1a18")
    )


def bird(paint: Paint) -> str:
    """A bird in flight with spread wings, 120 wide, hovering 30 above its feet."""
    return (
        shape("M-8 -44 C-30 -86 -58 -84 -72 -70 C-50 -70 -34 -54 -22 -36 Z", paint.dark)
        + shape("M4 -44 C20 -92 48 -98 66 -88 C46 -80 34 -60 20 -38 Z", paint.base)
        + solid(
            "M-40 -34 C-20 -54 20 -54 38 -44 C30 -26 -8 -20 -24 -28 L-46 -22 Z",
            paint.base,
            shade="fall",
        )
        + shape("M36 -46 L52 -42 L37 -38 Z", "#e9a23a")
        + oval((29, -43, 2.6, 2.6), "#1d1a18")
    )


def rubber_duck(paint: Paint) -> str:
    """A rubber duck with a big beak, 92 wide and 84 high."""
    return (
        solid(
            "M-44 -40 C-34 -30 -16 -34 -4 -36 C14 -38 40 -32 40 -16 C40 -2 22 "
            "0 -2 0 C-30 0 -44 -14 -44 -40 Z",
            paint.base,
            shade="ball",
        )
        + shape("M-18 -22 Q-2 -32 14 -20 Q0 -6 -18 -22 Z", paint.dark)
        + ball((16, -58, 26, 25), paint.base)
        + shape("M38 -62 Q54 -62 56 -54 Q48 -48 38 -50 Z", "#e5722a")
        + oval((24, -64, 5, 6), "#ffffff")
        + oval((25, -63, 2.8, 3.6), "#1d1a18")
    )
