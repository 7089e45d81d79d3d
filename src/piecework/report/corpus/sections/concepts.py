"""Concepts of other datasets: how many occur, and in how many images."""

from collections.abc import Iterable, Sequence

from piecework.domain.counts import NOTHING, count, plural, share
from piecework.report import plots
from piecework.report.components import Figure, Gallery, Quote, Section, Table, number, text
from piecework.report.corpus.concept_counts import ConceptCounts, Coverage
from piecework.report.corpus.description import Description
from piecework.report.corpus.examples import card
from piecework.report.corpus.published import CATEGORIES_PERCENT
from piecework.report.formatting import excerpt
from piecework.report.svg import svg

_DRAWN = 14
_LISTED = 100
_NAME_CHARACTERS = 60


def build(description: Description) -> Section | None:
    """Show the coverage of lists of concepts; None without lists."""
    concepts = description.concepts
    if not concepts:
        return None
    occurring = sum(many > 0 for many in concepts.here.values())
    lead = (
        f"{count(occurring)} of {plural(len(concepts.here), 'concept')} "
        f"({share(occurring, len(concepts.here))}) occur in a caption."
    )
    listed = [*concepts.shared] or [*concepts.here]
    return Section(
        key="concepts",
        title="Concepts of other datasets",
        lead=(lead,),
        figures=(_figure(concepts, listed),),
        tables=(
            _coverage("Concepts of each list that occur", concepts, concepts.lists, _paper()),
            *(
                [_coverage("Concepts that two lists share", concepts, concepts.pairs)]
                if concepts.pairs
                else []
            ),
            _images(concepts, listed),
        ),
        galleries=(
            Gallery(
                title="Example images of concepts",
                cards=tuple(card(example, description.pictures) for example in concepts.examples),
                is_folded=True,
            ),
        ),
    )


def _paper() -> str:
    published = ", ".join(f"{name} {percent} %" for name, percent in CATEGORIES_PERCENT.items())
    return (
        "A name must occur as whole words in exactly its form. VizWiz-Captions has, by "
        f"its paper: {published}. Categories that two datasets for the same task share "
        "are all in it: 9 objects, 70 scenes, 14 attributes. These numbers, divided by "
        "the lengths of the lists, are the published shares, so the paper probably "
        "counted shared categories alone."
    )


def _coverage(
    caption: str, concepts: ConceptCounts, rows: Iterable[Coverage], note: str = ""
) -> Table:
    is_compared = concepts.there is not None
    return Table(
        caption=caption,
        columns=(
            text("List"),
            number("Concepts"),
            number("Here"),
            number("Share"),
            *((number("There"), number("Share")) if is_compared else ()),
        ),
        rows=tuple(
            (
                Quote(excerpt(row.name, limit=_NAME_CHARACTERS)),
                count(row.concepts),
                count(row.here),
                share(row.here, row.concepts),
                *(
                    (count(row.there), share(row.there, row.concepts))
                    if row.there is not None
                    else ()
                ),
            )
            for row in rows
        ),
        note=note,
    )


def _figure(concepts: ConceptCounts, listed: Sequence[str]) -> Figure:
    title = "Share of images by concept"
    rows = []
    for name in _most_common(concepts, listed)[:_DRAWN]:
        label = excerpt(name, limit=_NAME_CHARACTERS)
        rows.append(plots.Bar(label, *_percent(concepts.here[name], concepts.images_here)))
        if concepts.there is not None:
            there = _percent(concepts.there[name], concepts.images_there)
            rows.append(plots.Bar("", *there, plots.AMBER))
    described = "; ".join(f"{row.label or 'there'}: {row.words}" for row in rows)
    drawing = svg(plots.bars(rows), key="concept", title=title, description=described)
    note = "Teal: here; amber: the other dataset." if concepts.there is not None else ""
    return Figure(title=title, svg=drawing, note=note)


def _percent(images: int, of_images: int) -> tuple[float, str]:
    return 100 * images / max(of_images, 1), share(images, of_images)


def _images(concepts: ConceptCounts, listed: Sequence[str]) -> Table:
    is_compared = concepts.there is not None
    rows = []
    for name in _most_common(concepts, listed)[:_LISTED]:
        here = concepts.here[name]
        there = concepts.there[name] if concepts.there is not None else 0
        rows.append(
            (
                Quote(excerpt(name, limit=_NAME_CHARACTERS)),
                count(here),
                share(here, concepts.images_here),
                *((count(there), share(there, concepts.images_there)) if is_compared else ()),
            )
        )
    more = len(listed) - len(rows)
    notes = []
    if len(concepts.lists) > 1 and concepts.shared:
        notes.append("Concepts that all lists share.")
    if more:
        notes.append(f"{more:,} rarer ones are in the JSON output.")
    return Table(
        caption="Images by concept",
        columns=(
            text("Concept"),
            number("Images"),
            number("Share"),
            *((number("There"), number("Share")) if is_compared else ()),
        ),
        rows=tuple(rows),
        note=" ".join(notes),
        is_folded=True,
        empty=NOTHING,
    )


def _most_common(concepts: ConceptCounts, listed: Sequence[str]) -> list[str]:
    return sorted(listed, key=lambda name: (-concepts.here[name], name))
