"""Each night: write the items to ask about, rehearse the campaign, and make a real pass."""

from pathlib import Path

import pandas as pd
from prefect import flow, task

from piecework.flows.advance import advance
from piecework.flows.rehearse import rehearse

MOST_LOST = 0.3


@task
def write_items(table: Path, items: Path) -> int:
    """Write the rows that people are asked about; return how many there are."""
    rows = pd.read_csv(table, dtype=str)
    rows = rows[rows["needs_caption"] == "yes"]
    rows[["image_id", "url"]].to_csv(items, index=False)
    return len(rows)


@flow(log_prints=True)
def caption_arrivals(table: Path, campaign: Path, *, live: bool = True) -> int:
    """Return how many answers are accepted so far.

    Args:
        table: CSV with `image_id`, `url` and `needs_caption`.
        campaign: campaign file whose items are `items.csv` beside it.
        live: also make a pass at the marketplace of the deployment file.

    Raises:
        ValueError: the rehearsal lost too many answers; nothing was posted.
    """
    campaign = campaign.resolve()
    if write_items(table, campaign.with_name("items.csv")) == 0:
        return 0
    # Both are subflows: each has a run, states and artifacts of its own.
    rehearsed = rehearse(str(campaign))
    lost = 1 - rehearsed["accepted"] / max(1, rehearsed["answers"])
    print(f"rehearsal {rehearsed['rehearsal']} lost {lost:.0%} of its answers")
    if lost > MOST_LOST:
        raise ValueError(f"the rehearsal lost {lost:.0%} of its answers; see its report")
    return advance(str(campaign))["accepted"] if live else rehearsed["accepted"]
