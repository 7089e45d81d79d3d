"""Why a row of a source cannot become an item of a campaign."""

import re

from piecework.campaign.questions import posted_question
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.hit import Item, PlannedHit
from piecework.domain.ids import HitKey
from piecework.hit_templates.item_faults import faults_of_item_alone
from piecework.postprocess.splits import faults_of_splits
from piecework.qc.heuristics.canary import planted_word


def faults_of_row(campaign: Campaign, item: Item) -> list[str]:
    """Return what is wrong with an item that arrived after the campaign began.

    Ids and addresses were checked when the row was read.
    """
    faults = faults_of_item_alone(campaign.task, item)
    faults += faults_of_splits([item], campaign.dataset.shares)
    word = planted_word(campaign.heuristics)
    if word:
        shown = re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE)
        columns = campaign.task.shown_columns
        if any(shown.search(item.columns.get(name, "")) for name in columns):
            faults.append(f"{word!r} is in it, the word of heuristics.canary")
    if not faults and campaign.task.own is not None:
        faults += _faults_of_page(campaign, item)
    return faults


def _faults_of_page(campaign: Campaign, item: Item) -> list[str]:
    """Return why the page of a requester's own task cannot show an item."""
    hit = PlannedHit(
        hit_key=HitKey("none"),
        batch=1,
        round=0,
        max_assignments=1,
        reward_cents=0,
        fee_cents=0,
        item_ids=(item.item_id,),
    )
    try:
        posted_question(campaign, hit, {item.item_id: item})
    except ConfigError as fault:
        return list(fault.faults)
    return []
