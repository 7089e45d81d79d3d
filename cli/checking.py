"""What `piecework check` finds out: everything that can be known before a call."""

from itertools import chain
from pathlib import Path

from config.campaign_file import read_file
from domain.campaign import Campaign
from flows.steps.launch import question
from flows.steps.planning import all_first_rounds, campaign_cost_cents, check_cap
from flows.wiring import load_campaign
from hit_templates.render import question_bytes
from rehearsal import scenes


def check_campaign(path: Path) -> dict[str, object]:
    """Read, render and price a campaign; facts by name, money in cents.

    Raises:
        ConfigError: every fault of file, items, heuristics, policy and pages.
        BudgetExceeded: the cap is below the plain cost.
    """
    campaign = read_anywhere(path)
    check_cap(campaign)
    hits = list(chain(*all_first_rounds(campaign)))
    items = {item.item_id: item for item in campaign.items}
    largest = max(question_bytes(question(campaign, hit, items)) for hit in hits)
    assignments = sum(hit.max_assignments for hit in hits)
    floor = campaign.rewards.wage_floor_cents_per_hour
    return {
        "campaign": campaign.name,
        "items": len(campaign.items),
        "batches": campaign.posting.batches,
        "HITs": len(hits),
        "assignments": assignments,
        "largest question in bytes": largest,
        "reward of a HIT_cents": campaign.rewards.reward_cents,
        "cost without replacements_cents": campaign_cost_cents(campaign),
        "cap_cents": campaign.rewards.budget_cents,
        "minutes a HIT may take to stay at the wage floor": (
            round(60 * campaign.rewards.reward_cents / floor, 1) if floor else "any"
        ),
    }


def read_anywhere(path: Path) -> Campaign:
    """The campaign of a file, with drawn pictures even if none were drawn yet."""
    words = read_file(path)
    if not words.items.scenes:
        return load_campaign(path)
    return load_campaign(path, drawn=scenes.item_rows(words.items.scenes))
