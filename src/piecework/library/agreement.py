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
    """Return Krippendorff's alpha of all votes, with a bootstrap interval over tasks.

    Args:
        votes: columns `task`, `worker`, `label`; one row per vote.
        level: how disagreements are weighted: "nominal" all the same, "ordinal" by the
            number of votes between them, "interval" by the squared distance of numbers.
        order: all labels from lowest to highest, for ordinal labels that are not
            numbers.
        seed: the seed of the draws.

    Returns:
        Alpha, with a 95 % interval.

    Raises:
        ConfigError: a column is missing; labels are not numbers although `level` needs
            them, or a label is not in `order`.
    """
    with faults_of("votes"):
        return alpha.krippendorff_alpha(votes_from(votes), level=level, order=order, seed=seed)


def fleiss_kappa(votes: pd.DataFrame) -> float:
    """Return Fleiss' kappa of all votes; tasks may have different numbers of votes.

    Args:
        votes: columns `task`, `worker`, `label`; one row per vote.

    Returns:
        1 for full agreement, 0 for chance; NaN if no votes can be compared.

    Raises:
        ConfigError: a column is missing.
    """
    return kappa.fleiss_kappa(votes_from(votes))


def cohen_kappa(
    votes: pd.DataFrame, *, weights: Weights = "none", least_shared: int = 1
) -> pd.DataFrame:
    """Return Cohen's kappa of each pair of workers with shared tasks.

    Args:
        votes: columns `task`, `worker`, `label`; one row per vote.
        weights: how disagreements are weighted: "none" all the same, "linear" and
            "quadratic" by the distance of numbers.
        least_shared: the least number of shared tasks.

    Returns:
        One row per pair: `first`, `second`, `tasks` (int64), `kappa` (float64; NaN if
        no votes can be compared), `same` (the share of equal votes).

    Raises:
        ConfigError: a column is missing, or weighted labels are not numbers.
    """
    with faults_of("votes"):
        pairs = kappa.cohen_kappa_of_pairs(
            votes_from(votes), weights=weights, least_shared=least_shared
        )
    return pairs.rename(columns={"items": "tasks"})
