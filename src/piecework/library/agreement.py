"""How far workers agree, beyond chance."""

from collections.abc import Sequence

import pandas as pd

from piecework.analyses import alpha, kappa
from piecework.analyses.alpha import Alpha, Level
from piecework.analyses.kappa import Weights
from piecework.library.frames import faults_of, votes_from


def krippendorff_alpha(
    votes: pd.DataFrame,
    *,
    level: Level = "nominal",
    order: Sequence[object] | None = None,
    seed: int = 1,
) -> Alpha:
    """Krippendorff's alpha of all votes, with a 95 % interval by drawing tasks.

    Args:
        votes: columns `task`, `worker`, `label`; a row a vote.
        level: what a disagreement weighs: "nominal" all the same, "ordinal" by how many
            votes lie between, "interval" by the squared distance of numbers.
        order: all labels from the lowest up, for ordinal words; numbers need none.
        seed: of the draws.

    Raises:
        ConfigError: a column is missing; labels that `level` needs as numbers are none,
            or one is not in `order`.
    """
    with faults_of("votes"):
        return alpha.krippendorff_alpha(
            votes_from(votes), level=level, order=order, seed=seed
        )


def fleiss_kappa(votes: pd.DataFrame) -> float:
    """Fleiss' kappa of all votes; tasks may have different numbers of them.

    Args:
        votes: columns `task`, `worker`, `label`; a row a vote.

    Returns:
        1 for full agreement, 0 for chance; NaN where nothing can be compared.

    Raises:
        ConfigError: a column is missing.
    """
    return kappa.fleiss_kappa(votes_from(votes))


def cohen_kappa(
    votes: pd.DataFrame, *, weights: Weights = "none", least_shared: int = 1
) -> pd.DataFrame:
    """Cohen's kappa of each two workers who share tasks.

    Args:
        votes: columns `task`, `worker`, `label`; a row a vote.
        weights: what a disagreement costs: "none" all the same, "linear" and
            "quadratic" by the distance of numbers.
        least_shared: tasks that two workers must share.

    Returns:
        A row a pair: `first`, `second`, `tasks` (int64), `kappa` (float64; NaN where
        nothing can be compared), `same` (the share of equal votes).

    Raises:
        ConfigError: a column is missing, or labels that are weighted are no numbers.
    """
    with faults_of("votes"):
        pairs = kappa.cohen_kappa_of_pairs(
            votes_from(votes), weights=weights, least_shared=least_shared
        )
    return pairs.rename(columns={"items": "tasks"})
