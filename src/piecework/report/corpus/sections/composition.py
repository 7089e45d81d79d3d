"""What the captions consist of: Table 1 of the VizWiz-Captions paper."""

from piecework.analyses.corpus.composition import PARTS, Composition
from piecework.domain.counts import NOTHING, count, plural
from piecework.report import plots
from piecework.report.components import Figure, Section, Table, number, text
from piecework.report.corpus.description import Description
from piecework.report.corpus.published import MEANS, UNIQUE
from piecework.report.formatting import listed
from piecework.report.svg import svg

_SPATIAL = (
    "The paper does not define spatial relations. Its figures are compared with "
    "prepositions of place and direction; all prepositions are counted below them."
)


def build(description: Description) -> Section | None:
    """Show means and different words, of all captions and by text in the image."""
    if not description.compositions:
        return None
    groups = description.compositions
    whole = groups["all"]
    nouns, verbs, adjectives = (
        f"{whole.per_caption[part]:.1f} {part}"
        for part in ("nouns", "verbs", "adjectives")
    )
    lead = (
        f"A caption has {whole.per_caption['words']:.1f} words on average, "
        f"including {listed([nouns, verbs, adjectives])}. "
        f"{plural(whole.captions, 'novel caption')} of {plural(whole.images, 'image')} "
        f"use {count(whole.unique['words'])} different words."
    )
    return Section(
        key="words",
        title="What the captions consist of",
        lead=(lead, _SPATIAL),
        figures=(_figure(whole),),
        tables=tuple(
            build_table(name, composition)
            for build_table in (_means, _different)
            for name, composition in groups.items()
        ),
    )


def _figure(whole: Composition) -> Figure:
    title = "Mean number in a caption"
    rows = [
        plots.Bar(part, whole.per_caption[part], f"{whole.per_caption[part]:.2f}")
        for part in PARTS
    ]
    described = "; ".join(f"{row.label}: {row.words}" for row in rows)
    drawing = svg(plots.bars(rows), key="parts", title=title, description=described)
    return Figure(title=title, svg=drawing)


def _means(name: str, composition: Composition) -> Table:
    return Table(
        caption=f"Mean number in a caption, {_images(name)}",
        columns=(
            text("Part"),
            number("Captions"),
            number("Images", spoken="Mean over images of the mean of their captions"),
            number("Paper", spoken="In a caption of VizWiz-Captions"),
        ),
        rows=tuple(
            (
                part,
                f"{composition.per_caption[part]:.2f}",
                f"{composition.per_image[part]:.2f}",
                f"{MEANS[name][part]:.1f}" if part in MEANS[name] else NOTHING,
            )
            for part in PARTS
        ),
        note=f"{plural(composition.captions, 'caption')} of "
        f"{plural(composition.images, 'image')}.",
    )


def _different(name: str, composition: Composition) -> Table:
    return Table(
        caption=f"Different words, {_images(name)}",
        columns=(
            text("Part"),
            number("Here"),
            number("Paper", spoken="Different words in VizWiz-Captions"),
        ),
        rows=tuple(
            (
                part,
                count(composition.unique[part]),
                count(UNIQUE[name][part]) if part in UNIQUE[name] else NOTHING,
            )
            for part in PARTS
        ),
        note="Ignoring case. The number grows with the number of captions.",
    )


def _images(name: str) -> str:
    return {"all": "all images"}.get(name, f"images {name}")
