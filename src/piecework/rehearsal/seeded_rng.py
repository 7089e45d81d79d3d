"""Chance with a name: the same words give the same numbers, whatever was drawn before.

A stream of random numbers that everything draws from makes each event depend on all
earlier ones, so a crowd that was killed and started again would behave differently.
Here every decision has a generator of its own, made from the seed and the names of what
it is about (worker, assignment, item).
"""

import hashlib
import math
from random import Random


def seeded_rng(seed: int, *names: str) -> Random:
    """A generator that depends on nothing but the seed and the names.

    >>> seeded_rng(7, "w1", "pause").random() == seeded_rng(7, "w1", "pause").random()
    True
    """
    words = "\x1f".join((str(seed), *names))
    return Random(hashlib.sha256(words.encode()).digest())  # noqa: S311 - a rehearsal's chance, no secret


def log_normal(rng: Random, median: float, *, spread: float) -> float:
    """A positive number: half lie below `median`; `spread` is the sd of its log.

    Working times are heavy-tailed: a few people go for coffee, none works a
    negative time.
    """
    return median * math.exp(rng.gauss(0.0, spread))
