"""Find out how sure labels are, and want one more answer of each that is not sure.

Where a campaign asks for as many answers as needed: when a batch is decided, before
anything else is posted. What is wanted is stored at once, so that a pass that dies
while it posts asks for the same.
"""

from collections.abc import Mapping

import pandas as pd

from piecework.analyses.ability import NotConvergedError
from piecework.analyses.as_needed import weighed
from piecework.campaign.opened import OpenedCampaign
from piecework.domain.errors import PieceworkError
from piecework.domain.ids import ItemId
from piecework.domain.tables import value_column
from piecework.domain.task import Field
from piecework.engine.planning.next_action import may_weigh
from piecework.engine.reader import Reader
from piecework.engine.step import Step
from piecework.store import item_totals
from piecework.store.answers_table import read_verdicts
from piecework.store.item_totals import Weighed


def due(reader: Reader) -> Mapping[ItemId, int]:
    """Items with all answers that they want, and the number of these."""
    if not may_weigh(reader.snapshot()):
        return {}
    return item_totals.to_weigh(reader.opened.store, reader.opened.campaign.posting)


def act(opened: OpenedCampaign, due: Mapping[ItemId, int]) -> int:
    """Find out how sure these labels are; how many items are to be asked about again.

    Raises:
        PieceworkError: the estimate of what workers are worth did not settle.
    """
    rule = opened.campaign.posting.as_needed
    assert rule is not None  # noqa: S101 - else nothing is unweighed
    table = _kept(opened)
    votes = [
        (_votes(table, field), [option.value for option in field.options])
        for field in opened.campaign.task.label_fields
    ]
    answers = pd.Series(due, dtype="int64")
    try:
        estimates = weighed(votes, answers, rule)
    except NotConvergedError as fault:
        raise PieceworkError(
            f"{opened.campaign.path}: how sure labels are cannot be told: {fault}",
            next_step="write a number alone as posting.assignments; what is collected "
            "counts, and is paid",
        ) from fault
    # What is known of the items that were mixed in is not asked for.
    own = {item.item_id for item in opened.campaign.own_items}
    is_own = estimates.index.isin(own)
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


def _kept(opened: OpenedCampaign) -> pd.DataFrame:
    """Kept answers, a worker's first about an item before his others."""
    table = opened.answers()
    verdicts = read_verdicts(opened.store).reindex(table.index)["verdict"]
    kept = table[verdicts.isin(["keep"])]
    return kept.sort_values(["submitted_at", "assignment_id", "position"])


def _votes(table: pd.DataFrame, field: Field) -> pd.DataFrame:
    """What `piecework.analyses.votes` reads; `worker` is the platform's id."""
    return pd.DataFrame(
        {
            "item_id": table["item_id"],
            "worker": table["worker_id"],
            "value": table[value_column(field)],
        }
    )
