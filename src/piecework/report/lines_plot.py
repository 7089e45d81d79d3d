"""Shares over a scale as lines, one line a dataset, so that shapes can be compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from piecework.report.formatting import excerpt
from piecework.report.plots import AMBER, TEAL
from piecework.report.svg import INK, LINE, Plot

_STYLES: tuple[tuple[str, Literal["solid", "dashed"]], ...] = ((TEAL, "solid"), (AMBER, "dashed"))
"""Colours with dashes, since not every reader can tell colours apart."""

_LONGEST_LABEL = 40
_KEY_POINTS = 14


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its name, and the share (0 to 1) at each place of the scale."""

    label: str
    points: Sequence[tuple[float, float]]


def lines(rows: Sequence[Line], *, ends: tuple[float, float], x_label: str, y_label: str) -> Plot:
    """Draw one or two lines over one scale, with their names above the plot."""
    paint = partial(_paint, rows=rows, ends=ends, x_label=x_label, y_label=y_label)
    return Plot(paint=paint, height_inches=2.6, top=10 + _KEY_POINTS * len(rows))


def _paint(
    axes: Axes, *, rows: Sequence[Line], ends: tuple[float, float], x_label: str, y_label: str
) -> None:
    for row, (colour, style) in zip(rows, _STYLES, strict=False):
        axes.plot(
            [place for place, _ in row.points],
            [share for _, share in row.points],
            color=colour,
            linestyle=style,
            linewidth=1.8,
            label=excerpt(row.label, limit=_LONGEST_LABEL),
        )
    axes.legend(
        loc="lower left", bbox_to_anchor=(0, 1), frameon=False, borderaxespad=0.2, labelcolor=INK
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
