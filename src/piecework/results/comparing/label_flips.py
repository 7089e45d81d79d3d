"""Labels that are others if other answers are kept.

A label is what the dataset has: the majority, the likeliest option, the options that
most ticked, a mean, or the best edit. A label that a person settled stays.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from piecework.campaign.opened import OpenedCampaign
from piecework.domain import column_names as names
from piecework.domain.campaign import Campaign
from piecework.domain.task import Aggregate
from piecework.postprocess.aggregates import item_aggregates
from piecework.results.table import surplus
from piecework.store import item_totals, results


def label_flips(
    opened: OpenedCampaign, table: pd.DataFrame, cells: pd.DataFrame, own: Campaign, tried: Campaign
) -> tuple[pd.DataFrame, int]:
    """Return the labels that differ, and how many were compared."""
    empty = pd.DataFrame(columns=["item", "label", "before", "after"])
    aggregates = {"before": own.task.aggregates, "after": tried.task.aggregates}
    if not any(aggregates.values()):
        return empty, 0
    if own.task.aggregates == tried.task.aggregates and cells["before"].equals(cells["after"]):
        labels = _labels_of(opened, table, cells["before"] == "keep", own.task.aggregates)
        return empty, labels.size
    sides = {
        side: _labels_of(opened, table, cells[side] == "keep", listed)
        for side, listed in aggregates.items()
    }
    before, after = sides["before"], sides["after"]
    both = [name for name in before.columns if name in after.columns]
    rows = [
        (item, name, was, now)
        for name in both
        for item, was, now in zip(before.index, before[name], after[name], strict=True)
        if not _is_same(was, now)
    ]
    return pd.DataFrame(rows, columns=list(empty.columns)), len(before) * len(both)


def _is_same(was: object, now: object) -> bool:
    if isinstance(was, float) and isinstance(now, float):
        return bool(np.isclose(was, now, rtol=0, atol=1e-9, equal_nan=True))
    return was == now


_LABEL: Mapping[str, tuple[str, ...]] = {
    "majority": ("{}", f"{{}}{names.LIKELIEST}"),
    "shares": (f"{{}}{names.MAJORITY}",),
    "mean": (f"{{}}{names.MEAN}",),
    "best_edit": ("{}",),
}
"""The columns with labels, by kind of aggregate."""


def _labels_of(
    opened: OpenedCampaign,
    table: pd.DataFrame,
    is_kept: "pd.Series[bool]",
    aggregates: Sequence[Aggregate],
) -> pd.DataFrame:
    """Return a row per item, with a column per label; those that people settled are left."""
    campaign, store = opened.campaign, opened.store
    table, is_kept = table.sort_index(), is_kept.sort_index()
    posting = campaign.posting
    wanted = item_totals.wanted(store, posting)
    rows = table.assign(
        worker=table["worker_id"],
        is_rejected=~is_kept,
        is_surplus=surplus(table, is_kept, least=posting.assignments, wanted=wanted),
    )
    own = {str(item.item_id): item.columns for item in campaign.own_items}
    answered = [name for name in table["item_id"].unique() if name in own]
    whole = item_aggregates(
        rows[rows["item_id"].isin(answered)],
        answered,
        campaign.task.fields,
        aggregates,
        columns=own,
        machine=campaign.machine,
    )
    columns = [
        column
        for aggregate in aggregates
        for form in _LABEL[aggregate.kind]
        if (column := form.format(aggregate.field)) in whole.columns
    ]
    labels = whole[list(dict.fromkeys(columns))].copy()
    for (item_id, field), settled in results.load_labels(store).items():
        if item_id in labels.index and field in labels.columns:
            labels.loc[item_id, field] = settled.value
    return labels
