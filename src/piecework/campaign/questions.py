"""The question document of a HIT: the rendered page in MTurk's envelope."""

from collections.abc import Mapping
from urllib.parse import quote

from piecework.domain.campaign import Campaign
from piecework.domain.experiment import PLAIN, Arm
from piecework.domain.hit import Item, PlannedHit, is_picture
from piecework.domain.ids import ItemId
from piecework.domain.picture_location import PictureLocation
from piecework.hit_templates.own_html.page import parts_of_page
from piecework.hit_templates.render import render_hit
from piecework.platforms.wire import SharedQuestion, html_question, page_question
from piecework.qc.heuristics.canary import planted_word

_WHOLE = ("http://", "https://", "/", "data:")
"""Beginnings of addresses that stay as they are."""


def posted_question(
    campaign: Campaign, hit: PlannedHit, items: Mapping[ItemId, Item]
) -> str | SharedQuestion:
    """Return the question of a HIT; a requester's long page in its parts.

    Args:
        campaign: the campaign.
        hit: as it was planned.
        items: all items of the campaign.
    """
    if campaign.task.html_page is None or len(hit.item_ids) != 1:
        return question(campaign, hit, items)
    shown = item_on_page(campaign, items[hit.item_ids[0]])
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
    named = {"url"} if page is None else {*task.columns[1:]}
    pictures = campaign.pictures
    if page is not None and pictures is not None:
        named |= {
            name for name in page.possible_addresses if is_picture(item.columns.get(name, ""))
        }
    served = {
        # File names may contain spaces and "#", addresses may not.
        name: f"/pictures/{quote(_name(url, pictures))}"
        for name, url in item.columns.items()
        if name in named and url and not url.startswith(_WHOLE)
    }
    if not served:
        return item
    return Item(item_id=item.item_id, columns={**item.columns, **served})


def _name(url: str, pictures: PictureLocation | None) -> str:
    """Return a picture's path in its bucket; in a folder it is as written."""
    if pictures is None or pictures.folder is not None:
        return url
    return pictures.name_of(url)
