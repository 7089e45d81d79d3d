"""Plots of judgements: which of two is better, and the ratings of each item."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from matplotlib.axes import Axes

from piecework.domain.counts import count
from piecework.report.formatting import excerpt
from piecework.report.plots import AMBER, GREY, RED, TEAL
from piecework.report.svg import INK, LINE, POINTS_PER_INCH, WIDTH_INCHES, Plot

_ROW_INCHES = 0.46
_STRIP_INCHES = 0.1
_LONGEST_LABEL = 40
_NARROW = 0.09
"""Parts of all judgements below this have no room for their number."""

_DOT = 7.0
"""Square points for a rating; equal ratings of an item make a larger dot."""


@dataclass(frozen=True, slots=True)
class Contest:
    """Judgements of two sides; the counts are of judgements."""

    first: str
    second: str
    first_better: int
    equal: int
    second_better: int


@dataclass(frozen=True, slots=True)
class Ratings:
    """The ratings of one item, and their mean."""

    values: tuple[float, ...]
    mean: float


def contests(rows: Sequence[Contest]) -> Plot:
    """Diverging bars: the first side left of "equal", the second right of it."""
    return Plot(
        paint=partial(_paint_contests, rows=rows),
        height_inches=_ROW_INCHES * max(len(rows), 1) + 0.12,
        left=6,
        right=6,
        top=6,
        bottom=2,
    )


def strips(rows: Sequence[Ratings], *, ends: tuple[float, float], x_label: str) -> Plot:
    """A line of dots for each item, with a red bar at the mean, from the top down."""
    return Plot(
        paint=partial(_paint_strips, rows=rows, ends=ends, x_label=x_label),
        height_inches=_STRIP_INCHES * max(len(rows), 4) + 0.55,
        left=22,
        right=10,
        top=4,
    )


def _paint_contests(axes: Axes, *, rows: Sequence[Contest]) -> None:
    for place, row in enumerate(rows):
        whole = max(row.first_better + row.equal + row.second_better, 1)
        equal = row.equal / whole
        start = -equal / 2 - row.first_better / whole
        for amount, colour in (
            (row.first_better, TEAL),
            (row.equal, GREY),
            (row.second_better, AMBER),
        ):
            width = amount / whole
            axes.barh(place, width, left=start, color=colour, height=0.42)
            if width >= _NARROW:
                middle = start + width / 2
                _write(axes, middle, place, count(amount), "#ffffff", ha="center")
            start += width
        _write(axes, -1, place - 0.37, f"← {_short(row.first)}", INK, ha="left")
        _write(axes, 1, place - 0.37, f"{_short(row.second)} →", INK, ha="right")
    axes.axvline(0, color=LINE, linewidth=0.8, zorder=0)
    axes.set_xlim(-1, 1)
    axes.set_ylim(max(len(rows), 1) - 0.65, -0.6)
    axes.set_axis_off()


def _write(axes: Axes, x: float, y: float, words: str, colour: str, *, ha: str) -> None:
    axes.text(x, y, words, ha=ha, va="center", color=colour, fontsize=8)


def _short(words: str) -> str:
    room = WIDTH_INCHES * POINTS_PER_INCH / 2 / 5
    return excerpt(words, limit=min(_LONGEST_LABEL, int(room))).partition(" (")[0]


def _paint_strips(
    axes: Axes, *, rows: Sequence[Ratings], ends: tuple[float, float], x_label: str
) -> None:
    for place, row in enumerate(rows):
        times = Counter(row.values)
        axes.scatter(
            [*times],
            [place] * len(times),
            s=[_DOT * number for number in times.values()],
            color=TEAL,
            alpha=0.55,
            linewidths=0,
        )
        axes.plot([row.mean], [place], "|", color=RED, markersize=6)
    margin = 0.03 * (ends[1] - ends[0])
    axes.set_xlim(ends[0] - margin, ends[1] + margin)
    axes.set_ylim(max(len(rows), 1) - 0.2, -0.8)
    axes.set_yticks([])
    axes.set_xlabel(x_label)
    axes.set_ylabel("items")
    axes.grid(visible=True, axis="x", color=LINE)
    axes.spines["left"].set_visible(False)
