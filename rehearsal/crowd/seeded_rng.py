"""Chance with a name: the same words give the same dice, whatever was thrown before.

A stream of random numbers that everybody draws from makes each event depend on all
earlier ones, so a crowd that was killed and started again would behave differently.
Here every decision has dice of its own, made from the seed and the names of what it is
about (worker, assignment, item).
"""

import hashlib
import math
from random import Random


def dice(seed: int, *names: str) -> Random:
    """Dice that depend on nothing but the seed and the names.

    >>> dice(7, "w1", "pause").random() == dice(7, "w1", "pause").random()
    True
    """
    words = "\x1f".join((str(seed), *names))
    return Random(hashlib.sha256(words.encode()).digest())  # noqa: S311 - a rehearsal's chance, no secret


def log_normal(rng: Random, median: float, *, spread: float) -> float:
    """A positive number: half lie below `median`; `spread` is the sd of its log.

    Working times are heavy-tailed: a few people go for coffee, nobody works a
    negative time.
    """
    return median * math.exp(rng.gauss(0.0, spread))
