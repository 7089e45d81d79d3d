"""How much a text reads like sample texts of programs, and not like people's.

Both sides are cut into short runs of two to four characters. A word that is used about
few items is replaced by its last two letters first ("*ed"): both sides describe the
same things, so what they are about must not decide, and endings, frequent words and
punctuation remain (text distortion, Stamatatos 2017). A ridge regression separates the
two sides. It is fitted for each of `FOLDS` groups of items without the texts and
samples about these items, so that no text and no picture counts for itself.

The people's side may hold texts of programs too: the campaign's texts are all that is
known of it. So its mean is found by a mixture in which the samples' part is known, and
the probability follows from the two means and the spread around them. It holds where
one text in six (`PRIOR`) is like the samples.

Everything is counted in whole numbers by the order of hashes, so that a table in parts
gives the same model to the bit.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from piecework.domain.late_modules import np, npt, pd, scipy

PRIOR = 1 / 6
"""Share of texts that are like the samples, as for the joined suspicion."""

FOLDS = 5
LEAST_TEXTS = 20
"""With fewer texts on a side there is no model (ours; measured from 20 samples on)."""

MOST_TEXTS = 500
"""Texts of each side that the model learns from; more take time and change little."""

_SIZES = (2, 3, 4)
_BITS = 15
_COMMON = 0.05
"""Words used about at least this share of the items stay; of 10, 5 and 3 % the one
with the best figures, which differ little."""
_LEAST_COMMON = 3
_RIDGE = 3.0
"""Of 0.1, 0.3, 1 and 3 the one with the best figures on short captions."""

_ROUNDS = 30
_MOST_MIXED = 0.5
_MULTIPLIER = 0x9E3779B97F4A7C15

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*|\d+|[^\w\s]")  # noqa: RUF001 - people type both apostrophes
_BEFORE_MARK = re.compile(r"\s+(?=[.,;:!?'’])")  # noqa: RUF001 - as above
_AT_END = re.compile(r"[\s.,;!?]+$")

Floats: TypeAlias = "npt.NDArray[np.float64]"
Flags: TypeAlias = "npt.NDArray[np.bool_]"


class SampleModel(NamedTuple):
    """A model for each group of items, and how a score becomes a probability.

    Attributes:
        common: words that stay as they are.
        rarity: by hash of a run, how much a rare run counts.
        weights: by hash and fold.
        intercept: of the probability's log odds.
        slope: of the same, by score.
        samples: how many samples it was fitted to.
        texts: how many of the people's texts.
    """

    common: frozenset[str]
    rarity: Floats
    weights: Floats
    intercept: float
    slope: float
    samples: int
    texts: int

    def probability(self, texts: Sequence[str], items: Sequence[str]) -> Floats:
        """By text, how probable it is that it is like the samples.

        Args:
            texts: as they were written.
            items: the item that each is about.
        """
        if not texts:
            return np.zeros(0)
        runs = _runs([_words(text) for text in texts], self.common)
        scores = _scaled(runs, self.rarity) @ self.weights[:-1] + self.weights[-1]
        own = scores[np.arange(len(texts)), _folds(items)]
        return np.asarray(scipy.special.expit(self.intercept + self.slope * own))


def fitted(
    texts: Sequence[str], items: Sequence[str], samples: Sequence[str], sample_items: Sequence[str]
) -> SampleModel | None:
    """Fit a model; `None` if a side is too small or the items are too few.

    Args:
        texts: of people, most of them.
        items: the item that each is about.
        samples: of programs.
        sample_items: the item of each; empty if it is about no item of the campaign.
    """
    # A sample about no known item is a group of its own.
    groups = [item or f"\0{text}" for item, text in zip(sample_items, samples, strict=True)]
    about = [*items, *groups]
    folds = _folds(about)
    is_sample = np.arange(len(about)) >= len(texts)
    if min(len(texts), len(samples)) < LEAST_TEXTS or not _all_folds(folds, is_sample):
        return None
    words = [_words(text) for text in (*texts, *samples)]
    common = _common(words, about)
    runs = _runs(words, common)
    rarity = _rarity(runs)
    scaled = _scaled(runs, rarity)
    likeness = (scaled @ scaled.T).toarray() + 1.0
    weights = np.zeros((scaled.shape[1] + 1, FOLDS))
    scores = np.zeros(len(about))
    for fold in range(FOLDS):
        learnt, held = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        dual = _ridge(likeness[np.ix_(learnt, learnt)], is_sample[learnt])
        weights[:-1, fold] = scaled[learnt].T @ dual
        weights[-1, fold] = dual.sum()
        scores[held] = likeness[np.ix_(held, learnt)] @ dual
    intercept, slope = _curve(scores, is_sample)
    return SampleModel(common, rarity, weights, intercept, slope, len(samples), len(texts))


def _folds(items: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the group of each item."""
    return np.array([zlib.crc32(item.encode()) % FOLDS for item in items], "int64")


def _all_folds(folds: npt.NDArray[np.int64], is_sample: Flags) -> bool:
    """Whether each side has texts outside of every group."""
    return (
        all(len(np.unique(folds[side])) > 1 for side in (is_sample, ~is_sample))
        and len(np.unique(folds)) == FOLDS
    )


def _words(text: str) -> list[str]:
    one_line = _BEFORE_MARK.sub("", " ".join(text.split()).casefold())
    return _WORD.findall(_AT_END.sub("", one_line))


def _common(words: Sequence[Sequence[str]], about: Sequence[str]) -> frozenset[str]:
    """Return words that are used about many items."""
    pairs = pd.DataFrame(
        [(word, item) for own, item in zip(words, about, strict=True) for word in set(own)],
        columns=["word", "item"],
    ).drop_duplicates()
    least = max(_LEAST_COMMON, _COMMON * len(set(about)))
    uses = pairs.groupby("word").size()
    return frozenset(uses.index[uses >= least].tolist())


def _distorted(words: Sequence[str], common: frozenset[str]) -> str:
    return " ".join(
        word
        if word in common or not word[0].isalnum()
        else ("#" if word[0].isdigit() else f"*{word[-2:]}")
        for word in words
    )


def _runs(words: Sequence[Sequence[str]], common: frozenset[str]) -> scipy.sparse.csr_array:
    """Count the runs of characters of each text, by hash."""
    letters = [
        np.frombuffer(f" {_distorted(own, common)} ".encode("utf-32-le"), "<u4") for own in words
    ]
    lengths = np.array([len(own) for own in letters])
    row = np.repeat(np.arange(len(letters)), lengths)
    codes = np.concatenate(letters).astype("uint64")
    keys = []
    for size in _SIZES:
        ends = len(codes) - size + 1
        if ends <= 0:
            continue
        whole = row[:ends] == row[size - 1 :]
        mixed = np.full(ends, size, dtype="uint64")
        for place in range(size):
            mixed = (mixed ^ codes[place : place + ends]) * np.uint64(_MULTIPLIER)
            mixed ^= mixed >> np.uint64(29)
        hashes = (mixed >> np.uint64(20)) & np.uint64((1 << _BITS) - 1)
        keys.append((row[:ends][whole] << _BITS) + hashes[whole].astype("int64"))
    different, counts = np.unique(np.concatenate(keys), return_counts=True)
    return scipy.sparse.csr_array(
        (counts.astype("float64"), (different >> _BITS, different & ((1 << _BITS) - 1))),
        shape=(len(letters), 1 << _BITS),
    )


def _rarity(runs: scipy.sparse.csr_array) -> Floats:
    texts = np.bincount(runs.indices, minlength=runs.shape[1])
    return np.asarray(np.log((1 + runs.shape[0]) / (1 + texts)) + 1.0)


def _scaled(runs: scipy.sparse.csr_array, rarity: Floats) -> scipy.sparse.csr_array:
    """Weigh the runs, and give every text the same length."""
    scaled = runs.copy()
    scaled.data = (1.0 + np.log(runs.data)) * rarity[runs.indices]
    row = np.repeat(np.arange(runs.shape[0]), np.diff(runs.indptr))
    length = np.sqrt(np.bincount(row, scaled.data**2, minlength=runs.shape[0]))
    scaled.data /= length[row]
    return scaled


def _ridge(likeness: Floats, is_sample: Flags) -> Floats:
    """Return the dual weights; both sides count alike."""
    share = np.where(is_sample, is_sample.mean(), 1 - is_sample.mean())
    regular = likeness + np.diag(_RIDGE * 2 * share)
    return np.asarray(scipy.linalg.solve(regular, np.where(is_sample, 1.0, -1.0), assume_a="pos"))


def _curve(scores: Floats, is_sample: Flags) -> tuple[float, float]:
    """Return intercept and slope of the log odds, robust to samples among the texts."""
    of_samples, of_texts = scores[is_sample], scores[~is_sample]
    middle = of_samples.mean()
    mean, mixed = np.median(of_texts), 0.0
    spread = of_samples.var()
    for _ in range(_ROUNDS):
        slope = (middle - mean) / spread
        at = slope * (of_texts - (middle + mean) / 2)
        prior = np.log(max(mixed, 0.01) / (1 - max(mixed, 0.01)))
        is_like = scipy.special.expit(at + prior)
        mixed = min(is_like.mean(), _MOST_MIXED)
        mean = np.average(of_texts, weights=1 - is_like)
        inside = ((of_samples - middle) ** 2).mean()
        around = np.average((of_texts - mean) ** 2, weights=1 - is_like)
        spread = (inside + around) / 2
    slope = max(0.0, (middle - mean) / spread)
    return float(np.log(PRIOR / (1 - PRIOR)) - slope * (middle + mean) / 2), slope
