"""Concepts of other datasets, and how much vocabulary is shared with one."""

from collections.abc import Iterable, Sequence

from piecework.domain.text import NOTHING, count, plural, share
from piecework.report import plots
from piecework.report.components import Figure, Gallery, Quote, Section, Table, number, text
from piecework.report.corpus.comparison import WORDS_LISTED, Comparison
from piecework.report.corpus.concept_counts import ConceptCounts, Coverage, card
from piecework.report.corpus.description import Description
from piecework.report.corpus.published import CATEGORIES_PERCENT, OVERLAP_PERCENT
from piecework.report.formatting import excerpt
from piecework.report.plots import draw_svg

_DRAWN = 14
_LISTED = 100
_NAME_CHARACTERS = 60


def concepts_section(description: Description) -> Section | None:
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
    drawing = draw_svg(plots.bars(rows), key="concept", title=title, description=described)
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


_EXAMPLES = 12


def overlap_section(description: Description) -> Section | None:
    """Show the shared words by part of speech; None without another corpus."""
    comparison = description.comparison
    if not comparison:
        return None
    against = excerpt(comparison.source, limit=80)
    words = comparison.overlaps["words"]
    lead = (
        f"{100 * words.share:.1f} % of the {count(words.compared)} most common words "
        f"are also among the {count(words.compared)} most common words of {against}."
    )
    return Section(
        key="overlap",
        title="Words shared with another dataset",
        lead=(lead, *_novel_nouns(comparison)),
        figures=(_overlap_figure(comparison),),
        tables=(_shares(comparison), _novel(comparison)),
    )


def _novel_nouns(comparison: Comparison) -> Iterable[str]:
    nouns = [*comparison.novel["nouns"]][:_EXAMPLES]
    if nouns:
        words = ", ".join(excerpt(noun, limit=30) for noun in nouns)
        yield f"The most common nouns that it never uses: {words}."


def _overlap_figure(comparison: Comparison) -> Figure:
    title = "Share of the most common words that are also common there"
    rows = [
        plots.Bar(part, 100 * overlap.share, f"{100 * overlap.share:.1f} %")
        for part, overlap in comparison.overlaps.items()
    ]
    described = "; ".join(f"{row.label}: {row.words}" for row in rows)
    drawing = draw_svg(plots.bars(rows), key="shared", title=title, description=described)
    return Figure(title=title, svg=drawing)


def _shares(comparison: Comparison) -> Table:
    return Table(
        caption="Overlap of the most common words",
        columns=(
            text("Part"),
            number("Shared"),
            number("Of", spoken="Words compared"),
            number("Paper", spoken="VizWiz-Captions with MSCOCO-Captions"),
        ),
        rows=tuple(
            (
                part,
                f"{count(overlap.shared)} ({100 * overlap.share:.1f} %)",
                count(overlap.compared),
                f"{OVERLAP_PERCENT[part]:.1f} %",
            )
            for part, overlap in comparison.overlaps.items()
        ),
        note=(
            "The 3,000 most common, or fewer if the smaller vocabulary has fewer; then "
            "the paper's share is not comparable. Equally common words are sorted "
            "alphabetically. Paper: VizWiz-Captions with MSCOCO-Captions."
        ),
    )


def _novel(comparison: Comparison) -> Table:
    return Table(
        caption="Words that the other dataset never uses",
        columns=(
            text("Part"),
            text("The most common first, with the number of their occurrences here"),
        ),
        rows=tuple(
            (
                part,
                Quote(
                    ", ".join(
                        f"{excerpt(word, limit=30)} {count(times)}" for word, times in words.items()
                    )
                ),
            )
            for part, words in comparison.novel.items()
        ),
        note=f"Up to {WORDS_LISTED} of each part.",
        is_folded=True,
    )
