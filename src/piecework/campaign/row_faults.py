"""Why a row of a source cannot become an item of a campaign, or a HIT be shown."""

import re
from collections.abc import Mapping, Sequence

from piecework.campaign.questions import item_on_page, posted_question
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.experiment import PLAIN
from piecework.domain.hit import Item, PlannedHit
from piecework.domain.ids import HitKey, ItemId
from piecework.domain.printable import one_line
from piecework.hit_templates.item_faults import faults_of_item_alone
from piecework.postprocess.splits import faults_of_splits
from piecework.qc.heuristics.canary import planted_word

_SURELY_FITS = 1_000
"""Characters of a row that fit onto each page of piecework's own tasks."""

_LONGEST_FAULT = 500


def faults_of_row(campaign: Campaign, item: Item) -> list[str]:
    """Return what is wrong with an item that arrived after the campaign began.

    Ids and addresses were checked when the row was read.
    """
    faults = faults_of_item_alone(campaign.task, item_on_page(campaign, item))
    faults += faults_of_splits([item], campaign.dataset.shares)
    word = planted_word(campaign.heuristics)
    if word:
        shown = re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE)
        columns = campaign.task.shown_columns
        if any(shown.search(item.columns.get(name, "")) for name in columns):
            faults.append(f"{word!r} is in it, the word of heuristics.canary")
    length = sum(map(len, item.columns.values()))
    if not faults and (campaign.task.own is not None or length > _SURELY_FITS):
        faults += faults_of_page(campaign, {item.item_id: item}, [item.item_id])
    return [one_line(fault, at_most=_LONGEST_FAULT) for fault in faults]


def faults_of_page(
    campaign: Campaign,
    items: Mapping[ItemId, Item],
    item_ids: Sequence[ItemId],
    *,
    round_number: int = 0,
) -> list[str]:
    """Return why no page can show these items together, in any arm of an experiment.

    Args:
        campaign: the campaign.
        items: the items by id; perhaps with others.
        item_ids: the items of the page, in their order.
        round_number: the round of the HIT.
    """
    arms = campaign.experiment.arms if campaign.experiment else [PLAIN]
    for arm in arms:
        hit = PlannedHit(
            hit_key=HitKey("none"),
            batch=1,
            round=round_number,
            max_assignments=1,
            reward_cents=0,
            fee_cents=0,
            item_ids=tuple(item_ids),
            arm=arm.as_text(),
        )
        try:
            posted_question(campaign, hit, items)
        except ConfigError as fault:
            return list(fault.faults)
        except RecursionError:
            return ["its markup is nested too deeply"]
    return []
