"""Scores of captioning systems against a dataset, in one value."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from piecework.analyses.corpus import scoring
from piecework.analyses.corpus.captions import Corpus
from piecework.analyses.corpus.metrics.pairs import Tokens
from piecework.analyses.corpus.scoring import METRICS, Array, Difference
from piecework.analyses.corpus.tokens import tokens
from piecework.domain.counts import plural
from piecework.domain.errors import ConfigError
from piecework.report.corpus.human import (
    MOST_TOKENS,
    HumanPerformance,
    human_performance,
)
from piecework.report.corpus.image_groups import in_order

FEWEST_IMAGES = 2
"""CIDEr-D compares images, so a group of one has none."""

_NAMED = 5
_FOREIGN = 0.2
"""Below this share of known words, captions are hardly in the dataset's language."""


@dataclass(frozen=True, kw_only=True)
class GroupScores:
    """Scores on some of the images.

    Attributes:
        grouping: "" for all images, else what they are grouped by.
        group: the group's name.
        images: how many it has.
        scores: shape (systems, metrics), in per cent.
        low: lower ends of the intervals, of the same shape.
        high: upper ends.
    """

    grouping: str
    group: str
    images: int
    scores: Array
    low: Array
    high: Array


@dataclass(frozen=True, kw_only=True)
class SystemScores:
    """What there is to know about some systems on one dataset.

    Attributes:
        source: the dataset's name.
        remarks: what a reader has to know, a sentence each.
        systems: names, as in the files.
        whole: scores on all images.
        groups: scores by group of images, in order.
        differences: every two systems by every metric, in per cent.
        human: people's captions against the other captions of easy images.
    """

    source: str
    remarks: Sequence[str]
    systems: Sequence[str]
    references: int
    whole: GroupScores
    groups: Sequence[GroupScores]
    differences: Sequence[Difference]
    human: HumanPerformance
    resamples: int
    seed: int

    def as_dict(self) -> dict[str, object]:
        """For programs: scores in per cent, CIDEr-D times 100."""
        return {
            "dataset": self.source,
            "remarks": list(self.remarks),
            "metrics": list(METRICS),
            "references": self.references,
            "resamples": self.resamples,
            "seed": self.seed,
            "scores": [
                row for group in (self.whole, *self.groups) for row in self._rows(group)
            ],
            "differences": [asdict(difference) for difference in self.differences],
            "human_performance": asdict(self.human),
        }

    def _rows(self, group: GroupScores) -> Iterable[dict[str, object]]:
        for place, system in enumerate(self.systems):
            yield {
                "system": system,
                "by": group.grouping or None,
                "group": group.group or None,
                "images": group.images,
                "scores": {
                    metric: {
                        "score": float(group.scores[place, column]),
                        "low": float(group.low[place, column]),
                        "high": float(group.high[place, column]),
                    }
                    for column, metric in enumerate(METRICS)
                },
            }


def score_systems(
    corpus: Corpus,
    systems: Mapping[str, Mapping[str, str]],
    *,
    groupings: Mapping[str, Mapping[str, str]],
    resamples: int,
    seed: int,
    name: str,
) -> SystemScores:
    """Score every system on the images of a dataset that have a caption by a person.

    Args:
        corpus: the dataset; captions that were rejected or canned are no references.
        systems: captions by system and image id.
        groupings: by name, the group of each image.
        resamples: of the images for intervals, and exchanges for tests.
        seed: equal seeds give equal results.
        name: the dataset's, for messages.

    Raises:
        ConfigError: captions are missing or about images that the dataset lacks, or
            nothing can be scored.
    """
    references = _references(corpus)
    if len(references) < FEWEST_IMAGES:
        raise ConfigError(
            [
                (
                    f"{name}: {plural(len(references), 'image')} with a caption by a "
                    f"person; scores need at least {FEWEST_IMAGES}"
                )
            ]
        )
    _check(corpus, references, systems, name=name)
    words = {
        system: {image: tokens(captions[image])[:MOST_TOKENS] for image in references}
        for system, captions in systems.items()
    }
    measured = scoring.measure(references, words)
    return SystemScores(
        source=corpus.source,
        remarks=[*corpus.remarks, *_remarks(corpus, references, words)],
        systems=[*systems],
        references=sum(map(len, references.values())),
        whole=_scored(measured, "", "", resamples=resamples, seed=seed),
        groups=[
            _scored(
                scoring.within(measured, images, references, words),
                grouping,
                group,
                resamples=resamples,
                seed=seed,
            )
            for grouping, group, images in _groups(references, groupings)
        ],
        differences=[
            _in_per_cent(difference)
            for difference in scoring.differences(
                measured, resamples=resamples, seed=seed
            )
        ],
        human=human_performance(corpus, seed=seed),
        resamples=resamples,
        seed=seed,
    )


def _references(corpus: Corpus) -> dict[str, list[Tokens]]:
    references: dict[str, list[Tokens]] = {}
    for caption in corpus.novel:
        if words := tokens(caption.text)[:MOST_TOKENS]:
            references.setdefault(caption.image, []).append(words)
    return references


def _check(
    corpus: Corpus,
    references: Mapping[str, object],
    systems: Mapping[str, Mapping[str, str]],
    *,
    name: str,
) -> None:
    known = {*corpus.images, *references}
    faults = []
    for system, captions in systems.items():
        unknown = [image for image in captions if image not in known]
        missing = [image for image in references if image not in captions]
        if len(unknown) == len(captions):
            faults.append(
                f"{system}: none of its {plural(len(captions), 'image')} is in {name}, "
                f"for example {_some(unknown)}, while {name} has {_some(references)}; "
                "score predictions for the same split, with the same ids"
            )
            continue
        if unknown:
            faults.append(
                f"{system}: {plural(len(unknown), 'image')} not in {name}: "
                f"{_some(unknown)}; leave out images of other splits"
            )
        if missing:
            faults.append(
                f"{system}: no caption for {plural(len(missing), 'image')} of "
                f"{len(references):,}: {_some(missing)}; add them, with an empty "
                "caption where the system has none"
            )
    if faults:
        raise ConfigError(faults)


def _some(images: Iterable[str]) -> str:
    named = [*images]
    more = ", ..." if len(named) > _NAMED else ""
    return ", ".join(repr(image[:60]) for image in named[:_NAMED]) + more


def _remarks(
    corpus: Corpus,
    references: Mapping[str, Sequence[Tokens]],
    systems: Mapping[str, Mapping[str, Tokens]],
) -> Iterable[str]:
    images = {*corpus.images, *corpus.accepted}
    if without := len(images - references.keys()):
        yield (f"{plural(without, 'image')} without a caption by a person: not scored.")
    vocabulary = {
        word
        for of_image in references.values()
        for reference in of_image
        for word in reference
    }
    for system, captions in systems.items():
        if empty := sum(not words for words in captions.values()):
            yield f"{system}: {plural(empty, 'caption')} without a word; each scores 0."
        used = Counter(word for words in captions.values() for word in words)
        known = sum(many for word, many in used.items() if word in vocabulary)
        if used and known < _FOREIGN * used.total():
            yield (
                f"{system}: people use only {100 * known / used.total():.0f} % of its "
                "words in this dataset. Is it in the dataset's language?"
            )


def _groups(
    references: Mapping[str, object], groupings: Mapping[str, Mapping[str, str]]
) -> Iterable[tuple[str, str, list[str]]]:
    for grouping, group_of in groupings.items():
        groups: dict[str, list[str]] = {}
        for image in references:
            if group := group_of.get(image):
                groups.setdefault(group, []).append(image)
        for group in in_order(groups):
            if len(groups[group]) >= FEWEST_IMAGES:
                yield grouping, group, groups[group]


def _scored(
    measured: scoring.Measured,
    grouping: str,
    group: str,
    *,
    resamples: int,
    seed: int,
) -> GroupScores:
    low, high = scoring.intervals(measured, resamples=resamples, seed=seed)
    return GroupScores(
        grouping=grouping,
        group=group,
        images=len(measured.images),
        scores=100 * np.asarray(measured.scores),
        low=100 * low,
        high=100 * high,
    )


def _in_per_cent(difference: Difference) -> Difference:
    return Difference(
        first=difference.first,
        second=difference.second,
        metric=difference.metric,
        difference=100 * difference.difference,
        low=100 * difference.low,
        high=100 * difference.high,
        p_value=difference.p_value,
        p_adjusted=difference.p_adjusted,
    )
