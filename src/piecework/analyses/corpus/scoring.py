"""Scores of captioning systems, with intervals and paired tests.

Each metric is a function of numbers that add up over images (BLEU and METEOR divide
sums, ROUGE-L and CIDEr-D are means). So a system is measured once per image, and a
resample of the images is a weighted sum of what was measured.

Intervals are percentile bootstraps over images (P. Koehn, "Statistical significance
tests for machine translation evaluation", EMNLP 2004). Tests are paired approximate
randomisation (S. Riezler and J. Maxwell, ACL 2005 workshop on evaluation measures):
two systems of equal quality may exchange their captions of any image.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields
from itertools import combinations

import numpy as np
import numpy.typing as npt
from sacrebleu.metrics.bleu import BLEU

from piecework.analyses.corpus import caption_metrics
from piecework.analyses.corpus.caption_metrics import Pair, Tokens, Weights

METRICS = ("BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "METEOR, exact and stem", "ROUGE-L", "CIDEr-D")

Array = npt.NDArray[np.float64]

_Image = tuple[Sequence[Tokens], Sequence[Tokens]]
"""The references of an image, and the caption of each system."""

_ORDERS = 4
_METEOR = [field.name for field in fields(caption_metrics.MeteorStats)]
_LENGTHS = 2 * _ORDERS
_METEOR_AT = _LENGTHS + 2
_MEANS_AT = _METEOR_AT + len(_METEOR)
COLUMNS = _MEANS_AT + 2
"""BLEU's matches, totals and two lengths, METEOR's stats, ROUGE-L and CIDEr-D."""

_PART = 250
"""Images that a process measures at a time."""

_WORTH_PROCESSES = 5_000
"""Captions: fewer are measured sooner than processes start."""

_AT_ONCE = 250
"""Resamples per matrix product: 250 x 7,750 images take 16 MB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was measured of each system, image by image.

    Attributes:
        images: their ids.
        systems: their names.
        stats: shape (systems, images, `COLUMNS`); they add up over images.
    """

    images: Sequence[str]
    systems: Sequence[str]
    stats: Array

    @property
    def scores(self) -> Array:
        """Shape (systems, metrics); each in [0, 1], CIDEr-D in [0, 10]."""
        return scores_of(self.stats.sum(axis=1), len(self.images))


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Two systems compared by one metric.

    Attributes:
        difference: the first's score minus the second's.
        low: the lower end of the bootstrap interval of the difference.
        high: its upper end.
        p_value: two-sided, by randomisation.
        p_adjusted: after Holm, over all pairs of systems in this metric.
    """

    first: str
    second: str
    metric: str
    difference: float
    low: float
    high: float
    p_value: float
    p_adjusted: float


def measure(
    references: Mapping[str, Sequence[Tokens]], systems: Mapping[str, Mapping[str, Tokens]]
) -> Measured:
    """Measure captions of systems against references.

    Args:
        references: by image, at least one, each with at least one token.
        systems: by system and image; every image of `references` has a caption, which
            may be without tokens and then scores 0.
    """
    images = [
        (of_image, [captions[image] for captions in systems.values()])
        for image, of_image in references.items()
    ]
    stats = np.zeros((len(systems), len(images), COLUMNS))
    parts = [images[start : start + _PART] for start in range(0, len(images), _PART)]
    if len(systems) * len(images) < _WORTH_PROCESSES:
        stats[:, :, :-1] = np.concatenate([*map(_measured, parts)], axis=1)
        stats[:, :, -1] = _cider_d(images)
    else:
        with ProcessPoolExecutor() as pool:
            measured = pool.map(_measured, parts)
            # While the other processes measure.
            stats[:, :, -1] = _cider_d(images)
            stats[:, :, :-1] = np.concatenate([*measured], axis=1)
    return Measured(images=[*references], systems=[*systems], stats=stats)


def within(
    measured: Measured,
    images: Sequence[str],
    references: Mapping[str, Sequence[Tokens]],
    systems: Mapping[str, Mapping[str, Tokens]],
) -> Measured:
    """The same systems on some of the images, as if there were no others.

    CIDEr-D counts its document frequencies over these images alone.
    """
    place = {image: number for number, image in enumerate(measured.images)}
    stats = measured.stats[:, [place[image] for image in images]].copy()
    stats[:, :, -1] = _cider_d(
        [
            (references[image], [captions[image] for captions in systems.values()])
            for image in images
        ]
    )
    return Measured(images=images, systems=measured.systems, stats=stats)


def scores_of(sums: Array, images: int | Array) -> Array:
    """The metrics of summed stats.

    Args:
        sums: shape (..., `COLUMNS`).
        images: how many images each sum is of.

    Returns:
        Shape (..., metrics).
    """
    matches, totals = sums[..., :_ORDERS], sums[..., _ORDERS:_LENGTHS]
    length, reference_length = sums[..., _LENGTHS], sums[..., _LENGTHS + 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(matches) - np.log(totals)
        penalty = np.exp(np.minimum(0.0, 1.0 - reference_length / length))
        of_orders = np.cumsum(logs, axis=-1) / np.arange(1, _ORDERS + 1)
        bleu = np.nan_to_num(penalty[..., None] * np.exp(of_orders), nan=0.0)
    means = sums[..., _MEANS_AT:] / np.asarray(images)[..., None]
    return np.concatenate(
        [bleu, _meteor(sums[..., _METEOR_AT:_MEANS_AT])[..., None], means], axis=-1
    )


def intervals(measured: Measured, *, resamples: int, seed: int, confidence: float = 0.95) -> Array:
    """Percentile intervals of the scores over resampled images.

    Returns:
        Shape (2, systems, metrics): the lower ends, then the upper ends.
    """
    drawn = _resampled(measured, resamples=resamples, seed=seed)
    return _ends(drawn, confidence)


def differences(
    measured: Measured, *, resamples: int, seed: int, confidence: float = 0.95
) -> list[Difference]:
    """Every two systems compared by every metric.

    Returns:
        By pair, in the order of the systems, then by metric.
    """
    pairs = [*combinations(range(len(measured.systems)), 2)]
    if not pairs:
        return []
    drawn = _resampled(measured, resamples=resamples, seed=seed)
    p_values = _p_values(measured, pairs, resamples=resamples, seed=seed)
    adjusted = np.array([_holm(of_metric) for of_metric in p_values.T]).T
    scores = measured.scores
    compared = []
    for row, (first, second) in enumerate(pairs):
        low, high = _ends(drawn[:, first] - drawn[:, second], confidence)
        compared += [
            Difference(
                first=measured.systems[first],
                second=measured.systems[second],
                metric=metric,
                difference=float(scores[first, column] - scores[second, column]),
                low=float(low[column]),
                high=float(high[column]),
                p_value=float(p_values[row, column]),
                p_adjusted=float(adjusted[row, column]),
            )
            for column, metric in enumerate(METRICS)
        ]
    return compared


def _measured(images: Sequence[_Image]) -> Array:
    """All stats but CIDEr-D: shape (systems, images, `COLUMNS` - 1)."""
    bleu = BLEU(tokenize="none", smooth_method="none", force=True)
    stats = np.zeros((len(images[0][1]), len(images), COLUMNS - 1))
    for place, (references, captions) in enumerate(images):
        joined = [[" ".join(words)] for words in references]
        for system, caption in enumerate(captions):
            row = stats[system, place]
            score = bleu.corpus_score([" ".join(caption)], joined)
            row[:_LENGTHS] = [*score.counts, *score.totals]
            row[_LENGTHS:_METEOR_AT] = score.sys_len, score.ref_len
            if caption:
                pair = Pair(caption, references)
                best = caption_metrics.best_meteor_stats(pair)
                row[_METEOR_AT:_MEANS_AT] = [getattr(best, name) for name in _METEOR]
                row[_MEANS_AT] = caption_metrics.rouge_l_of(pair)
    return stats


def _cider_d(images: Sequence[_Image]) -> Array:
    """CIDEr-D: shape (systems, images)."""
    weights = Weights.of([references for references, _ in images])
    return np.array([weights.scores(captions, references) for references, captions in images]).T


def _meteor(sums: Array) -> Array:
    """As `caption_metrics.MeteorStats.score`, for arrays."""
    stats = dict(zip(_METEOR, np.moveaxis(sums, -1, 0), strict=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = stats["candidate_matched"] / stats["candidate_weight"]
        recall = stats["reference_matched"] / stats["reference_weight"]
        mean = (precision * recall) / (
            caption_metrics.ALPHA * precision + (1 - caption_metrics.ALPHA) * recall
        )
        scattered = stats["chunks"] / stats["matches"]
    is_whole = (stats["chunks"] == 1) & (2 * stats["matches"] == stats["words"])
    scattered = np.where(is_whole, 0.0, scattered)
    score = mean * (1 - caption_metrics.GAMMA * scattered**caption_metrics.BETA)
    return np.where(stats["matches"] > 0, score, 0.0)


def _resampled(measured: Measured, *, resamples: int, seed: int) -> Array:
    """Scores of resampled images: shape (resamples, systems, metrics)."""
    images = len(measured.images)
    rng = np.random.default_rng(seed)
    shares = np.full(images, 1.0 / images)
    return np.concatenate(
        [
            scores_of(np.stack([counts @ stats for stats in measured.stats], axis=1), images)
            for counts in (
                rng.multinomial(images, shares, size=size).astype(np.float64)
                for size in _sizes(resamples)
            )
        ]
    )


def _p_values(
    measured: Measured, pairs: Sequence[tuple[int, int]], *, resamples: int, seed: int
) -> Array:
    """Two-sided p of each pair and metric, never below 1 / (resamples + 1)."""
    images = len(measured.images)
    rng = np.random.default_rng([seed, 1])
    sums = measured.stats.sum(axis=1)
    scores = scores_of(sums, images)
    at_least = np.ones((len(pairs), len(METRICS)))
    for size in _sizes(resamples):
        exchanged = rng.integers(0, 2, size=(size, images)).astype(np.float64)
        # What a system's exchanged images add up to; differences of these are enough.
        moved = [exchanged @ stats for stats in measured.stats]
        for row, (first, second) in enumerate(pairs):
            change = moved[second] - moved[first]
            made = scores_of(sums[first] + change, images) - scores_of(
                sums[second] - change, images
            )
            observed = np.abs(scores[first] - scores[second])
            # Sums of floats differ in their last digits between orders.
            at_least[row] += (np.abs(made) >= observed - 1e-12).sum(axis=0)
    return at_least / (resamples + 1)


def _holm(p_values: Array) -> Array:
    order = np.argsort(p_values, kind="stable")
    many = len(p_values)
    stepped = p_values[order] * (many - np.arange(many))
    adjusted = np.empty(many)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(stepped))
    return adjusted


def _ends(drawn: Array, confidence: float) -> Array:
    tail = (1 - confidence) / 2
    return np.quantile(drawn, [tail, 1 - tail], axis=0)


def _sizes(resamples: int) -> Iterator[int]:
    for start in range(0, resamples, _AT_ONCE):
        yield min(_AT_ONCE, resamples - start)
