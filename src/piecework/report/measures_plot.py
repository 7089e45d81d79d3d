"""Measures over conditions as lines, such as what people and metrics see of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from matplotlib.axes import Axes

from piecework.report.formatting import excerpt
from piecework.report.plots import AMBER, GREY, TEAL
from piecework.report.svg import LINE, Plot


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure over all conditions, as shares of its scale; intervals if known."""

    label: str
    values: tuple[float, ...]
    lows: tuple[float, ...] = ()
    highs: tuple[float, ...] = ()


def measures(rows: Sequence[Measure], conditions: Sequence[str], *, y_label: str) -> Plot:
    """A line for each measure over the conditions, on one scale from 0 to 100 %."""
    return Plot(
        paint=partial(_paint, rows=rows, conditions=conditions, y_label=y_label),
        height_inches=2.7,
        right=16,
        top=26,
    )


def _paint(axes: Axes, *, rows: Sequence[Measure], conditions: Sequence[str], y_label: str) -> None:
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
    axes.set_xticks([*places], [excerpt(name, limit=16).replace(" ", "\n") for name in conditions])
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
