"""How similar the captions of an image are."""

from collections import Counter
from statistics import fmean, median

from piecework.domain.counts import count, plural, share
from piecework.report import plots
from piecework.report.components import Figure, Gallery, Section, Table, number, text
from piecework.report.corpus.description import Description
from piecework.report.corpus.examples import card
from piecework.report.formatting import excerpt
from piecework.report.lines_plot import Line, lines
from piecework.report.svg import Plot, svg

_SCALE = "specificity of the captions"
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
    comparison = description.comparison
    there = [*comparison.specificity.values()] if comparison else []
    other = excerpt(comparison.source, limit=80) if comparison else ""
    beside = []
    if there:
        beside.append(
            f"In {other}, {plural(len(there), 'image')} have {fmean(there):.2f} on "
            f"average (median {median(there):.2f})."
        )
    note = (
        "Jas and Parikh (2015), with equal stems instead of WordNet's similarity of "
        "words; compare values only with others of this measure."
    )
    plot = _curves((description.source, values), (other, there)) if there else _histogram(values)
    return Section(
        key="specificity",
        title="Specificity of the captions",
        lead=(lead, *beside, note),
        figures=(_figure(plot, values, there),),
        tables=(_table(values),),
        galleries=(
            Gallery(
                title="From the least to the most similar captions",
                cards=tuple(
                    card(example, description.pictures) for example in description.by_specificity
                ),
                is_folded=True,
            ),
        ),
    )


def _figure(plot: Plot, values: list[float], there: list[float]) -> Figure:
    title = "Images by specificity"
    described = _described(values)
    if there:
        described = f"Here: {described}. The other dataset: {_described(there)}"
    drawing = svg(plot, key="specificities", title=title, description=described)
    return Figure(title=title, svg=drawing)


def _described(values: list[float]) -> str:
    return "; ".join(
        f"{low} to {high}: {plural(many, 'image')}" for low, high, many in _fifths(values)
    )


def _histogram(values: list[float]) -> Plot:
    counts = Counter(_place(value, _BINS) for value in values)
    bins = [plots.Bin(place / _BINS, (place + 1) / _BINS, counts[place]) for place in range(_BINS)]
    mean = fmean(values)
    return plots.histogram(
        bins,
        x_label=_SCALE,
        y_label="images",
        ticks=[(tick / 5, f"{tick / 5:.1f}") for tick in range(6)],
        mark=(mean, f"mean {mean:.2f}"),
    )


def _curves(*datasets: tuple[str, list[float]]) -> Plot:
    rows = []
    for name, values in datasets:
        counts = Counter(_place(value, _BINS) for value in values)
        points = [((place + 0.5) / _BINS, counts[place] / len(values)) for place in range(_BINS)]
        rows.append(Line(f"{name}, mean {fmean(values):.2f}", points))
    return lines(rows, ends=(0, 1), x_label=_SCALE, y_label="share of images")


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
        (f"{place / _TABLE_BINS:.1f}", f"{(place + 1) / _TABLE_BINS:.1f}", counts[place])
        for place in range(_TABLE_BINS)
    ]


def _place(value: float, bins: int) -> int:
    # A mean of ones may end a hair beside 1.
    return max(0, min(int(value * bins), bins - 1))
