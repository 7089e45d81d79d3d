"""Scores of detectors against people's objects, and their page."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from piecework.analyses.detections import (
    MEASURES,
    MOST_DETECTIONS,
    Resampled,
    averages,
    interval,
    matched_detections,
    mean_of,
    resampled,
)
from piecework.domain.text import count, plural
from piecework.postprocess.datasets.detections import Detections, PeoplesObjects
from piecework.report import plots
from piecework.report.comparison_plots import Mean, means
from piecework.report.components import (
    Column,
    Figure,
    KeyFigure,
    Quote,
    Section,
    notes_of_remarks,
    number,
    table,
    text,
)
from piecework.report.formatting import excerpt
from piecework.report.page import SectionsPage

Floats = npt.NDArray[np.float64]

_PER_CENT = 100
_LABEL = 60
_LONG = {
    "AP": "mean average precision at an IoU of 0.50 to 0.95",
    "AP50": "average precision at an IoU of 0.50",
    "AP75": "average precision at an IoU of 0.75",
    "AR": f"average recall with up to {MOST_DETECTIONS} detections",
}
_HEADERS: tuple[Column[Any], ...] = tuple(number(name, spoken=_LONG[name]) for name in MEASURES)
_BY = MEASURES.index("AP")


@dataclass(frozen=True, kw_only=True)
class DetectorScores:
    """How well detectors find people's objects, in per cent.

    Attributes:
        source: the file of the objects.
        remarks: what a reader has to know, a sentence each.
        systems: names, as in the files.
        by_outline: whether outlines were compared, not boxes.
        images: how many there are; so of objects and crowds.
        labels: names of the categories.
        objects_of: how many objects each category has.
        means: shape (systems, measures).
        of_categories: shape (systems, categories, measures); NaN without an object.
        draws: the same measures, in resamples of the images.
        resamples: their number.
        seed: of the draws.
    """

    source: str
    remarks: Sequence[str]
    systems: Sequence[str]
    by_outline: bool
    images: int
    objects: int
    crowds: int
    labels: Sequence[str]
    objects_of: Sequence[int]
    means: Floats
    of_categories: Floats
    draws: Resampled
    resamples: int
    seed: int

    @property
    def ranked(self) -> list[int]:
        """Places of the systems, the best first."""
        return [int(place) for place in (-self.means[:, _BY]).argsort(kind="stable")]

    @property
    def differences(self) -> list[dict[str, object]]:
        """How far the average precision of every two systems differs, on the same resamples."""
        listed = []
        for first, second in combinations(self.ranked, 2):
            drawn = self.draws.means[:, first, _BY] - self.draws.means[:, second, _BY]
            low, high = interval(drawn)
            listed.append(
                {
                    "first": self.systems[first],
                    "second": self.systems[second],
                    "difference": float(self.means[first, _BY] - self.means[second, _BY]),
                    "low": low,
                    "high": high,
                }
            )
        return listed

    def measure(self, system: int, place: int) -> dict[str, float]:
        """Return a mean measure of a system with its 95 % interval."""
        low, high = interval(self.draws.means[:, system, place])
        return {"score": float(self.means[system, place]), "low": low, "high": high}

    def as_dict(self) -> dict[str, object]:
        """Convert for programs."""
        return {
            "dataset": self.source,
            "remarks": list(self.remarks),
            "marks": "outlines" if self.by_outline else "boxes",
            "images": self.images,
            "objects": self.objects,
            "crowds": self.crowds,
            "measures": list(MEASURES),
            "resamples": self.resamples,
            "seed": self.seed,
            "scores": [
                {
                    "system": name,
                    "scores": {
                        measure: self.measure(system, place)
                        for place, measure in enumerate(MEASURES)
                    },
                    "categories": [*self._categories(system)],
                }
                for system, name in enumerate(self.systems)
            ],
            "differences": self.differences,
        }

    def _categories(self, system: int) -> Iterable[dict[str, object]]:
        for place, label in enumerate(self.labels):
            if self.objects_of[place]:
                values = self.of_categories[system, place].tolist()
                low, high = interval(self.draws.categories[:, system, place])
                yield {
                    "category": label,
                    "objects": self.objects_of[place],
                    **dict(zip(MEASURES, values, strict=True)),
                    "low": low,
                    "high": high,
                }


def score_detectors(
    people: PeoplesObjects, systems: Mapping[str, Detections], *, resamples: int, seed: int
) -> DetectorScores:
    """Score every detector on the images of a dataset.

    Args:
        people: the dataset.
        systems: detections by system.
        resamples: of the images, for intervals.
        seed: equal seeds give equal results.

    Raises:
        ConfigError: the library that matches detections is not installed.
    """
    by_outline = people.have_outlines and all(each.have_outlines for each in systems.values())
    images = len(people.sizes)
    matches = [
        matched_detections(
            people.objects,
            each.listed,
            images=images,
            categories=len(people.labels),
            by_outline=by_outline,
        )
        for each in systems.values()
    ]
    of_categories = np.array([averages(of, np.ones(images)) for of in matches]) * _PER_CENT
    drawn = resampled(matches, images=images, resamples=resamples, seed=seed)
    objects_of = [0] * len(people.labels)
    for seen in people.objects:
        objects_of[seen.category] += not seen.is_crowd
    return DetectorScores(
        source=str(people.path),
        remarks=[*_remarks(people, systems, by_outline=by_outline)],
        systems=[*systems],
        by_outline=by_outline,
        images=images,
        objects=sum(objects_of),
        crowds=len(people.objects) - sum(objects_of),
        labels=[*people.labels.values()],
        objects_of=objects_of,
        means=np.array([mean_of(each) for each in of_categories]),
        of_categories=of_categories,
        draws=Resampled(drawn.means * _PER_CENT, drawn.categories * _PER_CENT),
        resamples=resamples,
        seed=seed,
    )


def _remarks(
    people: PeoplesObjects, systems: Mapping[str, Detections], *, by_outline: bool
) -> Iterable[str]:
    for name, detections in systems.items():
        if detections.left_out:
            counted = plural(detections.left_out, "detection")
            yield f"{name}: {counted} in images that {people.path.name} does not list do not count."
        if people.have_outlines and not by_outline and not detections.have_outlines:
            yield f"{name} has no outline of some detections, so boxes are compared."


def detectors_page(scores: DetectorScores) -> SectionsPage:
    """Everything about the detectors; the terminal and the page show the same."""
    order = scores.ranked
    best = scores.measure(order[0], _BY)
    first = excerpt(scores.systems[order[0]], limit=_LABEL)
    compared = "outlines" if scores.by_outline else "boxes"
    return SectionsPage(
        source=scores.source,
        kicker="Detectors against people's objects",
        title="how well detectors find its objects",
        purpose=(
            f"Scores are in per cent, by COCO's definitions, and compare {compared}. An "
            "interval covers 95 % of the resamples of the images."
        ),
        key_figures=(
            KeyFigure("Systems", count(len(order)), f"on {plural(scores.images, 'image')}"),
            KeyFigure("Objects", count(scores.objects), plural(scores.crowds, "crowd")),
            KeyFigure("Best by AP", f"{best['score']:.1f}", first),
        ),
        notes=notes_of_remarks(excerpt(remark, limit=400) for remark in scores.remarks),
        sections=[_overall(scores), *_pairs(scores), _by_category(scores)],
    )


def _named(scores: DetectorScores, system: int) -> Quote:
    return Quote(excerpt(scores.systems[system], limit=_LABEL))


def _overall(scores: DetectorScores) -> Section:
    rows = [
        (
            _named(scores, system),
            *(_with_interval(scores.measure(system, n)) for n in range(len(MEASURES))),
        )
        for system in scores.ranked
    ]
    return Section(
        key="systems",
        title="How well the detectors do",
        figures=(_figure(scores),),
        tables=(
            table(
                "Scores on all images",
                rows,
                text("System"),
                *_HEADERS,
                note="AP is the mean over IoU from 0.50 to 0.95, AP50 and AP75 are at one IoU; "
                f"AR is the recall with up to {MOST_DETECTIONS} detections of a category in an "
                "image. Crowds do not count. ± is half the width of the interval.",
                is_wide=True,
            ),
        ),
    )


def _figure(scores: DetectorScores) -> Figure:
    measured = [(system, scores.measure(system, _BY)) for system in scores.ranked]
    rows = [
        Mean(scores.systems[system], mean=each["score"], low=each["low"], high=each["high"])
        for system, each in measured
    ]
    most = max(row.high for row in rows)
    return plots.figure(
        means(rows, ends=(0, most * 1.08 or 1), x_label="AP, with its 95 % interval"),
        key="ap",
        title="AP by system",
        description="; ".join(
            f"{excerpt(scores.systems[system], limit=_LABEL)}: {_with_interval(each)}"
            for system, each in measured
        ),
    )


def _pairs(scores: DetectorScores) -> Iterable[Section]:
    if not scores.differences:
        return
    yield Section(
        key="pairs",
        title="Which detectors differ",
        lead=("Both are measured on the same resamples, so what is hard for both cancels.",),
        tables=(
            table(
                "Differences in AP",
                scores.differences,
                text("System", lambda of: Quote(excerpt(str(of["first"]), limit=_LABEL))),
                text("Other system", lambda of: Quote(excerpt(str(of["second"]), limit=_LABEL))),
                number("Difference", lambda of: f"{of['difference']:+.1f}"),
                number("95 % interval", lambda of: f"{of['low']:+.1f} to {of['high']:+.1f}"),
                is_wide=True,
            ),
        ),
    )


def _by_category(scores: DetectorScores) -> Section:
    places = [place for place, objects in enumerate(scores.objects_of) if objects]
    places.sort(key=lambda place: (-scores.objects_of[place], scores.labels[place]))
    rows = [
        (
            Quote(excerpt(scores.labels[place], limit=_LABEL)),
            scores.objects_of[place],
            _named(scores, system),
            *(f"{value:.1f}" for value in scores.of_categories[system, place]),
        )
        for place in places
        for system in scores.ranked
    ]
    return Section(
        key="categories",
        title="Scores by category",
        tables=(
            table(
                "Scores of each category",
                rows,
                text("Category"),
                number("Objects"),
                text("System"),
                *_HEADERS,
                note="The mean over these categories is the score of a system. The JSON output "
                "has the intervals.",
                is_wide=True,
            ),
        ),
    )


def _with_interval(measured: Mapping[str, float]) -> str:
    return f"{measured['score']:.1f} ±{(measured['high'] - measured['low']) / 2:.1f}"
