"""A table of counts as a picture: darker cells hold more."""

from collections.abc import Sequence
from functools import partial

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from piecework.domain.counts import count
from piecework.report.formatting import excerpt
from piecework.report.plots import TEAL
from piecework.report.svg import INK, WIDE_INCHES, WIDTH_INCHES, Plot

_ROW_INCHES = 0.19
_LABEL_POINTS = 4.4
_LONGEST_LABEL = 30
_SMALL = 7.2
_WHITE_FROM = 0.55
"""Cells at least this dark have white numbers."""


def matrix(names: Sequence[str], counts: Sequence[Sequence[int]], *, is_wide: bool = True) -> Plot:
    """A square of counts; columns bear the numbers of the rows.

    Args:
        names: of the rows, from the top; the columns have the same order.
        counts: one sequence for each row.
        is_wide: takes two thirds of the page.
    """
    labels = [
        f"{excerpt(name, limit=_LONGEST_LABEL).partition(' (')[0]}  {place}"
        for place, name in enumerate(names, start=1)
    ]
    longest = max(map(len, labels), default=0)
    return Plot(
        paint=partial(_paint, labels=labels, counts=counts),
        height_inches=_ROW_INCHES * max(len(names), 1) + 0.25,
        width_inches=WIDE_INCHES if is_wide else WIDTH_INCHES,
        left=8 + _LABEL_POINTS * longest,
        right=4,
        top=16,
        bottom=2,
    )


def _paint(axes: Axes, *, labels: Sequence[str], counts: Sequence[Sequence[int]]) -> None:
    size = len(labels)
    most = max((max(row) for row in counts), default=1) or 1
    for row, numbers in enumerate(counts):
        for column, number in enumerate(numbers):
            if number:
                depth = number / most
                axes.add_patch(_square(column, row, alpha=0.12 + 0.88 * depth))
                colour = "#ffffff" if depth >= _WHITE_FROM else INK
                _write(axes, column, row, count(number), colour)
    axes.set_xlim(-0.5, max(size, 1) - 0.5)
    axes.set_ylim(max(size, 1) - 0.5, -0.5)
    axes.set_yticks(range(size), labels, fontsize=_SMALL)
    axes.set_xticks(range(size), [str(n + 1) for n in range(size)], fontsize=_SMALL)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _square(column: int, row: int, *, alpha: float) -> Rectangle:
    return Rectangle((column - 0.48, row - 0.46), 0.96, 0.92, color=TEAL, alpha=alpha, linewidth=0)


def _write(axes: Axes, column: int, row: int, words: str, colour: str) -> None:
    axes.text(column, row, words, ha="center", va="center", fontsize=_SMALL, color=colour)
