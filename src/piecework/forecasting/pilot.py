"""What a pilot says about real people: their times, their losses, their agreement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.errors import ConfigError
from piecework.domain.tables import ITEM_VALUE
from piecework.domain.task import Task
from piecework.forecasting.choices import with_bad
from piecework.results.table import answers_table

_MOST_LOST = 0.5
"""A worker who loses more of his answers than this counts as bad."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pilot:
    """What was measured on real work.

    Attributes:
        answers: how many it was measured on.
        workers: who gave them.
        seconds_per_item: the middle of all kept answers.
        bad: share of the workers who lost more than half of their answers.
        agreement: share of kept choices that are those of their item's majority; NaN
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
        """A crowd with as large a share of bad workers as the pilot had."""
        return with_bad(crowd, self.bad, bad)


def pilot_of(store: OpenedCampaign) -> Pilot:
    """What a campaign's store says about its workers.

    Raises:
        ConfigError: nothing in it is decided.
    """
    table = answers_table(store)
    decided = table[~table["is_provisional"]]
    if decided.empty:
        raise ConfigError(
            [f"{store.campaign.path}: the pilot has no answer that is decided"],
            next_step="let a person decide, then forecast again",
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
    """Of the first choice that the task asks for, where two or more answered."""
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
