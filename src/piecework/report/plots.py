"""The shapes of plot that the report draws: bars, a histogram, spans, a curve.

Figures of matplotlib become small SVG elements for a page.
"""

import io
import re
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, tostring

import matplotlib as mpl
from defusedxml.ElementTree import fromstring
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import FuncFormatter, MaxNLocator
from matplotlib.typing import RcKeyType

from piecework.report.components import Figure
from piecework.report.formatting import columns_of, labels

INK = "#1f2a37"
SOFT = "#52606d"
LINE = "#d5dbe1"
TEAL = "#0f6b6f"
GREEN = "#2f7d4f"
AMBER = "#b7791f"
RED = "#b42318"
GREY = "#7b8894"
PALE = "#b8d8d6"

_COLOURS = {
    INK: "var(--ink)",
    SOFT: "var(--soft)",
    LINE: "var(--line)",
    TEAL: "var(--bar)",
    RED: "var(--bad)",
}
_IN_THE_PAGE = re.compile("|".join(_COLOURS))
"""Colours that the plot takes from the page, so that they follow its dark mode."""

WIDTH_INCHES = 4.0
"""Narrow, so that a phone shows it at full size and the text stays readable."""

WIDE_INCHES = 8.2
"""For a plot that takes two thirds of the page."""

POINTS_PER_INCH = 72

_SETTINGS: Mapping[RcKeyType, object] = {
    "svg.fonttype": "none",
    # Labels may contain untrusted text: "$" must not start a formula.
    "text.parse_math": False,
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.0,
    "text.color": INK,
    "axes.labelcolor": SOFT,
    "axes.edgecolor": LINE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "xtick.labelcolor": SOFT,
    "ytick.labelcolor": SOFT,
    "path.simplify": True,
}

_ONE_AT_A_TIME = threading.Lock()
"""matplotlib's settings are global; two threads would mix their salts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A drawing and the room it needs; margins in points."""

    paint: Callable[[Axes], None]
    height_inches: float
    width_inches: float = WIDTH_INCHES
    left: float = 46
    right: float = 12
    top: float = 14
    bottom: float = 38


def figure(
    plot: Plot, *, key: str, title: str, description: str, note: str = "", is_wide: bool = False
) -> Figure:
    """Draw the plot as a figure of the page; `draw_svg` and `Figure` explain the arguments."""
    svg = draw_svg(plot, key=key, title=title, description=description)
    return Figure(title=title, svg=svg, note=note, is_wide=is_wide)


def draw_svg(plot: Plot, *, key: str, title: str, description: str) -> Markup:
    """Render the plot as an SVG element with its title and description.

    Args:
        plot: the drawing.
        key: unique in the page; prefixes every id inside.
        title: read by screen readers.
        description: what it shows, as text.
    """
    root = fromstring(_drawn(plot, salt=f"piecework.{key}"))
    _strip(root)
    _name_ids(root, key)
    root.attrib.update(
        {"role": "img", "aria-labelledby": f"{key}-title {key}-description", "focusable": "false"}
    )
    for tag in ("width", "height", "version"):
        root.attrib.pop(tag, None)
    for place, (name, words) in enumerate((("title", title), ("description", description))):
        element = Element("desc" if name == "description" else name)
        element.set("id", f"{key}-{name}")
        element.text = words
        root.insert(place, element)
    return Markup(tostring(root, encoding="unicode"))  # noqa: S704 - serialised by an XML writer, which escaped every text


def _drawn(plot: Plot, *, salt: str) -> str:
    buffer = io.StringIO()
    nameless = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with _ONE_AT_A_TIME, mpl.rc_context({**_SETTINGS, "svg.hashsalt": salt}):
        figure = Drawing(figsize=(plot.width_inches, plot.height_inches))
        width = plot.width_inches * POINTS_PER_INCH
        height = plot.height_inches * POINTS_PER_INCH
        box = (
            plot.left / width,
            plot.bottom / height,
            1 - (plot.left + plot.right) / width,
            1 - (plot.bottom + plot.top) / height,
        )
        plot.paint(figure.add_axes(box))
        with warnings.catch_warnings():
            # Text stays text, so the reader's browser has the letters.
            warnings.filterwarnings("ignore", "Glyph .* missing from font")
            figure.savefig(buffer, format="svg", metadata=nameless)
    return buffer.getvalue()


def _strip(root: Element) -> None:
    """Remove namespaces, line breaks, page-wide styles and fonts."""
    for parent in root.iter():
        parent.tag = parent.tag.rpartition("}")[2]
        for child in [*parent]:
            if child.tag.endswith("}style"):
                parent.remove(child)
        if parent.tag != "text" or not (parent.text or "").strip():
            parent.text = None if parent.tag != "text" else parent.text
        parent.tail = None
        parent.attrib = {
            name.rpartition("}")[2]: _short(name, value) for name, value in parent.attrib.items()
        }


def _short(name: str, value: str) -> str:
    if name == "d":
        return " ".join(value.split())
    if name == "style":
        parts = [part for part in value.split("; ") if "font-family" not in part]
        return _IN_THE_PAGE.sub(lambda match: _COLOURS[match[0]], "; ".join(parts))
    return value


def _name_ids(root: Element, key: str) -> None:
    """Keep only the ids that are referenced, and make them unique in the page."""
    values = [value for element in root.iter() for value in element.attrib.values()]
    for element in root.iter():
        own = element.attrib.pop("id", None)
        if own and any(value in {f"#{own}", f"url(#{own})"} for value in values):
            element.set("id", f"{key}-{own}")
        for name, value in element.attrib.items():
            if value.startswith(("#", "url(#")) and name in {"href", "clip-path"}:
                element.set(name, value.replace("#", f"#{key}-", 1))


_BEYOND = 1.03
"""How far a curve goes on after its last step."""

_BAR_INCHES = 0.24
_LABEL_POINTS = 5.3
"""Room for one character of a label, rounded up."""

LONGEST_LABEL = 22
"""The columns of a row's name; longer names are cut."""


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
    longest = max((columns_of(row.words) for row in rows), default=0)
    room = WIDTH_INCHES * POINTS_PER_INCH - _room(_labels(rows))
    most = max([*(row.amount for row in rows), 1])

    def write(axes: Axes) -> None:
        for place, row in enumerate(rows):
            axes.text(row.amount + most * 0.02, place, row.words, va="center", color=INK)
        # The longest bar must leave room for its text.
        axes.set_xlim(0, most / max(1 - _LABEL_POINTS * (longest + 2) / room, 0.2))

    return _bar_plot(rows, write)


def signed_bars(rows: Sequence[Bar]) -> Plot:
    """Horizontal bars to the right of 0 for gains and to its left for losses."""
    amounts = [row.amount for row in rows]
    reach = max([*map(abs, amounts), 1e-9])

    def write(axes: Axes) -> None:
        for place, row in enumerate(rows):
            is_loss = row.amount < 0
            axes.text(
                row.amount + reach * (-0.03 if is_loss else 0.03),
                place,
                row.words,
                va="center",
                ha="right" if is_loss else "left",
                color=INK,
            )
        axes.set_xlim(-reach * 1.4 if min([*amounts, 0]) < 0 else 0, reach * 1.6)
        axes.axvline(0, color=SOFT, linewidth=0.8)
        axes.spines["left"].set_visible(False)

    return _bar_plot(rows, write)


def _bar_plot(rows: Sequence[Bar], write: Callable[[Axes], None]) -> Plot:
    shown = _labels(rows)

    def paint(axes: Axes) -> None:
        places = range(len(rows))
        amounts, colours = [row.amount for row in rows], [row.colour for row in rows]
        axes.barh(places, amounts, color=colours, height=0.66)
        write(axes)
        axes.set_ylim(max(len(rows), 1) - 0.5, -0.5)
        axes.set_yticks([*places], shown)
        axes.set_xticks([])
        axes.tick_params(length=0)
        axes.spines["bottom"].set_visible(False)

    return Plot(
        paint=paint,
        height_inches=_BAR_INCHES * max(len(rows), 1) + 0.1,
        left=_room(shown),
        right=4,
        top=2,
        bottom=4,
    )


def bar_figure(rows: Sequence[Bar], *, key: str, title: str, note: str = "") -> Figure:
    """Draw the bars as a figure, which lists their amounts for readers who cannot see it."""
    described = "; ".join(f"{row.label}: {row.words}" for row in rows)
    return figure(bars(rows), key=key, title=title, description=described, note=note)


def histogram(
    bins: Sequence[Bin],
    *,
    x_label: str,
    y_label: str,
    ticks: Sequence[tuple[float, str]],
    mark: tuple[float, str] | None = None,
) -> Plot:
    """Vertical columns over a scale, with one value marked by a labelled line."""

    def paint(axes: Axes) -> None:
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
        _count_upwards(axes, x_label, y_label)
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

    return Plot(paint=paint, height_inches=1.7, top=20 if mark else 8)


def spans(rows: Sequence[Span], *, x_label: str, unit_hours: float) -> Plot:
    """Time spans below each other; settling is drawn paler than work."""
    shown = _labels(rows)

    def paint(axes: Axes) -> None:
        places = range(len(rows))
        starts = [row.start / unit_hours for row in rows]
        middles = [row.worked_until / unit_hours for row in rows]
        ends = [row.settled_at / unit_hours for row in rows]
        for lefts, rights, colour in ((starts, middles, TEAL), (middles, ends, PALE)):
            widths = [right - left for left, right in zip(lefts, rights, strict=True)]
            axes.barh(places, widths, left=lefts, color=colour, height=0.6)
        axes.set_yticks([*places], shown)
        axes.set_ylim(max(len(rows), 1) - 0.5, -0.5)
        axes.set_xlim(0, max([*ends, *middles, 0.01]) * 1.02)
        axes.grid(visible=True, axis="x")
        axes.tick_params(length=0)
        axes.set_xlabel(x_label)

    return Plot(
        paint=paint, height_inches=_BAR_INCHES * max(len(rows), 1) + 0.65, left=_room(shown), top=4
    )


def curve(
    points: Sequence[tuple[float, int]], *, x_label: str, y_label: str, goal: tuple[float, str]
) -> Plot:
    """A growing count, as steps, and its goal."""
    amount, words = goal
    hours = [0.0, *(hour for hour, _ in points)]
    counts = [0, *(count for _, count in points)]
    # Without a piece after it, the last step would be hidden at the edge.
    hours.append(max(*hours, 0.01) * _BEYOND)
    counts.append(counts[-1])

    def paint(axes: Axes) -> None:
        axes.fill_between(hours, counts, step="post", color=PALE, linewidth=0)
        axes.step(hours, counts, where="post", color=TEAL, linewidth=1.6)
        axes.axhline(amount, color=SOFT, linewidth=1, linestyle=(0, (4, 2)))
        axes.annotate(words, (0, amount), xytext=(4, 3), textcoords="offset points", color=INK)
        axes.set_xlim(0, hours[-1])
        axes.set_ylim(0, max([*counts, amount, 1]) * 1.14)
        _count_upwards(axes, x_label, y_label)

    return Plot(paint=paint, height_inches=1.7)


def round_step(highest: float, *, columns: int) -> int:
    """The least of 1, 2, 5, 10, 20, ... that splits 0 to highest into few columns.

    >>> round_step(9, columns=24), round_step(24, columns=24), round_step(99, columns=9)
    (1, 2, 20)
    """
    tens = 1
    while highest >= columns * 5 * tens:
        tens *= 10
    return next(step * tens for step in (1, 2, 5) if highest < columns * step * tens)


def _labels(rows: Sequence[Bar] | Sequence[Span]) -> list[str]:
    return labels([row.label for row in rows], columns=LONGEST_LABEL)


def _room(labels: Sequence[str]) -> float:
    return 10 + _LABEL_POINTS * max(map(columns_of, labels), default=0)


def _count_upwards(axes: Axes, x_label: str, y_label: str) -> None:
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10], integer=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.grid(visible=True, axis="y", color=LINE)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
