"""How much vocabulary is shared with another dataset."""

from piecework.domain.counts import count
from piecework.report import plots
from piecework.report.components import Figure, Quote, Section, Table, number, text
from piecework.report.corpus.description import Description
from piecework.report.corpus.published import OVERLAP_PERCENT
from piecework.report.formatting import excerpt
from piecework.report.svg import svg

_EXAMPLES = 12


def build(description: Description) -> Section | None:
    """Show the shared words by part of speech; None without another corpus."""
    if not description.overlaps:
        return None
    against = excerpt(description.against, limit=80)
    words = description.overlaps["words"]
    lead = (
        f"{100 * words.share:.1f} % of the {count(words.compared)} most common words "
        f"are also among the {count(words.compared)} most common words of {against}."
    )
    return Section(
        key="overlap",
        title="Words shared with another dataset",
        lead=(lead,),
        figures=(_figure(description),),
        tables=(_shares(description), _examples(description)),
    )


def _figure(description: Description) -> Figure:
    title = "Share of the most common words that are also common there"
    rows = [
        plots.Bar(part, 100 * overlap.share, f"{100 * overlap.share:.1f} %")
        for part, overlap in description.overlaps.items()
    ]
    described = "; ".join(f"{row.label}: {row.words}" for row in rows)
    drawing = svg(plots.bars(rows), key="shared", title=title, description=described)
    return Figure(title=title, svg=drawing)


def _shares(description: Description) -> Table:
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
            for part, overlap in description.overlaps.items()
        ),
        note=(
            "The 3,000 most common, or fewer if the smaller vocabulary has fewer; then "
            "the paper's share is not comparable. Equally common words are sorted "
            "alphabetically. Paper: VizWiz-Captions with MSCOCO-Captions."
        ),
    )


def _examples(description: Description) -> Table:
    return Table(
        caption="Common here, but not there",
        columns=(text("Part"), text("Most common first")),
        rows=tuple(
            (
                part,
                Quote(
                    ", ".join(
                        excerpt(word, limit=30)
                        for word in overlap.only_here[:_EXAMPLES]
                    )
                ),
            )
            for part, overlap in description.overlaps.items()
        ),
        is_wide=True,
    )
