"""Scores of captioning systems as a page of sections."""

from collections.abc import Iterable, Sequence
from typing import Any

from piecework.analyses.corpus.scoring import METRICS
from piecework.domain.text import count, plural
from piecework.report import plots
from piecework.report.comparison_plots import Mean, means
from piecework.report.components import (
    Column,
    Figure,
    KeyFigure,
    Quote,
    Section,
    Table,
    notes_of_remarks,
    number,
    table,
    text,
)
from piecework.report.corpus.comparison import HUMAN, SYSTEMS, SYSTEMS_BY_GROUP
from piecework.report.corpus.system_scores import GroupScores, SystemScores
from piecework.report.formatting import excerpt
from piecework.report.page import SectionsPage

_LABEL = 60
_SHORT = {"METEOR, exact and stem": "METEOR"}
_HEADERS: tuple[Column[Any], ...] = tuple(
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
                "Systems", count(len(scores.systems)), f"on {plural(scores.whole.images, 'image')}"
            ),
            KeyFigure("References", count(scores.references), "captions by people"),
            KeyFigure(
                "Best by CIDEr-D",
                f"{scores.whole.scores[best, _RANKED_BY]:.1f}",
                excerpt(scores.systems[best], limit=_LABEL),
            ),
        ),
        notes=notes_of_remarks(excerpt(remark, limit=400) for remark in scores.remarks),
        sections=[
            _overall(scores, published=published),
            *_pairs(scores),
            *_by_group(scores, published=published),
        ],
    )


def _overall(scores: SystemScores, *, published: bool) -> Section:
    order = _ranked(scores.whole)
    tables = [
        table(
            "Scores on all images",
            (
                (
                    _named(scores, place),
                    *(_with_interval(scores.whole, place, n) for n in range(len(METRICS))),
                )
                for place in order
            ),
            text("System"),
            *_HEADERS,
            note="B is BLEU; ± is half the width of the interval. METEOR matches words "
            "and stems here. It has no synonyms and no paraphrases, so it is lower "
            "than the full program's.",
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
    group = scores.whole
    rows = [
        Mean(
            scores.systems[place],
            mean=float(group.scores[place, _RANKED_BY]),
            low=float(group.low[place, _RANKED_BY]),
            high=float(group.high[place, _RANKED_BY]),
        )
        for place in order
    ]
    most = max(row.high for row in rows)
    return plots.figure(
        means(rows, ends=(0, most * 1.08 or 1), x_label="CIDEr-D, with its 95 % interval"),
        key="cider",
        title="CIDEr-D by system",
        description="; ".join(
            f"{excerpt(scores.systems[place], limit=_LABEL)}: "
            f"{_with_interval(group, place, _RANKED_BY)}"
            for place in order
        ),
    )


def _human(scores: SystemScores) -> Iterable[Table]:
    human = scores.human
    if human.scores:
        published = [HUMAN[_SHORT.get(metric, metric)] for metric in METRICS]
        yield table(
            "People, by the same metrics",
            (
                ("drawn from this dataset", *(f"{human.scores[metric]:.1f}" for metric in METRICS)),
                ("VizWiz-Captions, published", *(f"{score:.1f}" for score in published)),
            ),
            text("Captions"),
            *_HEADERS,
            note=f"One caption of each of {plural(human.images, 'easy image')} against "
            "the other captions of the image: one reference less than a system has.",
            is_wide=True,
        )


def _pairs(scores: SystemScores) -> Iterable[Section]:
    if len(scores.systems) < _TWO:
        return
    lead = (
        "A test exchanges the captions of two systems on random images, "
        f"{scores.resamples:,} times. p is adjusted for all pairs (Holm)."
    )
    yield Section(
        key="pairs",
        title="Which systems differ",
        lead=(lead,),
        tables=(
            table(
                "Differences in CIDEr-D",
                [of for of in scores.differences if of.metric == METRICS[_RANKED_BY]],
                text("System", lambda of: Quote(excerpt(of.first, limit=_LABEL))),
                text("Other system", lambda of: Quote(excerpt(of.second, limit=_LABEL))),
                number("Difference", lambda of: f"{of.difference:+.1f}"),
                number("95 % interval", lambda of: f"{of.low:+.1f} to {of.high:+.1f}"),
                number(
                    "p",
                    lambda of: (
                        f"< {_SMALLEST_P}"
                        if of.p_adjusted < _SMALLEST_P
                        else f"{of.p_adjusted:.3f}"
                    ),
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
            table(
                f"Scores by {excerpt(grouping, limit=_LABEL)}",
                (
                    (
                        _named(scores, place),
                        Quote(excerpt(group.group, limit=_LABEL)),
                        group.images,
                        *(f"{score:.1f}" for score in group.scores[place]),
                    )
                    for place in _ranked(scores.whole)
                    for group in groups
                ),
                text("System"),
                text("Group"),
                number("Images"),
                *_HEADERS,
                note="CIDEr-D weighs words by the references of the group alone. The "
                "JSON output has the intervals.",
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
    return table(
        caption,
        ((system, *(f"{value:.1f}" for value in values)) for system, values in rows),
        text("System"),
        *_HEADERS,
        note="As published. METEOR there has synonyms and paraphrases.",
        is_wide=True,
        is_folded=True,
    )


def _named(scores: SystemScores, place: int) -> Quote:
    return Quote(excerpt(scores.systems[place], limit=_LABEL))


def _ranked(group: GroupScores) -> list[int]:
    """Places of the systems, the best by CIDEr-D first."""
    return [int(place) for place in (-group.scores[:, _RANKED_BY]).argsort(kind="stable")]


def _with_interval(group: GroupScores, place: int, column: int) -> str:
    half = (group.high[place, column] - group.low[place, column]) / 2
    return f"{group.scores[place, column]:.1f} ±{half:.1f}"
