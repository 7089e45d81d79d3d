"""Estimate how sure labels are, and want one more answer for each unsure one.

This step is for campaigns that ask for as many answers as needed. It runs when a batch
is decided, before more is posted. It stores at once what is wanted, so that a pass that
dies while it posts asks for the same.
"""

from collections.abc import Collection, Mapping

import pandas as pd

from piecework.analyses.ability import NotConvergedError
from piecework.analyses.as_needed import weighed
from piecework.analyses.machine import machine_table
from piecework.campaign.opened import OpenedCampaign
from piecework.domain.errors import PieceworkError
from piecework.domain.ids import ItemId
from piecework.domain.tables import value_column
from piecework.domain.task import MIXED_IN, Field
from piecework.engine.planning.next_action import may_weigh
from piecework.engine.reader import Reader
from piecework.engine.step import Step
from piecework.store import archive, item_totals
from piecework.store.answers_table import read_verdicts
from piecework.store.item_totals import Weighed


def due(reader: Reader) -> Mapping[ItemId, int]:
    """Return items that have all the answers they want, with the number of answers."""
    if not may_weigh(reader.snapshot()):
        return {}
    return item_totals.to_weigh(reader.opened.store, reader.opened.campaign.posting)


def act(opened: OpenedCampaign, due: Mapping[ItemId, int]) -> int:
    """Estimate how sure these labels are; return how many items need another answer.

    Raises:
        PieceworkError: the estimate of the workers' accuracy did not converge.
    """
    rule = opened.campaign.posting.as_needed
    assert rule is not None  # noqa: S101 - without it, no item is unweighed
    table = _kept(opened, due)
    votes = [
        (_votes(table, field), [option.value for option in field.options])
        for field in opened.campaign.task.label_fields
    ]
    answers = pd.Series(due, dtype="int64")
    try:
        estimates = weighed(votes, answers, rule, _machine(opened))
    except NotConvergedError as fault:
        raise PieceworkError(
            f"{opened.campaign.path}: cannot estimate how sure labels are: {fault}",
            next_step="set posting.assignments to a plain number; collected answers "
            "count and are paid",
        ) from fault
    # Mixed-in items have known labels, so they need no more answers.
    items = opened.items_by_id(due)
    mixed_in = [name for name in due if items[name].columns.get(MIXED_IN)]
    is_own = ~estimates.index.isin(mixed_in)
    estimates = estimates.assign(
        probability=estimates["probability"].where(is_own, 1.0),
        wanted=estimates["wanted"].where(is_own, answers),
    )
    item_totals.keep_weighed(
        opened.store,
        {
            ItemId(str(item_id)): Weighed(probability=probability, wanted=wanted)
            for item_id, probability, wanted in zip(
                estimates.index,
                estimates["probability"].tolist(),
                estimates["wanted"].tolist(),
                strict=True,
            )
        },
    )
    return int((estimates["wanted"] > answers).sum())


weigh = Step("weigh", due, act)


def _kept(opened: OpenedCampaign, item_ids: Collection[ItemId]) -> pd.DataFrame:
    """Return kept answers; a worker's first answer to an item comes first.

    Answers in the archive are read only if one of these items has some.
    """
    table = opened.recent_answers()
    if archive.has_answers_to(opened.store, item_ids):
        table = opened.answers()
    verdicts = read_verdicts(opened.store).reindex(table.index)["verdict"]
    kept = table[verdicts.isin(["keep"])]
    return kept.sort_values(["submitted_at", "assignment_id", "position"])


def _machine(opened: OpenedCampaign) -> list[pd.DataFrame | None]:
    """Return the labels of models by field; no table for a field without any."""
    votes = opened.campaign.machine
    return [machine_table(votes, field.name) for field in opened.campaign.task.label_fields]


def _votes(table: pd.DataFrame, field: Field) -> pd.DataFrame:
    """Return the input of `piecework.analyses.votes`; `worker` is the platform's id."""
    return pd.DataFrame(
        {
            "item_id": table["item_id"],
            "worker": table["worker_id"],
            "value": table[value_column(field)],
        }
    )
