"""Means with their intervals, and the values behind them, on the answers' scale."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from matplotlib.axes import Axes

from piecework.report.formatting import excerpt
from piecework.report.plots import PALE, TEAL
from piecework.report.svg import INK, LINE, Plot

_ROW_INCHES = 0.34
_ROW_INCHES_WITH_VALUES = 0.62
_LABEL_POINTS = 5.3
_LABEL_GAP = 5
"""In points: a dot at the left end of the scale does not touch its label."""
_LONGEST_LABEL = 22
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
    labels = [excerpt(row.label, limit=_LONGEST_LABEL) for row in rows]
    longest = max((len(label) for label in labels), default=0)
    has_values = any(row.values for row in rows)
    inches = _ROW_INCHES_WITH_VALUES if has_values else _ROW_INCHES
    return Plot(
        paint=partial(
            _paint, rows=rows, labels=labels, ends=ends, x_label=x_label, decimals=decimals
        ),
        height_inches=inches * max(len(rows), 1) + 0.6,
        left=10 + _LABEL_GAP + _LABEL_POINTS * longest,
        right=16,
        top=6,
    )


def _paint(
    axes: Axes,
    *,
    rows: Sequence[Mean],
    labels: Sequence[str],
    ends: tuple[float, float],
    x_label: str,
    decimals: int,
) -> None:
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
    axes.set_yticks(range(len(rows)), labels)
    axes.set_ylim(max(len(rows), 1) - 0.5, -0.7)
    axes.set_xlim(*ends)
    axes.set_xlabel(x_label)
    axes.grid(visible=True, axis="x", color=LINE)
    axes.tick_params(length=0)
    axes.tick_params(axis="y", pad=3.5 + _LABEL_GAP)
    axes.spines["left"].set_visible(False)
