"""Plots that compare: contests, ratings, means, shares, counts and measures.

Which of two is better, and the ratings of each item; means with their intervals, and the
values behind them; shares over a scale, one line a dataset; a table of counts, whose darker
cells hold more; measures over conditions.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, MaxNLocator

from piecework.domain.text import count
from piecework.report.formatting import columns_of, label, labels, visible
from piecework.report.plots import (
    AMBER,
    GREY,
    INK,
    LINE,
    LONGEST_LABEL,
    PALE,
    POINTS_PER_INCH,
    RED,
    SOFT,
    TEAL,
    WIDE_INCHES,
    WIDTH_INCHES,
    Plot,
)

_ROW_INCHES = 0.46
_STRIP_INCHES = 0.1
_HALF_COLUMNS = 22
"""Of the name of a side, which has half of the width."""
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

    def paint(axes: Axes) -> None:
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
            _write(
                axes,
                -1,
                place - 0.37,
                f"← {label(row.first, columns=_HALF_COLUMNS)}",
                INK,
                ha="left",
            )
            _write(
                axes,
                1,
                place - 0.37,
                f"{label(row.second, columns=_HALF_COLUMNS)} →",
                INK,
                ha="right",
            )
        axes.axvline(0, color=LINE, linewidth=0.8, zorder=0)
        axes.set_xlim(-1, 1)
        axes.set_ylim(max(len(rows), 1) - 0.65, -0.6)
        axes.set_axis_off()

    return Plot(
        paint=paint,
        height_inches=_ROW_INCHES * max(len(rows), 1) + 0.12,
        left=6,
        right=6,
        top=6,
        bottom=2,
    )


def strips(rows: Sequence[Ratings], *, ends: tuple[float, float], x_label: str) -> Plot:
    """A line of dots for each item, with a red bar at the mean, from the top down."""

    def paint(axes: Axes) -> None:
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

    return Plot(
        paint=paint,
        height_inches=_STRIP_INCHES * max(len(rows), 4) + 0.55,
        left=22,
        right=10,
        top=4,
    )


def _write(axes: Axes, x: float, y: float, words: str, colour: str, *, ha: str) -> None:
    axes.text(x, y, words, ha=ha, va="center", color=colour, fontsize=_SMALL)


_MEANS_ROW_INCHES = 0.34
_VALUES_ROW_INCHES = 0.62
_LABEL_POINTS = 5.3
_LABEL_GAP = 5
"""In points: a dot at the left end of the scale does not touch its label."""
_SPREAD = 0.26
"""Values of a mean lie in a band this much above and below its line."""


@dataclass(frozen=True, slots=True)
class Mean:
    """One mean; an interval that is NaN is not drawn, and values are optional."""

    label: str
    mean: float
    low: float
    high: float
    values: tuple[float, ...] = ()


def means(
    rows: Sequence[Mean], *, ends: tuple[float, float], x_label: str, decimals: int = 1
) -> Plot:
    """A dot for each mean, a line for its interval, and a pale dot for each value."""
    shown = labels([row.label for row in rows], columns=LONGEST_LABEL)
    longest = max(map(columns_of, shown), default=0)
    has_values = any(row.values for row in rows)
    inches = _VALUES_ROW_INCHES if has_values else _MEANS_ROW_INCHES

    def paint(axes: Axes) -> None:
        for place, row in enumerate(rows):
            values = sorted(row.values)
            # Neighbours in value get different heights, so that few dots hide each other.
            heights = place + _SPREAD * (2 * ((np.arange(len(values)) * 0.618) % 1) - 1)
            axes.plot(values, heights, "o", color=PALE, markersize=3.2, alpha=0.9)
            axes.plot([row.low, row.high], [place, place], color=TEAL, linewidth=2.4)
            axes.plot([row.mean], [place], "o", color=TEAL, markersize=6.5, clip_on=False)
            axes.annotate(
                f"{row.mean:.{decimals}f}",
                (row.mean, place),
                xytext=(0, 13 if row.values else 7),
                textcoords="offset points",
                ha="center",
                color=INK,
                fontweight="bold" if row.values else "normal",
            )
        axes.set_yticks(range(len(rows)), shown)
        axes.set_ylim(max(len(rows), 1) - 0.5, -0.7)
        axes.set_xlim(*ends)
        axes.set_xlabel(x_label)
        axes.grid(visible=True, axis="x", color=LINE)
        axes.tick_params(length=0)
        axes.tick_params(axis="y", pad=3.5 + _LABEL_GAP)
        axes.spines["left"].set_visible(False)

    return Plot(
        paint=paint,
        height_inches=inches * max(len(rows), 1) + 0.6,
        left=10 + _LABEL_GAP + _LABEL_POINTS * longest,
        right=16,
        top=6,
    )


_SCATTER_INCHES = 3.4
_MARGIN = 0.08
_LABEL_HEIGHT = 12
"""In points; a label beside a dot is tried at its right, left, above and below."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A dot of two means, each with its range; a pale one is not worth choosing."""

    label: str
    x: Mean
    y: Mean
    is_pale: bool = False


def scatter(rows: Sequence[Choice], *, x_label: str, y_label: str) -> Plot:
    """A dot for each choice, with whiskers for both ranges and its name where there is room."""
    size = (WIDE_INCHES * POINTS_PER_INCH, _SCATTER_INCHES * POINTS_PER_INCH)
    made = Plot(paint=lambda _: None, height_inches=_SCATTER_INCHES, width_inches=WIDE_INCHES)
    room = (size[0] - made.left - made.right, size[1] - made.top - made.bottom)
    x_ends, y_ends = _ends([row.x for row in rows]), _ends([row.y for row in rows])

    def paint(axes: Axes) -> None:
        for row in rows:
            colour = GREY if row.is_pale else TEAL
            axes.hlines(row.y.mean, row.x.low, row.x.high, color=colour, linewidth=1.4, alpha=0.6)
            axes.vlines(row.x.mean, row.y.low, row.y.high, color=colour, linewidth=1.4, alpha=0.6)
            axes.plot([row.x.mean], [row.y.mean], "o", color=colour, markersize=7)
        dots = [
            (
                room[0] * (row.x.mean - x_ends[0]) / (x_ends[1] - x_ends[0]),
                room[1] * (row.y.mean - y_ends[0]) / (y_ends[1] - y_ends[0]),
            )
            for row in rows
        ]
        offsets = _offsets([row.label for row in rows], dots, room)
        for row, offset in zip(rows, offsets, strict=True):
            axes.annotate(
                label(row.label, columns=_LONGEST_LINE_LABEL),
                (row.x.mean, row.y.mean),
                xytext=offset,
                textcoords="offset points",
                va="center",
                color=SOFT if row.is_pale else INK,
            )
        axes.set_xlim(*x_ends)
        axes.set_ylim(*y_ends)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        axes.grid(visible=True, color=LINE)
        axes.tick_params(length=0)

    return replace(made, paint=paint)


def _ends(means_: Sequence[Mean]) -> tuple[float, float]:
    """The ends of an axis of figures from 0 up, with room for a dot at both."""
    low, high = min(each.low for each in means_), max(each.high for each in means_)
    margin = _MARGIN * (high - low) or max(high, 1) / 2
    return max(low - margin, -margin / 2), high + margin


def _offsets(
    labels: Sequence[str], dots: Sequence[tuple[float, float]], room: tuple[float, float]
) -> Iterator[tuple[float, float]]:
    """Where each label begins from its dot, in points, so that it covers no other."""
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in dots]
    for name, (x, y) in zip(labels, dots, strict=True):
        width = _LABEL_POINTS * columns_of(label(name, columns=_LONGEST_LINE_LABEL))
        places = ((8, 9), (-8 - width, 9), (8, -9), (-8 - width, -9), (8, 22), (8, -22))
        boxes = [
            (x + left, y + up - _LABEL_HEIGHT / 2, x + left + width, y + up + _LABEL_HEIGHT / 2)
            for left, up in places
        ]
        free = [
            (offset, box)
            for offset, box in zip(places, boxes, strict=True)
            if box[0] > 0 and box[2] < room[0] and box[1] > 0 and box[3] < room[1]
            if not any(
                box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
                for other in taken
            )
        ]
        offset, box = free[0] if free else (places[0], boxes[0])
        taken.append(box)
        yield offset


_STYLES: tuple[tuple[str, Literal["solid", "dashed"]], ...] = ((TEAL, "solid"), (AMBER, "dashed"))
"""Colours with dashes, since not every reader can tell colours apart."""

_LONGEST_LINE_LABEL = 40
_KEY_POINTS = 14


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its name, and the share (0 to 1) at each place of the scale."""

    label: str
    points: Sequence[tuple[float, float]]


def lines(rows: Sequence[Line], *, ends: tuple[float, float], x_label: str, y_label: str) -> Plot:
    """Draw one or two lines over one scale, with their names above the plot."""

    def paint(axes: Axes) -> None:
        for row, (colour, style) in zip(rows, _STYLES, strict=False):
            axes.plot(
                [place for place, _ in row.points],
                [share for _, share in row.points],
                color=colour,
                linestyle=style,
                linewidth=1.8,
                label=label(row.label, columns=_LONGEST_LINE_LABEL),
            )
        axes.legend(
            loc="lower left",
            bbox_to_anchor=(0, 1),
            frameon=False,
            borderaxespad=0.2,
            labelcolor=INK,
        )
        axes.set_xlim(*ends)
        axes.set_ylim(bottom=0)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        axes.yaxis.set_major_locator(MaxNLocator(nbins=5))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0%}"))
        axes.grid(visible=True, axis="y", color=LINE)
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)

    return Plot(paint=paint, height_inches=2.6, top=10 + _KEY_POINTS * len(rows))


_MATRIX_ROW_INCHES = 0.2
_MATRIX_LINE_INCHES = 0.12
"""How much higher a row is for a second line of its label."""
_MATRIX_LABEL_POINTS = 4.9
_MATRIX_LINE_COLUMNS = 23
_MATRIX_LONG_COLUMNS = 40
_FEW_ROWS = 18
"""A wide matrix of so few rows has room for long labels in one line."""
_SMALL = 8.6
_WHITE_FROM = 0.55
"""Cells at least this dark have white numbers."""
_THOUSAND = 1000


def matrix(names: Sequence[str], counts: Sequence[Sequence[int]], *, is_wide: bool = True) -> Plot:
    """A square of counts; columns bear the numbers of the rows.

    A count that is wider than its cell is shown in thousands (`12k`), or only as the
    cell's colour.

    Args:
        names: of the rows, from the top; the columns have the same order.
        counts: one sequence for each row.
        is_wide: takes two thirds of the page.
    """
    size = max(len(names), 1)
    columns = _MATRIX_LONG_COLUMNS if is_wide and size <= _FEW_ROWS else _MATRIX_LINE_COLUMNS
    lines = [_matrix_label(name, place, columns) for place, name in enumerate(names, start=1)]
    longest = max((columns_of(line) for row_lines in lines for line in row_lines), default=0)
    left, right = 8 + _MATRIX_LABEL_POINTS * longest, 4
    width_inches = WIDE_INCHES if is_wide else WIDTH_INCHES
    cell_points = (width_inches * POINTS_PER_INCH - left - right) / size
    room = int(cell_points / _MATRIX_LABEL_POINTS)
    step = -(-len(str(size)) // max(room, 1)) if room else size

    def paint(axes: Axes) -> None:
        most = max((max(row) for row in counts), default=1) or 1
        for row, numbers in enumerate(counts):
            for column, number in enumerate(numbers):
                if number:
                    depth = number / most
                    axes.add_patch(_square(column, row, alpha=0.12 + 0.88 * depth))
                    colour = "#ffffff" if depth >= _WHITE_FROM else INK
                    _write_count(axes, column, row, _fitting(number, room), colour)
        axes.set_xlim(-0.5, size - 0.5)
        axes.set_ylim(size - 0.5, -0.5)
        axes.set_yticks(range(len(lines)), [*map("\n".join, lines)], fontsize=_SMALL)
        places = range(0, len(lines), step)
        axes.set_xticks(places, [str(n + 1) for n in places], fontsize=_SMALL)
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)

    has_two = any(len(row_lines) > 1 for row_lines in lines)
    row_inches = _MATRIX_ROW_INCHES + _MATRIX_LINE_INCHES * has_two
    return Plot(
        paint=paint,
        height_inches=row_inches * size + 0.27,
        width_inches=width_inches,
        left=left,
        right=right,
        top=17,
        bottom=2,
    )


def _matrix_label(name: str, place: int, columns: int) -> list[str]:
    """The lines of a row's label, at most two, with the row's number at its end."""
    whole = visible(name).strip()
    if columns_of(whole) <= columns:
        return [f"{whole}  {place}"]
    begun = label(whole, columns=columns).removesuffix("…")
    first = begun.rpartition(" ")[0] or begun
    rest = label(whole.removeprefix(first), columns=columns)
    return [first, f"{rest}  {place}"]


def _fitting(number: int, room: int) -> str:
    """A count in so few characters, or in none."""
    thousands = [f"{number / _THOUSAND:.0f}k"] if number >= _THOUSAND else []
    return next((words for words in (count(number), *thousands) if len(words) <= room), "")


def _square(column: int, row: int, *, alpha: float) -> Rectangle:
    return Rectangle((column - 0.48, row - 0.46), 0.96, 0.92, color=TEAL, alpha=alpha, linewidth=0)


def _write_count(axes: Axes, column: int, row: int, words: str, colour: str) -> None:
    axes.text(column, row, words, ha="center", va="center", fontsize=_SMALL, color=colour)


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure over all conditions, as shares of its scale; intervals if known."""

    label: str
    values: tuple[float, ...]
    lows: tuple[float, ...] = ()
    highs: tuple[float, ...] = ()


def measures(rows: Sequence[Measure], conditions: Sequence[str], *, y_label: str) -> Plot:
    """A line for each measure over the conditions, on one scale from 0 to 100 %."""

    def paint(axes: Axes) -> None:
        places = range(len(conditions))
        styles = ((GREY, "s"), (AMBER, "^"), (TEAL, "o"))
        for row, (colour, mark) in zip(rows, styles, strict=False):
            percent = [100 * value for value in row.values]
            if row.lows:
                axes.vlines(
                    places,
                    [100 * low for low in row.lows],
                    [100 * high for high in row.highs],
                    color=colour,
                    linewidth=2.4,
                )
            axes.plot(places, percent, marker=mark, color=colour, markersize=6, label=row.label)
        axes.set_xticks(
            [*places], [label(name, columns=16).replace(" ", "\n") for name in conditions]
        )
        axes.set_xlim(-0.35, max(len(conditions) - 0.65, 0.35))
        axes.set_ylim(0, 105)
        axes.set_yticks(range(0, 101, 25))
        axes.set_ylabel(y_label)
        axes.grid(visible=True, axis="y", color=LINE)
        axes.tick_params(length=0)
        axes.spines["left"].set_visible(False)
        axes.legend(
            loc="lower left",
            bbox_to_anchor=(-0.02, 1.0),
            ncols=len(rows),
            frameon=False,
            handlelength=1.2,
            columnspacing=1.0,
            borderaxespad=0.0,
        )

    return Plot(paint=paint, height_inches=2.7, right=16, top=26)
