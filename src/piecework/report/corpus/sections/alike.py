"""How similar the captions of an image are."""

from collections import Counter
from statistics import fmean, median

from piecework.domain.counts import count, plural, share
from piecework.report import plots
from piecework.report.components import Figure, Section, Table, number, text
from piecework.report.corpus.description import Description
from piecework.report.svg import svg

_BINS = 20
_TABLE_BINS = 5


def build(description: Description) -> Section | None:
    """Show the distribution of specificity; None if no image has two captions."""
    values = [*description.specificity.values()]
    if not values:
        return None
    lead = (
        f"The captions of {plural(len(values), 'image')} with two or more have a "
        f"specificity of {fmean(values):.2f} on average (median {median(values):.2f}): "
        f"0 if they share no word, 1 if they use the same words throughout."
    )
    note = (
        "Jas and Parikh (2015), with equal stems instead of WordNet's similarity of "
        "words; compare values only with others of this measure."
    )
    return Section(
        key="specificity",
        title="Specificity of the captions",
        lead=(lead, note),
        figures=(_figure(values),),
        tables=(_table(values),),
    )


def _figure(values: list[float]) -> Figure:
    counts = Counter(_place(value, _BINS) for value in values)
    bins = [
        plots.Bin(place / _BINS, (place + 1) / _BINS, counts[place])
        for place in range(_BINS)
    ]
    mean = fmean(values)
    title = "Images by specificity"
    plot = plots.histogram(
        bins,
        x_label="specificity of the captions",
        y_label="images",
        ticks=[(tick / 5, f"{tick / 5:.1f}") for tick in range(6)],
        mark=(mean, f"mean {mean:.2f}"),
    )
    described = "; ".join(
        f"{low} to {high}: {plural(many, 'image')}"
        for low, high, many in _fifths(values)
    )
    drawing = svg(plot, key="specificities", title=title, description=described)
    return Figure(title=title, svg=drawing)


def _table(values: list[float]) -> Table:
    return Table(
        caption="Specificity",
        columns=(text("From, to"), number("Images"), number("Share")),
        rows=tuple(
            (f"{low} to {high}", count(many), share(many, len(values)))
            for low, high, many in _fifths(values)
        ),
    )


def _fifths(values: list[float]) -> list[tuple[str, str, int]]:
    counts = Counter(_place(value, _TABLE_BINS) for value in values)
    return [
        (
            f"{place / _TABLE_BINS:.1f}",
            f"{(place + 1) / _TABLE_BINS:.1f}",
            counts[place],
        )
        for place in range(_TABLE_BINS)
    ]


def _place(value: float, bins: int) -> int:
    # A mean of ones may end a hair beside 1.
    return max(0, min(int(value * bins), bins - 1))
