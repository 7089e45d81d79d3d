"""Scores of captioning systems as a page of sections."""

from collections.abc import Iterable, Sequence

from piecework.analyses.corpus.scoring import METRICS
from piecework.domain.text import count, plural
from piecework.report import plots
from piecework.report.components import (
    Cell,
    Figure,
    KeyFigure,
    Note,
    Quote,
    Section,
    Table,
    number,
    text,
)
from piecework.report.corpus.published import HUMAN, SYSTEMS, SYSTEMS_BY_GROUP
from piecework.report.corpus.system_scores import GroupScores, SystemScores
from piecework.report.formatting import excerpt
from piecework.report.page import SectionsPage
from piecework.report.plots import draw_svg

_LABEL = 60
_SHORT = {"METEOR, exact and stem": "METEOR"}
_HEADERS = tuple(
    number(_SHORT.get(metric, metric.replace("BLEU", "B")), spoken=metric) for metric in METRICS
)
_RANKED_BY = len(METRICS) - 1
_SMALLEST_P = 0.001
_TWO = 2


def system_page(scores: SystemScores, *, published: bool) -> SectionsPage:
    """Everything about the systems; the terminal and the page show the same.

    Args:
        scores: what was computed.
        published: whether to add the results that the VizWiz-Captions paper reports.
    """
    best = int(scores.whole.scores[:, _RANKED_BY].argmax())
    return SectionsPage(
        source=scores.source,
        kicker="Captioning systems against people's captions",
        purpose=(
            "Scores are in per cent, by the definitions of coco-caption. An interval "
            "covers 95 % of the resamples of the images."
        ),
        key_figures=(
            KeyFigure(
                label="Systems",
                value=count(len(scores.systems)),
                beside=f"on {plural(scores.whole.images, 'image')}",
            ),
            KeyFigure(
                label="References", value=count(scores.references), beside="captions by people"
            ),
            KeyFigure(
                label="Best by CIDEr-D",
                value=f"{scores.whole.scores[best, _RANKED_BY]:.1f}",
                beside=excerpt(scores.systems[best], limit=_LABEL),
            ),
        ),
        notes=[Note("watch", excerpt(remark, limit=400)) for remark in scores.remarks],
        sections=[
            _overall(scores, published=published),
            *_pairs(scores),
            *_by_group(scores, published=published),
        ],
    )


def _overall(scores: SystemScores, *, published: bool) -> Section:
    order = _ranked(scores.whole)
    tables = [
        Table(
            caption="Scores on all images",
            columns=(text("System"), *_HEADERS),
            rows=tuple(
                (Quote(excerpt(scores.systems[place], limit=_LABEL)), *_cells(scores.whole, place))
                for place in order
            ),
            note=(
                "B is BLEU; ± is half the width of the interval. METEOR matches words "
                "and stems here. It has no synonyms and no paraphrases, so it is lower "
                "than the full program's."
            ),
            is_wide=True,
        ),
        *_human(scores),
    ]
    if published:
        tables.append(
            _published("VizWiz-Captions, Table 3: the test set, 8,000 images", SYSTEMS.items())
        )
    return Section(
        key="systems",
        title="How well the systems do",
        lead=(_lead(scores, order),),
        figures=(_figure(scores, order),),
        tables=tuple(tables),
    )


def _lead(scores: SystemScores, order: Sequence[int]) -> str:
    of_best = scores.whole.scores[order[0], _RANKED_BY]
    name = excerpt(scores.systems[order[0]], limit=_LABEL)
    if len(order) == 1:
        return f"CIDEr-D of {name} is {of_best:.1f}."
    of_second = scores.whole.scores[order[1], _RANKED_BY]
    second = excerpt(scores.systems[order[1]], limit=_LABEL)
    return f"By CIDEr-D, {name} is best with {of_best:.1f}, before {second} with {of_second:.1f}."


def _figure(scores: SystemScores, order: Sequence[int]) -> Figure:
    title = "CIDEr-D by system"
    bars = [
        plots.Bar(
            excerpt(scores.systems[place], limit=_LABEL),
            float(scores.whole.scores[place, _RANKED_BY]),
            _with_interval(scores.whole, place, _RANKED_BY),
        )
        for place in order
    ]
    described = "; ".join(f"{bar.label}: {bar.words}" for bar in bars)
    drawing = draw_svg(plots.bars(bars), key="cider", title=title, description=described)
    return Figure(title=title, svg=drawing)


def _human(scores: SystemScores) -> Iterable[Table]:
    human = scores.human
    if human.scores:
        yield Table(
            caption="People, by the same metrics",
            columns=(text("Captions"), *_HEADERS),
            rows=(
                ("drawn from this dataset", *(f"{human.scores[metric]:.1f}" for metric in METRICS)),
                (
                    "VizWiz-Captions, published",
                    *(f"{HUMAN[_SHORT.get(metric, metric)]:.1f}" for metric in METRICS),
                ),
            ),
            note=(
                f"One caption of each of {plural(human.images, 'easy image')} against "
                "the other captions of the image: one reference less than a system has."
            ),
            is_wide=True,
        )


def _pairs(scores: SystemScores) -> Iterable[Section]:
    if len(scores.systems) < _TWO:
        return
    shown = [
        difference for difference in scores.differences if difference.metric == METRICS[_RANKED_BY]
    ]
    lead = (
        "A test exchanges the captions of two systems on random images, "
        f"{scores.resamples:,} times. p is adjusted for all pairs (Holm)."
    )
    yield Section(
        key="pairs",
        title="Which systems differ",
        lead=(lead,),
        tables=(
            Table(
                caption="Differences in CIDEr-D",
                columns=(
                    text("System"),
                    text("Other system"),
                    number("Difference"),
                    number("95 % interval"),
                    number("p"),
                ),
                rows=tuple(
                    (
                        Quote(excerpt(difference.first, limit=_LABEL)),
                        Quote(excerpt(difference.second, limit=_LABEL)),
                        f"{difference.difference:+.1f}",
                        f"{difference.low:+.1f} to {difference.high:+.1f}",
                        _p(difference.p_adjusted),
                    )
                    for difference in shown
                ),
                note="All metrics are in the JSON output.",
                is_wide=True,
            ),
        ),
    )


def _by_group(scores: SystemScores, *, published: bool) -> Iterable[Section]:
    groupings = dict.fromkeys(group.grouping for group in scores.groups)
    for grouping in groupings:
        groups = [group for group in scores.groups if group.grouping == grouping]
        tables = [
            Table(
                caption=f"Scores by {excerpt(grouping, limit=_LABEL)}",
                columns=(text("System"), text("Group"), number("Images"), *_HEADERS),
                rows=tuple(
                    (
                        Quote(excerpt(scores.systems[place], limit=_LABEL)),
                        Quote(excerpt(group.group, limit=_LABEL)),
                        count(group.images),
                        *(f"{score:.1f}" for score in group.scores[place]),
                    )
                    for place in _ranked(scores.whole)
                    for group in groups
                ),
                note=(
                    "CIDEr-D weighs words by the references of the group alone. The "
                    "JSON output has the intervals."
                ),
                is_wide=True,
            )
        ]
        if published:
            names = {group.group for group in groups}
            rows = [
                (f"{system}, {group}", values)
                for system, by_group in SYSTEMS_BY_GROUP.items()
                for group, values in by_group.items()
                if group in names
            ]
            if rows:
                tables.append(_published("VizWiz-Captions, Table 4", rows))
        yield Section(
            key=f"by-{len(tables)}-{[*groupings].index(grouping)}",
            title=f"Scores by {excerpt(grouping, limit=_LABEL)}",
            tables=tuple(tables),
        )


def _published(caption: str, rows: Iterable[tuple[str, Sequence[float]]]) -> Table:
    return Table(
        caption=caption,
        columns=(text("System"), *_HEADERS),
        rows=tuple((system, *(f"{value:.1f}" for value in values)) for system, values in rows),
        note="As published. METEOR there has synonyms and paraphrases.",
        is_wide=True,
        is_folded=True,
    )


def _ranked(group: GroupScores) -> list[int]:
    """Places of the systems, the best by CIDEr-D first."""
    return [int(place) for place in (-group.scores[:, _RANKED_BY]).argsort(kind="stable")]


def _cells(group: GroupScores, place: int) -> tuple[Cell, ...]:
    return tuple(_with_interval(group, place, column) for column in range(len(METRICS)))


def _with_interval(group: GroupScores, place: int, column: int) -> str:
    half = (group.high[place, column] - group.low[place, column]) / 2
    return f"{group.scores[place, column]:.1f} ±{half:.1f}"


def _p(value: float) -> str:
    return f"< {_SMALLEST_P}" if value < _SMALLEST_P else f"{value:.3f}"
