"""Named random generators: the same names give the same numbers.

With one shared stream of random numbers, each event would depend on all earlier ones,
so a crowd that was killed and restarted would behave differently. Here every decision
has its own generator, made from the seed and the names of its subjects (worker,
assignment, item).
"""

import hashlib
import math
from random import Random


def seeded_rng(seed: int, *names: str) -> Random:
    """Return a generator that depends only on the seed and the names.

    >>> seeded_rng(7, "w1", "pause").random() == seeded_rng(7, "w1", "pause").random()
    True
    """
    words = "\x1f".join((str(seed), *names))
    return Random(hashlib.sha256(words.encode()).digest())  # noqa: S311 - a rehearsal's randomness, not a secret


def log_normal(rng: Random, median: float, *, spread: float) -> float:
    """Draw a log-normal number with this median; `spread` is the sd of its log.

    Working times are heavy-tailed and never negative: a few people take a coffee break.
    """
    return median * math.exp(rng.gauss(0.0, spread))
