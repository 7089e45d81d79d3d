"""`advance`: one pass, for a schedule; `run`: passes until nothing is left to do.

Neither has to live for the days that a campaign takes. A pass that dies is run again.
"""

import time
from pathlib import Path

from prefect import flow

from domain.progress import GOES_ON, Progress
from flows.artifacts import publish_artifacts
from flows.credentials import from_block
from flows.leave import amount_cents
from flows.passes import one_pass, run_name
from flows.wiring import load_campaign, market_place
from flows.writing import write_results


@flow(name="advance", flow_run_name=run_name, validate_parameters=True)
def advance(
    campaign: str,
    endpoint: str,
    *,
    live: bool = False,
    spend_at_most: str = "",
    credentials_block: str = "",
) -> dict[str, object]:
    """Do what is due on a campaign and end.

    Args:
        campaign: path of the campaign file.
        endpoint: URL of the marketplace.
        live: real people work; needed for a marketplace on another machine.
        spend_at_most: dollars that the whole campaign may take, e.g. `120.00`; without
            it, what was agreed before.
        credentials_block: name of a Prefect `Secret` block with keys; without it,
            boto3's own chain.

    Returns:
        The progress as plain values (`flows.steps.progress.Progress`).
    """
    loaded = load_campaign(Path(campaign))
    campaign = str(loaded.path)
    with market_place(
        loaded,
        endpoint,
        live=live,
        spend_at_most_cents=_cents(spend_at_most),
        credentials=from_block(credentials_block),
    ):
        return _finish_pass(campaign, one_pass(campaign)).as_dict()


@flow(name="run", flow_run_name=run_name, validate_parameters=True)
def run(
    campaign: str,
    endpoint: str,
    *,
    live: bool = False,
    poll_seconds: float = 60,
    spend_at_most: str = "",
    credentials_block: str = "",
) -> dict[str, object]:
    """Make passes until the campaign is finished or waits for people.

    Args:
        campaign: path of the campaign file.
        endpoint: URL of the marketplace.
        live: real people work; needed for a marketplace on another machine.
        poll_seconds: how long to wait while workers work.
        spend_at_most: dollars that the whole campaign may take; as for `advance`.
        credentials_block: name of a Prefect `Secret` block; as for `advance`.

    Returns:
        The progress as plain values.
    """
    loaded = load_campaign(Path(campaign))
    campaign = str(loaded.path)
    with market_place(
        loaded,
        endpoint,
        live=live,
        spend_at_most_cents=_cents(spend_at_most),
        credentials=from_block(credentials_block),
    ):
        while (reached := one_pass(campaign)).waiting_for in GOES_ON:
            if reached.waiting_for != "the next pass":
                time.sleep(poll_seconds)
        return _finish_pass(campaign, reached).as_dict()


def _cents(spend_at_most: str) -> int | None:
    return amount_cents(spend_at_most) if spend_at_most else None


def _finish_pass(campaign: str, reached: Progress) -> Progress:
    report = write_results(campaign) if reached.is_finished else None
    publish_artifacts(campaign, reached, report)
    return reached
