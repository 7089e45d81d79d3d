"""What a pilot shows about real people: their times, dropped answers, and agreement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.errors import ConfigError
from piecework.domain.tables import ITEM_VALUE
from piecework.domain.task import Task
from piecework.results.table import answers_table
from piecework.simulation.forecast.choices import with_bad

_MOST_LOST = 0.5
"""A worker with a larger share of dropped answers than this counts as bad."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pilot:
    """Measurements on real work.

    Attributes:
        answers: how many answers were measured.
        workers: how many workers gave them.
        seconds_per_item: the median over kept answers.
        bad: share of the workers with more than half of their answers dropped.
        agreement: share of kept choices that agree with their item's majority; NaN
            without choices.
    """

    answers: int
    workers: int
    seconds_per_item: float
    bad: float
    agreement: float

    def paced(self, task: Task) -> Task:
        """The task with the pace of the pilot."""
        return replace(task, seconds_per_item=self.seconds_per_item)

    def crowd(self, crowd: Mapping[str, int], bad: Sequence[str]) -> dict[str, int]:
        """The crowd with the pilot's share of bad workers."""
        return with_bad(crowd, self.bad, bad)


def pilot_of(store: OpenedCampaign) -> Pilot:
    """Measure the workers in a campaign's store.

    Raises:
        ConfigError: no answer in it is decided.
    """
    table = answers_table(store)
    decided = table[~table["is_provisional"]]
    if decided.empty:
        raise ConfigError(
            [f"{store.campaign.path}: the pilot has no decided answers"],
            next_step="decide about its answers, then forecast again",
        )
    kept = decided[~decided["is_rejected"]]
    seconds = kept["page_seconds"].fillna(kept["market_seconds"])
    lost = decided.groupby("worker")["is_rejected"].mean()
    return Pilot(
        answers=len(decided),
        workers=len(lost),
        seconds_per_item=float(max(seconds[seconds > 0].median(), 0.1)),
        bad=float((lost > _MOST_LOST).mean()),
        agreement=_agreement(kept, store.campaign.task),
    )


def _agreement(kept: pd.DataFrame, task: Task) -> float:
    """Agreement on the task's first required choice, for items with two answers."""
    names = [f.name for f in task.item_fields if f.kind == "choice" and not f.optional]
    if not names:
        return float("nan")
    column = ITEM_VALUE + names[0]
    several = kept.groupby("item_id").filter(lambda rows: len(rows) > 1)
    if several.empty:
        return float("nan")
    shares = several.groupby("item_id")[column].agg(
        lambda values: values.value_counts().iloc[0] / len(values)
    )
    return float(np.mean(shares))
