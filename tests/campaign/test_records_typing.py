"""A campaign's pages record how texts are entered, unless its file says not to."""

from pathlib import Path

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.campaign.questions import question
from piecework.domain.hit import Item, PlannedHit
from piecework.domain.ids import HitKey, ItemId

CAMPAIGN = """
name = "mugs"
description = "Mugs."
task = "caption"
language = "en"
budget = "50.00"
hourly_wage = "10.00"

[items]
file = "mugs.csv"

[posting]
{line}

[decisions]
by = "person"

"""


def page_of(path: Path) -> str:
    """The question of a HIT about one item."""
    columns = {"image_id": "a", "url": "/pictures/a.svg"}
    item = Item(item_id=ItemId("a"), columns=columns)
    hit = PlannedHit(
        hit_key=HitKey("mugs.b0001.r00.000001"),
        batch=1,
        round=0,
        max_assignments=1,
        reward_cents=100,
        fee_cents=20,
        item_ids=(item.item_id,),
    )
    return question(load_campaign(path), hit, {item.item_id: item})


@pytest.mark.parametrize(
    ("line", "is_recorded"),
    [("", True), ("records_typing = true", True), ("records_typing = false", False)],
)
def test_the_file_decides_whether_pages_record_typing(
    tmp_path: Path,
    line: str,
    is_recorded: bool,  # noqa: FBT001 - a case
) -> None:
    """Field, script and the sentence for workers come and go together."""
    (tmp_path / "mugs.csv").write_text("image_id,url\na,https://pictures.example/a\n")
    path = tmp_path / "mugs.toml"
    path.write_text(CAMPAIGN.format(line=line), "utf-8")
    page = page_of(path)
    for part in ('name="typing.1"', "window.pieceworkTyping=", "how each text is"):
        assert (part in page) is is_recorded
    assert 'name="keystrokes.1"' in page
