"""The question document of a HIT, or why a row or a page of items cannot be shown.

The document is the rendered page in MTurk's envelope.
"""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.experiment import PLAIN, Arm
from piecework.domain.hit import Item, PlannedHit, is_picture
from piecework.domain.ids import HitKey, ItemId
from piecework.domain.pictures import PictureLocation
from piecework.domain.text import one_line
from piecework.hit_templates.item_faults import faults_of_item_alone
from piecework.hit_templates.own_html.page import parts_of_page
from piecework.hit_templates.render import render_hit
from piecework.platforms.wire import SharedQuestion, html_question, page_question
from piecework.postprocess.splits import faults_of_splits
from piecework.qc.heuristics.canary import planted_word

_SERVED = "/pictures/"
_WHOLE = ("http://", "https://", "/", "data:")
"""Beginnings of addresses that stay as they are, apart from those that are served."""


def posted_question(
    campaign: Campaign, hit: PlannedHit, items: Mapping[ItemId, Item]
) -> str | SharedQuestion:
    """Return the question of a HIT; a requester's long page in its parts.

    Args:
        campaign: the campaign.
        hit: as it was planned.
        items: all items of the campaign.
    """
    if campaign.task.html_page is None or len(hit.item_ids) > campaign.task.items_per_hit:
        return question(campaign, hit, items)
    shown = [item_on_page(campaign, items[item_id]) for item_id in hit.item_ids]
    title = campaign.title or campaign.task.title
    return page_question(*parts_of_page(campaign.task, shown, title=title))


def question(campaign: Campaign, hit: PlannedHit, items: Mapping[ItemId, Item]) -> str:
    """Return the question document of a HIT, as XML.

    Args:
        campaign: the campaign.
        hit: as it was planned.
        items: all items of the campaign.
    """
    page = render_hit(
        campaign.task,
        [item_on_page(campaign, items[item_id]) for item_id in hit.item_ids],
        practice=[item_on_page(campaign, item) for item in campaign.practice],
        title=campaign.title,
        round_number=hit.round,
        canary=planted_word(campaign.heuristics),
        records_typing=campaign.posting.records_typing,
        arm=Arm.from_text(hit.arm) if hit.arm else PLAIN,
    )
    return html_question(page)


def item_on_page(campaign: Campaign, item: Item) -> Item:
    """Return an item with paths of the marketplace for pictures that it serves."""
    task, page = campaign.task, campaign.task.html_page
    named = {*task.picture_columns}
    pictures = campaign.pictures
    if page is not None and pictures is not None:
        named |= {
            name for name in page.possible_addresses if is_picture(item.columns.get(name, ""))
        }
    served = {
        # File names may contain spaces and "#", addresses may not.
        name: f"{_SERVED}{quote(_name(inside, pictures))}"
        for name, url in item.columns.items()
        if name in named and (inside := url.removeprefix(_SERVED)) and not inside.startswith(_WHOLE)
    }
    if not served:
        return item
    return Item(item_id=item.item_id, columns={**item.columns, **served})


def _name(url: str, pictures: PictureLocation | None) -> str:
    """Return a picture's path in its bucket; in a folder it is as written."""
    if pictures is None or pictures.folder is not None:
        return url
    return pictures.name_of(url)


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
