"""The shapes of plot that the report draws: bars, a histogram, spans, a curve."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from piecework.report.formatting import excerpt
from piecework.report.svg import INK, LINE, POINTS_PER_INCH, SOFT, WIDTH_INCHES, Plot

TEAL = "#0f6b6f"
GREEN = "#2f7d4f"
AMBER = "#b7791f"
RED = "#b42318"
GREY = "#7b8894"
PALE = "#b8d8d6"

_BEYOND = 1.03
"""How far a curve goes on after its last step."""

_BAR_INCHES = 0.24
_LABEL_POINTS = 5.3
"""Room for one character of a label, rounded up."""

_LONGEST_LABEL = 22


@dataclass(frozen=True, slots=True)
class Bar:
    """One amount with its name, and the text at its end."""

    label: str
    amount: float
    words: str
    colour: str = TEAL


@dataclass(frozen=True, slots=True)
class Bin:
    """The number of cases between two values."""

    start: float
    end: float
    amount: int
    colour: str = TEAL


@dataclass(frozen=True, slots=True)
class Span:
    """A time span in two parts, in hours: people work, then it is settled."""

    label: str
    start: float
    worked_until: float
    settled_at: float


def bars(rows: Sequence[Bar]) -> Plot:
    """Horizontal bars from the top down, with their amounts at the end."""
    return _bar_plot(_paint_bars, rows)


def signed_bars(rows: Sequence[Bar]) -> Plot:
    """Horizontal bars to the right of 0 for gains and to its left for losses."""
    return _bar_plot(_paint_signed, rows)


def _bar_plot(paint: Callable[..., None], rows: Sequence[Bar]) -> Plot:
    labels = [_label(row.label) for row in rows]
    return Plot(
        paint=partial(paint, rows=rows, labels=labels),
        height_inches=_BAR_INCHES * max(len(rows), 1) + 0.1,
        left=_room(labels),
        right=4,
        top=2,
        bottom=4,
    )


def histogram(
    bins: Sequence[Bin],
    *,
    x_label: str,
    y_label: str,
    ticks: Sequence[tuple[float, str]],
    mark: tuple[float, str] | None = None,
) -> Plot:
    """Vertical columns over a scale, with one value marked by a labelled line."""
    paint = partial(_paint_bins, bins=bins, ticks=ticks, mark=mark)
    return Plot(
        paint=partial(_labelled, paint=paint, x_label=x_label, y_label=y_label),
        height_inches=1.7,
        top=20 if mark else 8,
    )


def spans(rows: Sequence[Span], *, x_label: str, unit_hours: float) -> Plot:
    """Time spans below each other; settling is drawn paler than work."""
    labels = [_label(row.label) for row in rows]
    paint = partial(_paint_spans, rows=rows, labels=labels, unit_hours=unit_hours)
    return Plot(
        paint=partial(_labelled, paint=paint, x_label=x_label, y_label=""),
        height_inches=_BAR_INCHES * max(len(rows), 1) + 0.65,
        left=_room(labels),
        top=4,
    )


def curve(
    points: Sequence[tuple[float, int]], *, x_label: str, y_label: str, goal: tuple[float, str]
) -> Plot:
    """A growing count, as steps, and its goal."""
    paint = partial(_paint_curve, points=points, goal=goal)
    return Plot(
        paint=partial(_labelled, paint=paint, x_label=x_label, y_label=y_label), height_inches=1.7
    )


def round_step(highest: float, *, columns: int) -> int:
    """The least of 1, 2, 5, 10, 20, ... that splits 0 to highest into few columns.

    >>> round_step(9, columns=24), round_step(24, columns=24), round_step(99, columns=9)
    (1, 2, 20)
    """
    tens = 1
    while highest >= columns * 5 * tens:
        tens *= 10
    return next(step * tens for step in (1, 2, 5) if highest < columns * step * tens)


def _label(words: str) -> str:
    return excerpt(words, limit=_LONGEST_LABEL).partition(" (")[0]


def _room(labels: Sequence[str]) -> float:
    return 10 + _LABEL_POINTS * max((len(label) for label in labels), default=0)


def _labelled(axes: Axes, *, paint: partial[None], x_label: str, y_label: str) -> None:
    paint(axes)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)


def _paint_bars(axes: Axes, *, rows: Sequence[Bar], labels: Sequence[str]) -> None:
    places = range(len(rows))
    amounts = [row.amount for row in rows]
    most = max([*amounts, 1])
    axes.barh(places, amounts, color=[row.colour for row in rows], height=0.66)
    for place, row in zip(places, rows, strict=True):
        axes.text(row.amount + most * 0.02, place, row.words, va="center", color=INK)
    longest = max((len(row.words) for row in rows), default=0)
    room = WIDTH_INCHES * POINTS_PER_INCH - _room(labels)
    # The longest bar must leave room for its text.
    axes.set_xlim(0, most / max(1 - _LABEL_POINTS * (longest + 2) / room, 0.2))
    axes.set_ylim(max(len(rows), 1) - 0.5, -0.5)
    axes.set_yticks([*places], labels)
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.spines["bottom"].set_visible(False)


def _paint_signed(axes: Axes, *, rows: Sequence[Bar], labels: Sequence[str]) -> None:
    places = range(len(rows))
    amounts = [row.amount for row in rows]
    reach = max([*map(abs, amounts), 1e-9])
    axes.barh(places, amounts, color=[row.colour for row in rows], height=0.66)
    for place, row in zip(places, rows, strict=True):
        is_loss = row.amount < 0
        axes.text(
            row.amount + reach * (-0.03 if is_loss else 0.03),
            place,
            row.words,
            va="center",
            ha="right" if is_loss else "left",
            color=INK,
        )
    low = -reach * 1.4 if min([*amounts, 0]) < 0 else 0
    axes.set_xlim(low, reach * 1.6)
    axes.axvline(0, color=SOFT, linewidth=0.8)
    axes.set_ylim(max(len(rows), 1) - 0.5, -0.5)
    axes.set_yticks([*places], labels)
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.spines["bottom"].set_visible(False)
    axes.spines["left"].set_visible(False)


def _paint_bins(
    axes: Axes,
    *,
    bins: Sequence[Bin],
    ticks: Sequence[tuple[float, str]],
    mark: tuple[float, str] | None,
) -> None:
    axes.bar(
        [column.start for column in bins],
        [column.amount for column in bins],
        width=[(column.end - column.start) * 0.92 for column in bins],
        align="edge",
        color=[column.colour for column in bins],
    )
    axes.set_xticks([place for place, _ in ticks], [words for _, words in ticks])
    axes.set_ylim(0, 1.05 * max([column.amount for column in bins], default=1) or 1)
    if bins:
        axes.set_xlim(bins[0].start, bins[-1].end)
    _count_upwards(axes)
    if mark:
        place, words = mark
        low, high = axes.get_xlim()
        axes.axvline(place, color=INK, linewidth=1.2, linestyle=(0, (4, 2)))
        is_right = place > (low + high) / 2
        axes.annotate(
            words,
            (place, 1.02),
            xycoords=("data", "axes fraction"),
            ha="right" if is_right else "left",
            va="bottom",
            color=INK,
        )


def _paint_spans(
    axes: Axes, *, rows: Sequence[Span], labels: Sequence[str], unit_hours: float
) -> None:
    places = range(len(rows))
    starts = [row.start / unit_hours for row in rows]
    middles = [row.worked_until / unit_hours for row in rows]
    ends = [row.settled_at / unit_hours for row in rows]
    for lefts, rights, colour in ((starts, middles, TEAL), (middles, ends, PALE)):
        widths = [right - left for left, right in zip(lefts, rights, strict=True)]
        axes.barh(places, widths, left=lefts, color=colour, height=0.6)
    axes.set_yticks([*places], labels)
    axes.set_ylim(max(len(rows), 1) - 0.5, -0.5)
    axes.set_xlim(0, max([*ends, *middles, 0.01]) * 1.02)
    axes.grid(visible=True, axis="x")
    axes.tick_params(length=0)


def _paint_curve(
    axes: Axes, *, points: Sequence[tuple[float, int]], goal: tuple[float, str]
) -> None:
    hours = [0.0, *(hour for hour, _ in points)]
    counts = [0, *(count for _, count in points)]
    # Without a piece after it, the last step would be hidden at the edge.
    hours.append(max(*hours, 0.01) * _BEYOND)
    counts.append(counts[-1])
    amount, words = goal
    axes.fill_between(hours, counts, step="post", color=PALE, linewidth=0)
    axes.step(hours, counts, where="post", color=TEAL, linewidth=1.6)
    axes.axhline(amount, color=SOFT, linewidth=1, linestyle=(0, (4, 2)))
    axes.annotate(words, (0, amount), xytext=(4, 3), textcoords="offset points", color=INK)
    axes.set_xlim(0, hours[-1])
    axes.set_ylim(0, max([*counts, amount, 1]) * 1.14)
    _count_upwards(axes)


def _count_upwards(axes: Axes) -> None:
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10], integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.grid(visible=True, axis="y", color=LINE)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
