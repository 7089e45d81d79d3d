"""How far each worker agrees with the others, reckoned answer by answer.

For votes by another way than the product's: dictionaries, and an eigenvector for its singular
vector.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import NamedTuple

import numpy as np

from tests.end_to_end.evidence.raw_answers import RawAnswer
from tests.end_to_end.evidence.world import Rating, apart


class Agreement(NamedTuple):
    """One worker's in one field.

    Attributes:
        worth: the mean probability of the votes by the others'; else as the strength.
        strength: 1 is full, 0 is chance.
        error: the strength's standard error.
        items: that others rated too.
    """

    worth: float
    strength: float
    error: float
    items: int


Rated = Sequence[tuple[RawAnswer, Rating]]


def is_votes(rated: Rated) -> bool:
    """Whether each answer is one option, or one of two places."""
    ratings = {rating for _, rating in rated}
    if any(isinstance(rating, float) for rating in ratings):
        return len(ratings) <= 2
    return all(len(rating) == 1 for rating in ratings if isinstance(rating, frozenset))


def agreements(rated: Rated) -> Mapping[str, Agreement]:
    """By worker; who rated nothing that two others rated is absent."""
    on_item = defaultdict[str, list[tuple[str, Rating]]](list)
    for answer, rating in rated:
        on_item[answer.item_id].append((answer.worker_id, rating))
    items = list(on_item.values())
    return _of_votes(items) if is_votes(rated) else _of_distances(items)


def expected(rated: Rated, line: Rating) -> Mapping[str, float]:
    """By worker, how many of their answers would be this by the others' about the items."""
    on_item = defaultdict[str, list[tuple[str, Rating]]](list)
    for answer, rating in rated:
        on_item[answer.item_id].append((answer.worker_id, rating))
    items = list(on_item.values())
    values = sorted({rating for _, rating in rated}, key=_sorting)
    usual: dict[str, float] = defaultdict(float)
    if is_votes(rated):
        for (_, worker), believed in _beliefs(items, values).items():
            usual[worker] += believed[line]
        return usual
    pool = sum(rating == line for _, rating in rated) / len(rated)
    for item in items:
        same = sum(rating == line for _, rating in item)
        for worker, rating in item:
            usual[worker] += (same - (rating == line) + pool) / len(item)
    return usual


def typical(by_worker: Mapping[str, Agreement]) -> float:
    """The worth of the worker in the middle."""
    return median(own.worth for own in by_worker.values())


def limit(by_worker: Mapping[str, Agreement], least: float, min_items: int) -> float:
    """The strength that is asked: half of the usual, at most `least`."""
    many = sorted(
        (own.strength, 1 / max(own.error, 1e-12))
        for own in by_worker.values()
        if own.items >= min_items and math.isfinite(own.error)
    )
    total, so_far = sum(weight for _, weight in many), 0.0
    for strength, weight in many:
        so_far += weight
        if so_far >= total * 2 / 3:
            return min(least, strength / 2)
    return 0.0


def suspicions(by_worker: Mapping[str, Agreement]) -> Mapping[str, float]:
    """By worker, from 0 to 1 by the order of worth drawn towards that of all by three."""
    answers = sum(own.items for own in by_worker.values())
    mean = sum(own.worth * own.items for own in by_worker.values()) / answers
    drawn = {
        worker: (own.worth * own.items + 3 * mean) / (own.items + 3)
        for worker, own in by_worker.items()
    }
    usual = median(drawn.values())
    deviation = max(1.4826 * median(abs(each - usual) for each in drawn.values()), 0.05)
    return {
        worker: 1 / (1 + math.exp(2 - (usual - each) / deviation)) for worker, each in drawn.items()
    }


def _of_votes(items: Sequence[Sequence[tuple[str, Rating]]]) -> Mapping[str, Agreement]:
    values = sorted({rating for item in items for _, rating in item}, key=_sorting)
    beliefs = _beliefs(items, values)
    line = dict(zip(values, _line(items, values), strict=True))
    pairs = defaultdict[str, list[tuple[float, float, float]]](list)
    for number, item in enumerate(items):
        for worker, rating in item if len(item) > 2 else ():
            believed = beliefs[number, worker]
            theirs = sum(line[value] * believed[value] for value in values)
            pairs[worker].append((believed[rating], line[rating], theirs))
    slopes = {worker: _slope([(x, y) for _, x, y in own]) for worker, own in pairs.items()}
    total = sum(squares for _, squares, _ in slopes.values())
    of_all = sum(rest for _, _, rest in slopes.values()) / max(total, 1e-12)
    agreement_of = {}
    for worker, (slope, squares, rest) in slopes.items():
        many = len(pairs[worker])
        own = rest / squares if squares > 1e-12 else 0.0
        spread = max((own * many + 5 * of_all) / (many + 4), of_all)
        error = math.sqrt(spread / squares) if squares > 1e-12 else math.inf
        worth = fmean(probable for probable, _, _ in pairs[worker])
        agreement_of[worker] = Agreement(worth, slope, error, many)
    return agreement_of


def _slope(pairs: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """The slope of the first over the second, squares of the second, and what is left.

    What is left is squared, and counts as much as an item does for the slope.
    """
    x, y = fmean(own for own, _ in pairs), fmean(theirs for _, theirs in pairs)
    squares = sum((theirs - y) ** 2 for _, theirs in pairs)
    both = sum((own - x) * (theirs - y) for own, theirs in pairs)
    slope = both / squares if squares > 1e-12 else 0.0
    left = sum(((own - x) - slope * (theirs - y)) ** 2 * (theirs - y) ** 2 for own, theirs in pairs)
    return slope, squares, left


def _beliefs(
    items: Sequence[Sequence[tuple[str, Rating]]], values: Sequence[Rating]
) -> Mapping[tuple[int, str], Mapping[Rating, float]]:
    """By item and worker, how probable each value is by the others' votes."""
    shares = {
        value: 2 + sum(sum(r == value for _, r in item) / len(item) for item in items)
        for value in values
    }
    done = Counter(worker for item in items for worker, _ in item)
    accuracy = dict.fromkeys(done, 0.8)
    beliefs: dict[tuple[int, str], dict[Rating, float]] = {}
    for _ in range(20 if len(values) > 1 else 0):
        right = dict.fromkeys(done, 8.0)
        for number, item in enumerate(items):
            for worker, rating in item:
                logs = {value: math.log(shares[value]) for value in values}
                for other, theirs in item:
                    if other != worker:
                        odds = accuracy[other] * (len(values) - 1) / (1 - accuracy[other])
                        logs[theirs] += math.log(odds)
                top = max(logs.values())
                total = sum(math.exp(each - top) for each in logs.values())
                beliefs[number, worker] = {
                    value: math.exp(each - top) / total for value, each in logs.items()
                }
                right[worker] += beliefs[number, worker][rating]
        before = accuracy
        accuracy = {worker: right[worker] / (done[worker] + 10) for worker in done}
        if max(abs(accuracy[worker] - before[worker]) for worker in done) < 1e-3:
            break
    return beliefs


def _line(
    items: Sequence[Sequence[tuple[str, Rating]]], values: Sequence[Rating]
) -> Sequence[float]:
    """The places of the values on the line that separates them best."""
    if len(values) <= 2:
        return range(len(values))
    together = np.zeros((len(values), len(values)))
    for item in items:
        for place, (_, rating) in enumerate(item if len(item) > 2 else ()):
            for other, (_, theirs) in enumerate(item):
                if other != place:
                    cell = values.index(rating), values.index(theirs)
                    together[cell] += 1 / (len(item) - 1)
    together = (together + together.T) / (2 * together.sum())
    root = np.sqrt(together.sum(axis=1))
    beyond = together / np.outer(root, root) - np.outer(root, root)
    strengths, directions = np.linalg.eigh(beyond)
    line: list[float] = (directions[:, np.argmax(abs(strengths))] / root).tolist()
    return line


def _sorting(rating: Rating) -> tuple[str, ...] | float:
    return tuple(sorted(rating)) if isinstance(rating, frozenset) else rating


def _of_distances(items: Sequence[Sequence[tuple[str, Rating]]]) -> Mapping[str, Agreement]:
    pool = Counter(rating for item in items for _, rating in item)
    blind_from = {
        rating: sum(n * apart(rating, other) for other, n in pool.items()) / pool.total()
        for rating in pool
    }
    pairs = defaultdict[str, list[tuple[float, float]]](list)
    for item in items:
        for worker, rating in item:
            others = [other for name, other in item if name != worker]
            if len(others) >= 2:
                pairs[worker].append(
                    (
                        fmean(apart(rating, other) for other in others),
                        fmean(blind_from[other] for other in others),
                    )
                )
    blind = {worker: sum(b for _, b in own) for worker, own in pairs.items()}
    level = {
        worker: 1 - sum(o for o, _ in own) / blind[worker]
        for worker, own in pairs.items()
        if blind[worker]
    }
    squares = {
        worker: [(b - o - level.get(worker, 0.0) * b) ** 2 for o, b in own]
        for worker, own in pairs.items()
    }
    agreement_of = {}
    of_all = fmean([square for own in squares.values() for square in own] or [0.0])
    for worker, agreement in level.items():
        n = len(pairs[worker])
        spread = (sum(squares[worker]) + 5 * of_all) / (n + 5)
        error = math.sqrt(spread * n) / blind[worker]
        agreement_of[worker] = Agreement(agreement, agreement, error, n)
    return agreement_of
