"""Turn matplotlib figures into small SVG elements for a page.

Text stays text (it can be read aloud, searched and set in the page's font), ids are
unique in the page, and no other host is referenced. Equal plots give equal bytes: the
hash salt is the plot's own name, and dates and versions are left out.
"""

import io
import re
import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element, tostring

import matplotlib as mpl
from defusedxml.ElementTree import fromstring
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.typing import RcKeyType

INK = "#1f2a37"
SOFT = "#52606d"
LINE = "#d5dbe1"

_COLOURS = {INK: "var(--ink)", SOFT: "var(--soft)", LINE: "var(--line)"}
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


def svg(plot: Plot, *, key: str, title: str, description: str) -> Markup:
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
        figure = Figure(figsize=(plot.width_inches, plot.height_inches))
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
