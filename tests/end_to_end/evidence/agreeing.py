"""How far each worker agrees with the others beyond chance, reckoned pair by pair."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from tests.end_to_end.evidence.raw_answers import RawAnswer
from tests.end_to_end.evidence.world import Rating, apart


class Agreement(NamedTuple):
    """One worker's in one field: 1 is full, 0 is chance; its standard error."""

    level: float
    error: float
    items: int


def agreements(rated: Sequence[tuple[RawAnswer, Rating]]) -> Mapping[str, Agreement]:
    """By worker; who rated nothing that two others rated is absent."""
    pool = Counter(rating for _, rating in rated)
    blind_from = {
        rating: sum(n * apart(rating, other) for other, n in pool.items()) / pool.total()
        for rating in pool
    }
    on_item = defaultdict[str, list[tuple[str, Rating]]](list)
    for answer, rating in rated:
        on_item[answer.item_id].append((answer.worker_id, rating))
    pairs = defaultdict[str, list[tuple[float, float]]](list)
    for item in on_item.values():
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
        agreement_of[worker] = Agreement(agreement, error, n)
    return agreement_of
