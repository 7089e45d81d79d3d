"""An experiment with the page in a campaign: what is refused, planned and shown."""

from collections import Counter
from datetime import date
from pathlib import Path

import pytest

from piecework.campaign.assembling import load_campaign
from piecework.campaign.dealing import all_first_rounds, replacements
from piecework.campaign.questions import question
from piecework.domain.errors import ConfigError
from piecework.domain.experiment import Arm
from tests.small_campaign import CAMPAIGN, write_campaign

DAY = date(2026, 3, 1)
WORDING = "Please write in your own words."
TABLE = f"""[experiment]
wordings = ["", "{WORDING}"]
paste = ["allowed", "blocked"]
"""
WITH = CAMPAIGN.replace("[posting]", f"{TABLE}[posting]")


def test_hits_get_their_arms_and_pages(tmp_path: Path) -> None:
    """Four batches of one HIT have the four pages, and each page says what it does."""
    text = WITH.replace("batches = 2", "batches = 4")
    campaign = load_campaign(write_campaign(tmp_path, text, pictures=8))
    planned = [hit for batch in all_first_rounds(campaign, on=DAY) for hit in batch]
    assert Counter(hit.arm for hit in planned) == dict.fromkeys(
        {
            Arm(wording=wording, paste=paste).as_text()
            for wording in ("", WORDING)
            for paste in ("allowed", "blocked")
        },
        1,
    )
    items = {item.item_id: item for item in campaign.items}
    for hit in planned:
        page, arm = question(campaign, hit, items), Arm.from_text(hit.arm)
        assert (WORDING in page) == bool(arm.wording)
        assert ("let-paste" in page) == (arm.paste == "blocked")


def test_another_campaign_draws_other_arms(tmp_path: Path) -> None:
    """For eight HITs; with the same name they are the same."""
    drawn = []
    for name in ("crash", "other", "other"):
        text = WITH.replace('name = "crash"', f'name = "{name}"')
        campaign = load_campaign(write_campaign(tmp_path, text, pictures=16))
        rounds = all_first_rounds(campaign, on=DAY)
        drawn.append([hit.arm for hits in rounds for hit in hits])
    first, second, again = drawn
    assert len(first) == 8
    assert first != second == again


def test_added_slots_show_the_page_of_their_hit(tmp_path: Path) -> None:
    """So they have no arm; a new HIT has its own."""
    campaign = load_campaign(write_campaign(tmp_path, WITH))
    hit = all_first_rounds(campaign, on=DAY)[0][0]
    missing = dict.fromkeys(hit.item_ids, 1)
    (added,) = replacements(campaign, 1, 1, missing, on=DAY, extendable=[hit])
    assert (added.extends, added.arm) == (hit.hit_key, "")
    (new,) = replacements(campaign, 1, 1, missing, on=DAY)
    assert new.arm


def test_without_an_experiment_nothing_changes(tmp_path: Path) -> None:
    """No arm, and the page as it was."""
    campaign = load_campaign(write_campaign(tmp_path))
    hit = all_first_rounds(campaign, on=DAY)[0][0]
    assert hit.arm == ""
    items = {item.item_id: item for item in campaign.items}
    page = question(campaign, hit, items)
    assert "notice-paste" not in page
    assert "data-paste" not in page


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ('paste = ["allowed", "blocked"]', 'paste = ["off"]', "'allowed'"),
        (f'["", "{WORDING}"]', '["", ""]', "wordings states something twice"),
        (TABLE, "[experiment]\n", "there is nothing to compare"),
        (WORDING, "Type\\u0007", "without control characters"),
        ('task = "caption"', 'task = "congruency"', "asks for no text"),
    ],
)
def test_an_experiment_that_cannot_be_is_refused(
    tmp_path: Path, before: str, after: str, fault: str
) -> None:
    """In a sentence."""
    assert before in WITH
    path = write_campaign(tmp_path, WITH.replace(before, after))
    with pytest.raises(ConfigError) as caught:
        load_campaign(path)
    assert any(fault in sentence for sentence in caught.value.faults)
