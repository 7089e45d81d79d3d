"""Empty places: the background before things are added.

All fill a picture of 640 by 480 and extend beyond its edges, so that a rotated or
shifted photograph shows no border.
"""

from collections.abc import Callable, Mapping

from piecework.rehearsal.pictures.drawing.pen import block, box, line, oval, placed, shape

WIDTH = 640
HEIGHT = 480


def kitchen_counter() -> str:
    """A tiled wall, a window with a curtain, and a stone worktop."""
    tiles = "".join(
        box((x, y, 58, 38), "#e9eee6" if (x // 60 + y // 40) % 5 else "#dbe6dc", radius=3)
        for y in range(-120, 290, 40)
        for x in range(-120, 780, 60)
    )
    return (
        box((-160, -160, 960, 480), "#cfd6cc")
        + tiles
        + _window((440, 24, 150, 150))
        + box((-160, 286, 960, 360), "#b08d6a")
        + shape("M-160 290 L800 290 L800 470 L-160 470 Z", "#d9cbb6")
        + shape("M-160 290 L800 290 L800 318 L-160 318 Z", "#0000001f")
        + _specks("#b8a78e", 300, 462)
        + box((-160, 466, 960, 12), "#a8957b")
        + box((-160, 478, 960, 200), "#7d6247")
    )


def desk() -> str:
    """A painted wall with a pinned note and a wooden desk top."""
    return (
        box((-160, -160, 960, 480), "#c9d5df")
        + box((-160, -160, 960, 480), "url(#fall)")
        + block((58, 44, 150, 106), "#b98c58", radius=4)
        + box((66, 52, 134, 90), "#d8b98a")
        + placed(box((-20, -22, 40, 44), "#fbf3a0"), (104, 92), turn=-6)
        + placed(box((-22, -18, 44, 36), "#f7f7f2"), (160, 100), turn=5)
        + oval((104, 74, 3, 3), "#c8342b")
        + oval((160, 86, 3, 3), "#2f66b3")
        + _wood(288, 760)
    )


def street() -> str:
    """A row of houses under the sky, a pavement and a road."""
    houses = "".join(
        _backend(x, width, height, wall)
        for x, width, height, wall in (
            (-150, 140, 230, "#b9675a"),
            (-10, 150, 190, "#d8c39a"),
            (140, 130, 236, "#8fa3b5"),
            (270, 160, 204, "#c98d6a"),
            (430, 130, 244, "#a9b48c"),
            (560, 150, 198, "#cdb7b0"),
            (710, 130, 230, "#b9675a"),
        )
    )
    marks = "".join(box((x, 404, 70, 8), "#e9e4d2") for x in range(-150, 800, 130))
    return (
        box((-160, -160, 960, 480), "#bfdcec")
        + _cloud((120, 34))
        + _cloud((470, 20))
        + houses
        + box((-160, 290, 960, 64), "#b7b3aa")
        + box((-160, 290, 960, 8), "#8f8b83")
        + box((-160, 346, 960, 10), "#8c8880")
        + box((-160, 356, 960, 320), "#5c5f64")
        + marks
    )


def park() -> str:
    """A meadow with hills, a path and a pond far away."""
    grass = "".join(
        line(f"M{x} {y} l-3 -9 M{x} {y} l2 -11 M{x} {y} l6 -7", "#4b8a3f", width=2)
        for x, y in _scattered(300, 474, 34)
    )
    return (
        box((-160, -160, 960, 420), "#bfe0f0")
        + oval((548, 62, 36, 36), "#fbe39a")
        + _cloud((150, 60))
        + _cloud((360, 36))
        + shape("M-160 250 Q40 150 240 240 Q420 160 800 250 L800 340 L-160 340 Z", "#8dbb84")
        + shape("M-160 262 Q300 220 800 262 L800 680 L-160 680 Z", "#74ab5d")
        + shape("M-160 330 Q300 290 800 330 L800 680 L-160 680 Z", "#66a04f")
        + shape(
            "M250 252 Q330 330 200 480 L160 660 L480 660 L430 480 Q420 330 278 252 Z", "#d8c59b"
        )
        + oval((520, 286, 96, 15), "#8fc3dc")
        + grass
    )


def living_room() -> str:
    """A papered wall with a picture, a skirting board, floor and rug."""
    stripes = "".join(box((x, -160, 14, 470), "#ffffff22") for x in range(-160, 800, 56))
    return (
        box((-160, -160, 960, 470), "#d9c9a8")
        + stripes
        + block((64, 40, 120, 92), "#7d5a3c", radius=3)
        + box((73, 49, 102, 74), "#bcdcea")
        + shape("M73 123 L73 98 L108 72 L132 96 L150 82 L175 104 L175 123 Z", "#6a9b6d")
        + _window((410, 26, 160, 150))
        + box((-160, 292, 960, 16), "#f1ece0")
        + _wood(306, 760)
        + oval((320, 430, 290, 50), "#a8484a")
        + oval((320, 430, 268, 43), "#cf8b76")
        + oval((320, 430, 240, 36), "#b25a56")
    )


def shelf() -> str:
    """A wooden case with two boards."""
    board = "#a97a4c"
    return (
        box((-160, -160, 960, 960), "#c8b48c")
        + box((-160, -160, 960, 960), "url(#fall)")
        + box((-160, 40, 960, 8), "#00000022")
        + box((-160, 226, 960, 26), board)
        + box((-160, 218, 960, 10), "#c6935f")
        + box((-160, 252, 960, 14), "#00000030")
        + box((-160, 424, 960, 26), board)
        + box((-160, 414, 960, 12), "#c6935f")
        + box((-160, 450, 960, 300), "#8f6a44")
        + box((-160, 450, 960, 14), "#00000038")
        + block((-40, -160, 58, 960), "#9a6e44", shade="round")
        + block((622, -160, 58, 960), "#9a6e44", shade="round")
    )


def bathroom() -> str:
    """Blue tiles, a mirror and a white counter with a sink."""
    tiles = "".join(
        box((x, y, 50, 50), "#b9d9df" if (x + y) // 52 % 3 else "#a9ced6", radius=2)
        for y in range(-156, 300, 52)
        for x in range(-156, 800, 52)
    )
    return (
        box((-160, -160, 960, 480), "#e3f0f2")
        + tiles
        + block((210, -40, 230, 220), "#e9e4d8", radius=10)
        + box((222, -28, 206, 196), "#d3e6ee", radius=6)
        + shape("M222 120 L370 -28 L428 -28 L428 10 L270 168 L222 168 Z", "#ffffff55")
        + box((-160, 292, 960, 180), "#f2efe8")
        + box((-160, 292, 960, 12), "#00000018")
        + oval((320, 352, 150, 34), "#d8d6cf")
        + oval((320, 356, 136, 28), "#fbfaf6")
        + line("M320 318 Q320 292 346 300 L346 316", "#9aa3a9", width=9)
        + box((-160, 462, 960, 14), "#cfcac0")
        + box((-160, 476, 960, 200), "#a98c6c")
    )


def beach() -> str:
    """Sky, sea with waves, wet and dry sand."""
    waves = "".join(
        line(f"M{x} {y} q12 -7 24 0 q12 7 24 0", "#ffffff88", width=2)
        for x, y in _scattered(236, 292, 16)
    )
    return (
        box((-160, -160, 960, 400), "#bfe3f2")
        + oval((110, 66, 34, 34), "#fbe08b")
        + _cloud((330, 56))
        + _cloud((520, 90))
        + box((-160, 218, 960, 110), "#4f9fc0")
        + box((-160, 218, 960, 26), "#3d89ad")
        + waves
        + shape("M-160 314 Q60 294 260 314 T800 308 L800 680 L-160 680 Z", "#fbf6e6")
        + shape("M-160 322 Q60 302 260 322 T800 316 L800 680 L-160 680 Z", "#cdb07c")
        + shape("M-160 346 Q100 326 330 344 T800 338 L800 680 L-160 680 Z", "#e8d09c")
        + _specks("#cdb07c", 352, 474)
    )


PLACE_DRAWINGS: Mapping[str, Callable[[], str]] = {
    "kitchen counter": kitchen_counter,
    "desk": desk,
    "street": street,
    "park": park,
    "living room": living_room,
    "shelf": shelf,
    "bathroom": bathroom,
    "beach": beach,
}


def _wood(top: float, bottom: float) -> str:
    grain = "".join(
        line(f"M-160 {y} Q120 {y - 7} 330 {y} T800 {y - 3}", "#8e6338", width=1.6)
        for y in range(int(top) + 26, int(bottom), 27)
    )
    return (
        box((-160, top, 960, bottom - top), "#b98a56")
        + grain
        + box((-160, top, 960, 9), "#00000026")
    )


def _window(extent: tuple[float, float, float, float]) -> str:
    x, y, width, height = extent
    middle_x, middle_y = x + width / 2, y + height / 2
    return (
        block((x - 9, y - 9, width + 18, height + 18), "#f6f2e8", radius=3)
        + box(extent, "#bfe0f0")
        + oval((x + width * 0.7, y + height * 0.3, 15, 15), "#fbe39a")
        + shape(
            f"M{x} {y + height} L{x} {y + height * 0.7} Q{middle_x} {y + height * 0.5} "
            f"{x + width} {y + height * 0.75} L{x + width} {y + height} Z",
            "#8dbb84",
        )
        + box((middle_x - 3, y, 6, height), "#f6f2e8")
        + box((x, middle_y - 3, width, 6), "#f6f2e8")
    )


def _backend(x: float, width: float, height: float, wall: str) -> str:
    top = 296 - height
    panes = "".join(
        box((x + 18 + column * (width - 56), top + 26 + row * 56, 24, 34), "#dfeaf0")
        + box((x + 18 + column * (width - 56) + 11, top + 26 + row * 56, 2, 34), "#7c8a92")
        for row in range(2)
        for column in range(2)
    )
    return (
        block((x, top, width, height), wall)
        + shape(f"M{x - 4} {top} h{width + 8} v-9 h{-width - 8} Z", "#5e4a42")
        + panes
        + box((x + width / 2 - 15, 246, 30, 50), "#5a4130", radius=2)
        + oval((x + width / 2 + 9, 272, 2.5, 2.5), "#e0c79a")
    )


def _cloud(at: tuple[float, float]) -> str:
    puffs = (
        oval((0, 0, 34, 17), "#fdfdfd")
        + oval((-30, 6, 24, 12), "#fdfdfd")
        + oval((30, 6, 26, 12), "#f5f8fa")
        + oval((6, 9, 50, 9), "#f5f8fa")
    )
    return placed(puffs, at)


def _specks(colour: str, top: int, bottom: int) -> str:
    return "".join(oval((x, y, 2.2, 1.2), colour) for x, y in _scattered(top, bottom, 60))


def _scattered(top: int, bottom: int, count: int) -> tuple[tuple[int, int], ...]:
    """Return points that look scattered but are always the same (coprime steps)."""
    height = bottom - top
    return tuple(((index * 233) % 900 - 130, top + (index * 61) % height) for index in range(count))
