"""How much vocabulary is shared with another dataset."""

from collections.abc import Iterable

from piecework.domain.counts import count
from piecework.report import plots
from piecework.report.components import Figure, Quote, Section, Table, number, text
from piecework.report.corpus.comparison import WORDS_LISTED, Comparison
from piecework.report.corpus.description import Description
from piecework.report.corpus.published import OVERLAP_PERCENT
from piecework.report.formatting import excerpt
from piecework.report.svg import svg

_EXAMPLES = 12


def build(description: Description) -> Section | None:
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
        figures=(_figure(comparison),),
        tables=(_shares(comparison), _novel(comparison)),
    )


def _novel_nouns(comparison: Comparison) -> Iterable[str]:
    nouns = [*comparison.novel["nouns"]][:_EXAMPLES]
    if nouns:
        words = ", ".join(excerpt(noun, limit=30) for noun in nouns)
        yield f"The most common nouns that it never uses: {words}."


def _figure(comparison: Comparison) -> Figure:
    title = "Share of the most common words that are also common there"
    rows = [
        plots.Bar(part, 100 * overlap.share, f"{100 * overlap.share:.1f} %")
        for part, overlap in comparison.overlaps.items()
    ]
    described = "; ".join(f"{row.label}: {row.words}" for row in rows)
    drawing = svg(plots.bars(rows), key="shared", title=title, description=described)
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
