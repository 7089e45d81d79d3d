"""Means with their intervals, on the scale of the answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from matplotlib.axes import Axes

from piecework.report.formatting import excerpt
from piecework.report.plots import TEAL
from piecework.report.svg import INK, LINE, Plot

_ROW_INCHES = 0.34
_LABEL_POINTS = 5.3
_LONGEST_LABEL = 22


@dataclass(frozen=True, slots=True)
class Mean:
    """One mean; an interval that is NaN is not drawn."""

    label: str
    mean: float
    low: float
    high: float


def means(
    rows: Sequence[Mean],
    *,
    ends: tuple[float, float],
    x_label: str,
    decimals: int = 1,
) -> Plot:
    """A dot for each mean and a line for its interval, on the whole scale."""
    labels = [excerpt(row.label, limit=_LONGEST_LABEL) for row in rows]
    longest = max((len(label) for label in labels), default=0)
    return Plot(
        paint=partial(
            _paint,
            rows=rows,
            labels=labels,
            ends=ends,
            x_label=x_label,
            decimals=decimals,
        ),
        height_inches=_ROW_INCHES * max(len(rows), 1) + 0.6,
        left=10 + _LABEL_POINTS * longest,
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
        axes.plot([row.low, row.high], [place, place], color=TEAL, linewidth=2.4)
        axes.plot([row.mean], [place], "o", color=TEAL, markersize=6.5, clip_on=False)
        axes.annotate(
            f"{row.mean:.{decimals}f}",
            (row.mean, place),
            xytext=(0, 7),
            textcoords="offset points",
            ha="center",
            color=INK,
        )
    axes.set_yticks(range(len(rows)), labels)
    axes.set_ylim(max(len(rows), 1) - 0.5, -0.7)
    axes.set_xlim(*ends)
    axes.set_xlabel(x_label)
    axes.grid(visible=True, axis="x", color=LINE)
    axes.tick_params(length=0)
    axes.spines["left"].set_visible(False)
