"""How well people describe what others describe, and how alike their captions are.

Human performance; how similar the captions of an image are; and how often captions answer
the question that came with the image: Table 2.
"""

from collections import Counter
from statistics import fmean, median

from piecework.analyses.corpus.captions import Answered
from piecework.domain.text import NOTHING, plural, share
from piecework.report import plots
from piecework.report.comparison_plots import Line, lines
from piecework.report.components import Figure, Gallery, Quote, Section, number, table, text
from piecework.report.corpus.comparison import ANSWERED_PERCENT, HUMAN
from piecework.report.corpus.concept_counts import card
from piecework.report.corpus.description import Description
from piecework.report.corpus.image_groups import ABSENT
from piecework.report.formatting import excerpt
from piecework.report.plots import Plot


def people_section(description: Description) -> Section | None:
    """Show the scores of one caption against the others; None without easy images."""
    human = description.human
    if not human.scores:
        return None
    absent = (ABSENT, "not computed")
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
        tables=(
            table(
                "Human performance",
                (*((name, f"{score:.1f}") for name, score in human.scores.items()), absent),
                text("Metric"),
                number("Score"),
                number("VizWiz-Captions", lambda row: f"{HUMAN[row[0].partition(',')[0]]:.1f}"),
                note="In per cent, as published (CIDEr-D may exceed 100), as defined in "
                "coco-caption. METEOR 1.5 here has no synonyms or paraphrases; the "
                "published one has both. SPICE needs Java and downloads models.",
            ),
        ),
    )


def _figure(scores: dict[str, float]) -> Figure:
    rows = [plots.Bar(name, score, f"{score:.1f}") for name, score in scores.items()]
    return plots.bar_figure(rows, key="scores", title="Scores of people's captions")


_SCALE = "specificity of the captions"
_BINS = 20
_TABLE_BINS = 5


def alike_section(description: Description) -> Section | None:
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
    plot, described = _histogram(values), _described(values)
    if there:
        plot = _curves((description.source, values), (other, there))
        described = f"Here: {described}. The other dataset: {_described(there)}"
    return Section(
        key="specificity",
        title="Specificity of the captions",
        lead=(lead, *beside, note),
        figures=(
            plots.figure(
                plot, key="specificities", title="Images by specificity", description=described
            ),
        ),
        tables=(
            table(
                "Specificity",
                _fifths(values),
                text("From, to"),
                number("Images"),
                number("Share", lambda row: share(row[1], len(values))),
            ),
        ),
        galleries=(
            Gallery(
                title="From the least to the most similar captions",
                cards=tuple(
                    card(example, description.pictures) for example in description.by_specificity
                ),
            ),
        ),
    )


def _described(values: list[float]) -> str:
    return "; ".join(f"{span}: {plural(many, 'image')}" for span, many in _fifths(values))


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


def _fifths(values: list[float]) -> list[tuple[str, int]]:
    counts = Counter(_place(value, _TABLE_BINS) for value in values)
    return [
        (f"{place / _TABLE_BINS:.1f} to {(place + 1) / _TABLE_BINS:.1f}", counts[place])
        for place in range(_TABLE_BINS)
    ]


def _place(value: float, bins: int) -> int:
    # A mean of ones may end a hair beside 1.
    return max(0, min(int(value * bins), bins - 1))


_KIND_CHARACTERS = 40


def answers_section(description: Description) -> Section | None:
    """Show the share of answered questions by kind and text; None without questions."""
    if not description.answered:
        return None
    whole = description.answered[0]
    lead = (
        f"For {share(whole.answered, whole.questions)} of "
        f"{plural(whole.questions, 'question')}, at least one caption of the image has "
        "the most popular answer in it."
    )
    return Section(
        key="answers",
        title="Do the captions answer people's questions",
        lead=(lead,),
        tables=(
            table(
                "Questions whose answer is in a caption",
                description.answered,
                text("Images", lambda row: row.images),
                text(
                    "Kind of answer", lambda row: Quote(excerpt(row.kind, limit=_KIND_CHARACTERS))
                ),
                number("Questions", lambda row: row.questions),
                number("Answered", lambda row: row.answered),
                number("Share", lambda row: share(row.answered, row.questions)),
                number("VizWiz-Captions", _published),
                note="An answer must occur as whole words, in any case. The paper's other row, "
                "32 % of a sample of 300, is a person's judgement of what the captions say "
                "and is not computed.",
                is_wide=True,
            ),
        ),
    )


def _published(row: Answered) -> str:
    percent = ANSWERED_PERCENT.get(row.images, {}).get(row.kind)
    return NOTHING if percent is None else f"{percent} %"
