"""Scores of systems: the published metrics, their intervals, and their tests."""

import math
from random import Random

import numpy as np
import pytest
from scipy import stats

from piecework.analyses.corpus.caption_metrics import Pair, bleu, cider_d, meteor, rouge_l
from piecework.analyses.corpus.scoring import (
    METRICS,
    Measured,
    _holm,
    differences,
    intervals,
    measure,
    within,
)

_WORDS = [*"abcdefghijklm"]
_ROUGE = METRICS.index("ROUGE-L")
_CIDER = METRICS.index("CIDEr-D")


def _text(random: Random) -> list[str]:
    return random.choices(_WORDS, k=random.randint(3, 9))


def _corpus(
    images: int, systems: int = 2
) -> tuple[dict[str, list[list[str]]], dict[str, dict[str, list[str]]]]:
    random = Random(5)  # noqa: S311 - test data
    references = {
        f"i{n}": [_text(random) for _ in range(random.randint(1, 4))] for n in range(images)
    }
    made = {
        f"s{system}": {image: _text(random) for image in references} for system in range(systems)
    }
    return references, made


def test_scores_are_those_of_the_metrics_over_the_corpus() -> None:
    """Sums over images give what each metric's own function gives."""
    references, systems = _corpus(40)
    scores = measure(references, systems).scores
    for row, captions in zip(scores, systems.values(), strict=True):
        pairs = [Pair(captions[image], refs) for image, refs in references.items()]
        expected = [*bleu(pairs), meteor(pairs), rouge_l(pairs), cider_d(pairs)]
        assert row == pytest.approx(expected, abs=1e-12)


def test_a_caption_without_a_word_scores_nothing_and_shortens_the_corpus() -> None:
    """BLEU pays by its brevity penalty, the means by a zero."""
    references = {"a": [["red", "cup"]], "b": [["green", "dog"]]}
    whole = measure(references, {"s": {"a": ["red", "cup"], "b": ["green", "dog"]}})
    half = measure(references, {"s": {"a": ["red", "cup"], "b": []}})
    # BLEU-1: two of two words, exp(1 - 4 / 2).
    assert half.scores[0][0] == pytest.approx(math.exp(-1))
    assert half.scores[0][_ROUGE] == pytest.approx(whole.scores[0][_ROUGE] / 2)
    empty = measure(references, {"s": {"a": [], "b": []}})
    assert empty.scores.tolist() == [[0.0] * len(METRICS)]


def test_a_group_is_scored_as_if_it_were_the_dataset() -> None:
    """CIDEr-D counts document frequencies in the group, as coco-caption would."""
    references, systems = _corpus(30)
    images = [*references][4:20]
    part = within(measure(references, systems), images, references, systems)
    alone = measure({image: references[image] for image in images}, systems)
    assert part.scores == pytest.approx(alone.scores, abs=1e-12)


def test_many_captions_are_measured_in_processes_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts and processes change no number."""
    references, systems = _corpus(300)
    here = measure(references, systems)
    monkeypatch.setattr("piecework.analyses.corpus.scoring._WORTH_PROCESSES", 1)
    assert (measure(references, systems).stats == here.stats).all()


def _means(first: list[float], second: list[float]) -> Measured:
    """Two systems with these ROUGE-L by image, and nothing else."""
    references, systems = _corpus(len(first))
    measured = measure(references, systems)
    stats = np.zeros_like(measured.stats)
    stats[0, :, -2], stats[1, :, -2] = first, second
    return Measured(images=measured.images, systems=["x", "y"], stats=stats)


def test_an_interval_is_the_bootstrap_of_scipy() -> None:
    """ROUGE-L is a mean, so its percentile interval can be had elsewhere."""
    random = Random(2)  # noqa: S311 - test data
    values = random.choices([0.1, 0.3, 0.4, 0.8, 1.0], k=80)
    low, high = intervals(_means(values, values), resamples=4000, seed=1)
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=4000, method="percentile", rng=1
    ).confidence_interval
    assert low[0][_ROUGE] == pytest.approx(theirs.low, abs=0.01)
    assert high[0][_ROUGE] == pytest.approx(theirs.high, abs=0.01)


def test_a_test_is_the_permutation_test_of_scipy() -> None:
    """Exchanging the captions of two systems is a paired permutation."""
    random = Random(3)  # noqa: S311 - test data
    first = [random.random() for _ in range(60)]
    second = [value + random.gauss(0.04, 0.2) for value in first]
    compared = differences(_means(first, second), resamples=5000, seed=1)
    ours = next(row for row in compared if row.metric == "ROUGE-L")
    theirs = stats.permutation_test(
        (first, second),
        lambda x, y: np.mean(x) - np.mean(y),
        permutation_type="samples",
        n_resamples=5000,
        rng=1,
    )
    assert ours.difference == pytest.approx(theirs.statistic)
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=0.02)


def test_equal_systems_do_not_differ() -> None:
    """The p-value is 1 and the interval is a point, in every metric."""
    references, systems = _corpus(25, systems=1)
    twice = {"x": systems["s0"], "y": systems["s0"]}
    for row in differences(measure(references, twice), resamples=200, seed=0):
        assert (row.difference, row.low, row.high) == (0, 0, 0)
        assert row.p_value == row.p_adjusted == 1


def test_p_is_adjusted_after_holm() -> None:
    """By hand: three p of (.01, .02, .9) become .03, .04, .9."""
    assert _holm(np.array([0.9, 0.01, 0.02])) == pytest.approx([0.9, 0.03, 0.04])


def test_the_same_seed_gives_the_same_numbers() -> None:
    """Another seed gives others."""
    references, systems = _corpus(20)
    measured = measure(references, systems)
    first, again, other = (intervals(measured, resamples=150, seed=seed) for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


def test_one_image_more_changes_cider_by_its_weights_alone() -> None:
    """With two images that share no word, a perfect caption has CIDEr-D 10."""
    references = {"a": [["red", "cup", "on", "table"]], "b": [["two", "green", "dogs", "run"]]}
    captions = {"s": {image: refs[0] for image, refs in references.items()}}
    assert measure(references, captions).scores[0][_CIDER] == pytest.approx(10)
