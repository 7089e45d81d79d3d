"""The preparation of a rehearsal: the checked campaign and its drawn pictures."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from piecework.campaign.assembling import assemble
from piecework.campaign.binding import check_bound, rehearsal_environment
from piecework.campaign.caps import check_caps
from piecework.campaign.growing_source import usable_items
from piecework.config.campaign_file import CampaignFile, parse
from piecework.config.drawn_pictures import is_portrait_name, item_rows, picture_name, scene_number
from piecework.domain.campaign import Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.hit import Item
from piecework.engine.begun import known_store
from piecework.platforms.clocks import START
from piecework.simulation.crowd.campaign_crowd import answering_of
from piecework.simulation.crowd.people import people
from piecework.simulation.pictures.drawing.picture import draw
from piecework.simulation.pictures.portraits import draw_portrait, known_portraits, portrait_named
from piecework.simulation.pictures.scenes import scenes

Before = Callable[[Campaign], object]
"""Called with a campaign whose files have no fault, before its store is opened."""


def prepare(path: Path, *, before: Before | None = None) -> Campaign:
    """Return the campaign of a file, after drawing its pictures if it asks for that.

    Raises:
        ConfigError: every fault of the file.
    """
    return prepare_file(parse(path), before=before)


def prepare_file(file: CampaignFile, *, before: Before | None = None) -> Campaign:
    """Do the same for a campaign file that was read."""
    tables = file.tables
    if tables.items.scenes and tables.items.file is None:
        out = file.out
        rows = item_rows(tables.items.scenes)
        # Check the file before writing anything.
        drawn = assemble(file, drawn=rows)
        _check(drawn, before)
        draw_pictures(out, tables.rehearsal.seed, (*drawn.items, *_of_test(drawn)))
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (out / "items.jsonl").write_text(lines, encoding="utf-8")
    campaign = with_known_rows(assemble(file), before=before)
    if tables.items.scenes and tables.items.file is not None:
        shown = items_with_pictures(campaign)
        draw_pictures(campaign.out, tables.rehearsal.seed, shown)
    return campaign


def with_known_rows(campaign: Campaign, *, before: Before | None = None) -> Campaign:
    """Return a checked campaign whose simulated workers know all rows that it has.

    Raises:
        ConfigError: it cannot be rehearsed.
    """
    if campaign.growth is not None:
        known = usable_items(campaign.growth.source)
        campaign = replace(campaign, items=(*known, *campaign.gold))
    _check(campaign, before)
    return campaign


def items_with_pictures(campaign: Campaign) -> tuple[Item, ...]:
    """Return the items with pictures: of practice, of the campaign, of its test."""
    return (*campaign.practice, *campaign.items, *_of_test(campaign))


def _of_test(campaign: Campaign) -> tuple[Item, ...]:
    return campaign.qualification.items if campaign.qualification else ()


def _check(campaign: Campaign, before: Before | None) -> None:
    check_caps(campaign, at=START)
    people(campaign.rehearsal.crowd, seed=campaign.rehearsal.seed)
    answering_of(campaign)
    if before is not None:
        before(campaign)
    with known_store(campaign) as store:
        if store is not None:
            check_bound(store, campaign, rehearsal_environment(campaign))


def draw_pictures(out: Path, seed: int, items: Sequence[Item]) -> None:
    """Draw the scenes and portraits that the items name to `out/pictures`."""
    pictures = out / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    urls = (item.picture for item in items)
    wanted = {PurePosixPath(url).name for url in urls if url}
    portraits = set(filter(is_portrait_name, wanted))
    for name in portraits:
        portrait = portrait_named(name)
        if portrait is None:
            raise ConfigError([f"{name}: there is no such portrait; {known_portraits()}"])
        (pictures / name).write_text(draw_portrait(portrait), encoding="utf-8")
    last = max(map(scene_number, wanted - portraits), default=0)
    for scene in scenes(seed, last):
        name = picture_name(scene.item_id)
        if name in wanted:
            (pictures / name).write_text(draw(scene), encoding="utf-8")
