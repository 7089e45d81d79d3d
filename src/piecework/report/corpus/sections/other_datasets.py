"""Concepts of other datasets, and how much vocabulary is shared with one."""

from collections.abc import Iterable, Sequence

from piecework.analyses.corpus.composition import Overlap
from piecework.domain.text import NOTHING, count, plural, share
from piecework.report import plots
from piecework.report.components import Figure, Gallery, Quote, Section, Table, number, table, text
from piecework.report.corpus.comparison import CATEGORIES_PERCENT, OVERLAP_PERCENT, Comparison
from piecework.report.corpus.concept_counts import ConceptCounts, Coverage, card
from piecework.report.corpus.description import Description
from piecework.report.corpus.sections.composition import word_lists
from piecework.report.formatting import excerpt

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
            _by_concept(concepts, listed),
        ),
        galleries=(
            Gallery(
                title="Example images of concepts",
                cards=tuple(card(example, description.pictures) for example in concepts.examples),
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
    return table(
        caption,
        rows,
        text("List", lambda row: Quote(excerpt(row.name, limit=_NAME_CHARACTERS))),
        number("Concepts", lambda row: row.concepts),
        number("Here", lambda row: row.here),
        number("Share", lambda row: share(row.here, row.concepts)),
        number("There", lambda row: row.there or 0, is_shown=is_compared),
        number("Share", lambda row: share(row.there or 0, row.concepts), is_shown=is_compared),
        note=note,
    )


def _figure(concepts: ConceptCounts, listed: Sequence[str]) -> Figure:
    def bar(label: str, images: int, of_images: int, colour: str) -> plots.Bar:
        percent = 100 * images / max(of_images, 1)
        return plots.Bar(label, percent, share(images, of_images), colour)

    there, rows = concepts.there, []
    for name in _most_common(concepts, listed)[:_DRAWN]:
        label = excerpt(name, limit=_NAME_CHARACTERS)
        rows.append(bar(label, concepts.here[name], concepts.images_here, plots.TEAL))
        if there is not None:
            rows.append(bar("", there[name], concepts.images_there, plots.AMBER))
    return plots.figure(
        plots.bars(rows),
        key="concept",
        title="Share of images by concept",
        description="; ".join(f"{row.label or 'there'}: {row.words}" for row in rows),
        note="" if there is None else "Teal: here; amber: the other dataset.",
    )


def _by_concept(concepts: ConceptCounts, listed: Sequence[str]) -> Table:
    here, there = concepts.here, concepts.there or {}
    is_compared = concepts.there is not None
    rarer = len(listed) - _LISTED
    notes = ["Concepts that all lists share."] * (len(concepts.lists) > 1 and bool(concepts.shared))
    notes += [f"{rarer:,} rarer ones are in the JSON output."] * (rarer > 0)
    return table(
        "Images by concept",
        _most_common(concepts, listed)[:_LISTED],
        text("Concept", lambda name: Quote(excerpt(name, limit=_NAME_CHARACTERS))),
        number("Images", lambda name: here[name]),
        number("Share", lambda name: share(here[name], concepts.images_here)),
        number("There", lambda name: there[name], is_shown=is_compared),
        number(
            "Share", lambda name: share(there[name], concepts.images_there), is_shown=is_compared
        ),
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
        tables=(
            table(
                "Overlap of the most common words",
                comparison.overlaps.items(),
                text("Part"),
                number("Shared", lambda row: f"{count(row[1].shared)} ({_percent(row[1])})"),
                number("Of", lambda row: row[1].compared, spoken="Words compared"),
                number(
                    "Paper",
                    lambda row: f"{OVERLAP_PERCENT[row[0]]:.1f} %",
                    spoken="VizWiz-Captions with MSCOCO-Captions",
                ),
                note="The 3,000 most common, or fewer if the smaller vocabulary has fewer; then "
                "the paper's share is not comparable. Equally common words are sorted "
                "alphabetically. Paper: VizWiz-Captions with MSCOCO-Captions.",
            ),
            word_lists(
                "Words that the other dataset never uses",
                "Part",
                comparison.novel.items(),
                "The most common first, with the number of their occurrences here",
            ),
        ),
    )


def _novel_nouns(comparison: Comparison) -> Iterable[str]:
    nouns = [*comparison.novel["nouns"]][:_EXAMPLES]
    if nouns:
        words = ", ".join(excerpt(noun, limit=30) for noun in nouns)
        yield f"The most common nouns that it never uses: {words}."


def _overlap_figure(comparison: Comparison) -> Figure:
    rows = [
        plots.Bar(part, 100 * overlap.share, _percent(overlap))
        for part, overlap in comparison.overlaps.items()
    ]
    title = "Share of the most common words that are also common there"
    return plots.bar_figure(rows, key="shared", title=title)


def _percent(overlap: Overlap) -> str:
    return f"{100 * overlap.share:.1f} %"
