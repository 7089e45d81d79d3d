"""Plots of ratings by condition: every person's mean, and what metrics say instead."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from matplotlib.axes import Axes

from piecework.report.formatting import excerpt
from piecework.report.plots import AMBER, GREY, PALE, TEAL
from piecework.report.svg import INK, LINE, Plot

_ROW_INCHES = 0.62
_LABEL_POINTS = 5.3
_LONGEST_LABEL = 22
_SPREAD = 0.26
"""Dots of one condition lie in a band this much above and below its line."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Ratings in one condition: one value a person, their mean and its interval."""

    label: str
    values: tuple[float, ...]
    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Line:
    """One measure over all conditions, as shares of its scale; intervals if known."""

    label: str
    values: tuple[float, ...]
    lows: tuple[float, ...] = ()
    highs: tuple[float, ...] = ()


def strips(rows: Sequence[Spread], *, ends: tuple[float, float], x_label: str) -> Plot:
    """A pale dot for each person, a dark one for the mean, a line for its interval."""
    labels = [excerpt(row.label, limit=_LONGEST_LABEL) for row in rows]
    longest = max((len(label) for label in labels), default=0)
    return Plot(
        paint=partial(_strips, rows=rows, labels=labels, ends=ends, x_label=x_label),
        height_inches=_ROW_INCHES * max(len(rows), 1) + 0.6,
        left=10 + _LABEL_POINTS * longest,
        right=16,
        top=6,
    )


def lines(rows: Sequence[Line], conditions: Sequence[str], *, y_label: str) -> Plot:
    """A line for each measure over the conditions, on one scale from 0 to 100 %."""
    return Plot(
        paint=partial(_lines, rows=rows, conditions=conditions, y_label=y_label),
        height_inches=2.7,
        right=16,
        top=26,
    )


def _strips(
    axes: Axes,
    *,
    rows: Sequence[Spread],
    labels: Sequence[str],
    ends: tuple[float, float],
    x_label: str,
) -> None:
    for place, row in enumerate(rows):
        values = sorted(row.values)
        # Neighbours in value get different heights, so that few dots hide each other.
        heights = place + _SPREAD * (2 * ((np.arange(len(values)) * 0.618) % 1) - 1)
        axes.plot(values, heights, "o", color=PALE, markersize=3.2, alpha=0.9)
        axes.plot([row.low, row.high], [place, place], color=TEAL, linewidth=2.4)
        axes.plot([row.mean], [place], "o", color=TEAL, markersize=6.5)
        axes.annotate(
            f"{row.mean:.1f}",
            (row.mean, place),
            xytext=(0, 13),
            textcoords="offset points",
            ha="center",
            color=INK,
            fontweight="bold",
        )
    axes.set_yticks(range(len(rows)), labels)
    axes.set_ylim(max(len(rows), 1) - 0.5, -0.7)
    axes.set_xlim(*ends)
    axes.set_xlabel(x_label)
    axes.grid(visible=True, axis="x", color=LINE)
    axes.tick_params(length=0)
    axes.spines["left"].set_visible(False)


def _lines(
    axes: Axes, *, rows: Sequence[Line], conditions: Sequence[str], y_label: str
) -> None:
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
        axes.plot(
            places, percent, marker=mark, color=colour, markersize=6, label=row.label
        )
    axes.set_xticks(
        [*places], [excerpt(name, limit=16).replace(" ", "\n") for name in conditions]
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
