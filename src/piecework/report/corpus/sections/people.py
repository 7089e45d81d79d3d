"""How well people describe what others describe: human performance."""

from piecework.domain.counts import plural
from piecework.report import plots
from piecework.report.components import Figure, Section, Table, number, text
from piecework.report.corpus.description import Description
from piecework.report.corpus.human import ABSENT
from piecework.report.corpus.published import HUMAN
from piecework.report.svg import svg

_ABSENT_BECAUSE = "not computed"


def build(description: Description) -> Section | None:
    """Show the scores of one caption against the others; None without easy images."""
    human = description.human
    if not human.scores:
        return None
    which = "easy image" if description.knows_canned else "image"
    lead = (
        f"For each of {plural(human.images, which)}, one caption, drawn with seed "
        f"{description.seed}, is scored against the others "
        f"({plural(human.references, 'caption')})."
    )
    return Section(
        key="human",
        title="How well people score on the metrics for algorithms",
        lead=(lead,),
        figures=(_figure(human.scores),),
        tables=(_table(human.scores),),
    )


def _figure(scores: dict[str, float]) -> Figure:
    title = "Scores of people's captions"
    rows = [plots.Bar(name, score, f"{score:.1f}") for name, score in scores.items()]
    described = "; ".join(f"{row.label}: {row.words}" for row in rows)
    drawing = svg(plots.bars(rows), key="scores", title=title, description=described)
    return Figure(title=title, svg=drawing)


def _table(scores: dict[str, float]) -> Table:
    rows = [
        (name, f"{score:.1f}", f"{HUMAN[name.partition(',')[0]]:.1f}")
        for name, score in scores.items()
    ]
    rows.append((ABSENT, _ABSENT_BECAUSE, f"{HUMAN[ABSENT]:.1f}"))
    return Table(
        caption="Human performance",
        columns=(text("Metric"), number("Score"), number("VizWiz-Captions")),
        rows=tuple(rows),
        note=(
            "In per cent, as published (CIDEr-D may exceed 100), as defined in "
            "coco-caption. METEOR 1.5 here has no synonyms or paraphrases; the "
            "published one has both. SPICE needs Java and downloads models."
        ),
    )
