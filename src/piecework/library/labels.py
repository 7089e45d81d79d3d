"""Labels with probabilities from votes, and how far workers agree, beyond chance.

Votes have crowd-kit's column names.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from piecework.analyses import agreement
from piecework.analyses import dawid_skene as dawid_skene_model
from piecework.analyses import labels_from_votes as ability_model
from piecework.analyses import votes as majority_vote
from piecework.analyses.agreement import Alpha, Level, Weights
from piecework.analyses.labels_from_votes import SHARED_ERROR
from piecework.analyses.votes import vote_table
from piecework.library.frames import faults_of, votes_from


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """A label for each task.

    Attributes:
        labels: index `task`, sorted: `label` (the most probable; missing for a tie),
            `probability` (float64 in (0, 1], of a most probable label), `leaders`
            (tuple of all most probable labels).
        probabilities: index `task`, one column per label; rows sum to 1.
    """

    labels: pd.DataFrame
    probabilities: pd.DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class DawidSkeneLabels(Labels):
    """Labels, and the errors that each worker makes.

    Attributes:
        errors: a row for each `worker`, `truth` and `label`: the `probability` that the
            worker gives this label if that one is true (NaN for a truth that they never
            saw).
    """

    errors: pd.DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class AbilityLabels(Labels):
    """Labels, how often each worker is right, and which models were mixed.

    Attributes:
        workers: index `worker`: `accuracy` (the share of their votes that are right, by
            these probabilities), `votes` (int64).
        models: index name: the share of each model in the mixture; sums to 1.
    """

    workers: pd.DataFrame
    models: "pd.Series[float]"


def majority(votes: pd.DataFrame) -> Labels:
    """Return the label with the most votes; its probability is its share of the votes.

    Args:
        votes: columns `task`, `worker`, `label`; one row per vote. A worker's second
            vote on a task, a missing label and a missing task do not count.

    Raises:
        ConfigError: a column is missing, or a label is not a single value.
    """
    cast = votes_from(votes)
    estimate = majority_vote.majority(cast).rename(columns={"share": "probability"})
    counts = vote_table(cast)
    return Labels(
        labels=_labels(estimate),
        probabilities=_by_task(counts.div(counts.sum(axis=1), axis="index")),
    )


def dawid_skene(votes: pd.DataFrame, *, smoothing: float = 0.0) -> DawidSkeneLabels:
    """Return the most probable labels if each worker makes errors of their own.

    Args:
        votes: as for `majority`.
        smoothing: votes to add to each cell of each worker's table of errors; 0 gives
            the paper's maximum likelihood.

    Raises:
        ConfigError: as for `majority`; or there are no votes, or smoothing is below 0.
    """
    with faults_of("votes"):
        estimate = dawid_skene_model.dawid_skene(votes_from(votes), smoothing=smoothing)
    return DawidSkeneLabels(
        labels=_labels(estimate.labels),
        probabilities=_by_task(estimate.probabilities),
        errors=estimate.confusions.rename(columns={"said": "label"}),
    )


def ability(
    votes: pd.DataFrame, *, labels: Sequence[object] = (), shared_error: float = SHARED_ERROR
) -> AbilityLabels:
    """Return the most probable labels by a mixture of models of how workers vote.

    Which models, and how much of each, is chosen by how well they predict votes that are
    left out (`models` says it).

    Args:
        votes: as for `majority`.
        labels: all possible labels, including those without votes.
        shared_error: the share of labels on which the whole crowd errs, which more
            votes do not show; it keeps probabilities below 1.

    Raises:
        ConfigError: as for `majority`; or there are no votes, a vote is not in
            `labels`.
    """
    with faults_of("votes"):
        estimate = ability_model.ability(
            votes_from(votes), values=labels, shared_error=shared_error
        )
    return AbilityLabels(
        labels=_labels(estimate.labels),
        probabilities=_by_task(estimate.probabilities),
        workers=estimate.workers,
        models=estimate.models,
    )


def _labels(estimate: pd.DataFrame) -> pd.DataFrame:
    columns = ["label", "probability", "leaders"]
    return estimate.rename(columns={"value": "label"})[columns].rename_axis("task")


def _by_task(probabilities: pd.DataFrame) -> pd.DataFrame:
    return probabilities.rename_axis(index="task", columns="label")


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
        return agreement.krippendorff_alpha(votes_from(votes), level=level, order=order, seed=seed)


def fleiss_kappa(votes: pd.DataFrame) -> float:
    """Return Fleiss' kappa of all votes; tasks may have different numbers of votes.

    Args:
        votes: columns `task`, `worker`, `label`; one row per vote.

    Returns:
        1 for full agreement, 0 for chance; NaN if no votes can be compared.

    Raises:
        ConfigError: a column is missing.
    """
    return agreement.fleiss_kappa(votes_from(votes))


def cohen_kappa(
    votes: pd.DataFrame, *, weights: Weights = "none", least_shared: int = 1
) -> pd.DataFrame:
    """Return Cohen's kappa of each pair of workers with shared tasks.

    Args:
        votes: columns `task`, `worker`, `label`; one row per vote.
        weights: how disagreements are weighted: "none" all the same, "linear" and
            "quadratic" by the distance of numbers.
        least_shared: the minimum number of shared tasks.

    Returns:
        One row per pair: `first`, `second`, `tasks` (int64), `kappa` (float64; NaN if
        no votes can be compared), `same` (the share of equal votes).

    Raises:
        ConfigError: a column is missing, or weighted labels are not numbers.
    """
    with faults_of("votes"):
        pairs = agreement.cohen_kappa_of_pairs(
            votes_from(votes), weights=weights, least_shared=least_shared
        )
    return pairs.rename(columns={"items": "tasks"})
