"""Scores of captioning systems against a dataset, in one value."""

import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from piecework.analyses.corpus import scoring
from piecework.analyses.corpus.caption_metrics import Tokens
from piecework.analyses.corpus.captions import Corpus, tokens
from piecework.analyses.corpus.scoring import METRICS, Array, Difference
from piecework.domain.errors import ConfigError
from piecework.domain.text import plural
from piecework.postprocess.datasets.predictions import Predictions
from piecework.report.corpus.image_groups import (
    MOST_TOKENS,
    HumanPerformance,
    human_performance,
    in_order,
)
from piecework.report.formatting import excerpt

FEWEST_IMAGES = 2
"""CIDEr-D compares images, so a group of one has none."""

_NAMED = 5
_QUOTED = 60
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
            "scores": [row for group in (self.whole, *self.groups) for row in self._rows(group)],
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
    systems: Mapping[str, Predictions],
    *,
    groupings: Mapping[str, Mapping[str, str]],
    resamples: int,
    seed: int,
    dataset: Path,
    files: Mapping[Path, frozenset[str]],
) -> SystemScores:
    """Score every system on the images of a dataset that have a caption by a person.

    Args:
        corpus: the dataset; captions that were rejected or canned are no references.
        systems: captions by system and image id.
        groupings: by name, the group of each image.
        resamples: of the images for intervals, and exchanges for tests.
        seed: equal seeds give equal results.
        dataset: where the captions of people were read.
        files: by path, the ids of the images in files that may be scored against
            instead.

    Raises:
        ConfigError: captions are missing, or about images that the dataset lacks, or
            hardly have a word that people used; or nothing can be scored.
    """
    references = _references(corpus)
    if len(references) < FEWEST_IMAGES:
        raise ConfigError(
            [
                (
                    f"{dataset}: {plural(len(references), 'image')} with a caption by "
                    f"a person; scores need at least {FEWEST_IMAGES}"
                )
            ]
        )
    _check_images(corpus, references, systems, dataset=dataset, files=files)
    words = {
        system: {image: tokens(captions[image].text)[:MOST_TOKENS] for image in references}
        for system, captions in systems.items()
    }
    _check_words(references, systems, words, dataset=dataset)
    measured = scoring.measure(references, words)
    return SystemScores(
        source=corpus.source,
        remarks=[*corpus.remarks, *_remarks(corpus, references, systems, words)],
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
            for difference in scoring.differences(measured, resamples=resamples, seed=seed)
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


def _check_images(
    corpus: Corpus,
    references: Mapping[str, object],
    systems: Mapping[str, Predictions],
    *,
    dataset: Path,
    files: Mapping[Path, frozenset[str]],
) -> None:
    known = {*corpus.images, *references}
    faults = []
    for system, captions in systems.items():
        unknown = [image for image in captions if image not in known]
        missing = [image for image in references if image not in captions]
        file = next(iter(captions.values())).file
        where = f"{file}: system {system!r}"
        better = _better_file(captions, references, dataset=dataset, files=files)
        command = ["piecework", "data", "score", str(file), "--against", str(better)]
        instead = f"; run: {shlex.join(command)}" if better else ""
        if len(unknown) == len(captions):
            faults.append(
                f"{where}: none of its {plural(len(captions), 'image')} is in "
                f"{dataset}. Its ids are {_some(unknown)}; the dataset's are "
                f"{_some(references)}"
                + (instead or "; predict the images of this dataset, with its ids")
            )
            continue
        if unknown:
            first = captions[unknown[0]]
            faults.append(
                f"{where}: {plural(len(unknown), 'image')} not in {dataset}: "
                f"{_some(unknown)}, the first at {first.place}"
                + (instead or "; leave out images of other splits")
            )
        if missing:
            faults.append(
                f"{where}: no caption for {plural(len(missing), 'image')} of "
                f"{len(references):,}: {_some(missing)}"
                + (instead or "; add entries, with an empty caption where the system has none")
            )
    if faults:
        raise ConfigError(faults)


def _better_file(
    captions: Collection[str],
    references: Collection[str],
    *,
    dataset: Path,
    files: Mapping[Path, frozenset[str]],
) -> Path | None:
    """Return the file that has all images of these captions, and no others to score."""
    for path, images in files.items():
        has_all = images.issuperset(captions)
        lacking = (image in images and image not in captions for image in references)
        if path != dataset and has_all and not any(lacking):
            return path
    return None


def _check_words(
    references: Mapping[str, Sequence[Tokens]],
    systems: Mapping[str, Predictions],
    words: Mapping[str, Mapping[str, Tokens]],
    *,
    dataset: Path,
) -> None:
    vocabulary = {
        word for of_image in references.values() for reference in of_image for word in reference
    }
    faults = []
    for system, captions in words.items():
        made = systems[system]
        first = next(made[image] for image in made if image in captions)
        used = Counter(word for caption in captions.values() for word in caption)
        known = sum(many for word, many in used.items() if word in vocabulary)
        if not used:
            faults.append(
                f"{first.file}: none of the {plural(len(captions), 'caption')} of "
                f"system {system!r} has a word, for example {first.place}; write the "
                "captions to the file again"
            )
        elif known < _FOREIGN * used.total():
            faults.append(
                f"{first.file}: people use only {100 * known / used.total():.0f} % of "
                f"the words of system {system!r} in {dataset}, for example "
                f"{first.place}: {excerpt(first.text, limit=_QUOTED)!r}; score "
                "captions in the dataset's language"
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
    systems: Mapping[str, Predictions],
    words: Mapping[str, Mapping[str, Tokens]],
) -> Iterable[str]:
    images = {*corpus.images, *corpus.accepted}
    if without := len(images - references.keys()):
        yield (f"{plural(without, 'image')} without a caption by a person: not scored.")
    for system, captions in words.items():
        empty = [systems[system][image] for image, text in captions.items() if not text]
        if empty:
            places = ", ".join(made.place for made in empty[:_NAMED])
            more = ", ..." if len(empty) > _NAMED else ""
            yield (
                f"{system}: {plural(len(empty), 'caption')} without a word; each "
                f"scores 0 ({empty[0].file}, {places}{more})."
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
    measured: scoring.Measured, grouping: str, group: str, *, resamples: int, seed: int
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
    return replace(
        difference,
        difference=100 * difference.difference,
        low=100 * difference.low,
        high=100 * difference.high,
    )
