"""`advance`: one pass, for a schedule; `run`: passes until nothing is left to do.

Neither has to live for the days that a campaign takes. A pass that dies is run again.
"""

import time
from pathlib import Path

from prefect import flow

from domain.progress import GOES_ON, Progress
from flows.artifacts import publish_artifacts
from flows.passes import one_pass, run_name
from flows.wiring import load_campaign, market_place
from flows.writing import write_results


@flow(name="advance", flow_run_name=run_name, validate_parameters=True)
def advance(campaign: str, endpoint: str, *, live: bool = False) -> dict[str, object]:
    """Do what is due on a campaign and end.

    Args:
        campaign: path of the campaign file.
        endpoint: URL of the marketplace.
        live: spend real money; refused until that is built.

    Returns:
        The progress as plain values (`flows.steps.progress.Progress`).
    """
    loaded = load_campaign(Path(campaign))
    campaign = str(loaded.path)
    with market_place(loaded, endpoint, live=live):
        return _finish_pass(campaign, one_pass(campaign)).as_dict()


@flow(name="run", flow_run_name=run_name, validate_parameters=True)
def run(
    campaign: str, endpoint: str, *, live: bool = False, poll_seconds: float = 60
) -> dict[str, object]:
    """Make passes until the campaign is finished or waits for people.

    Args:
        campaign: path of the campaign file.
        endpoint: URL of the marketplace.
        live: spend real money; refused until that is built.
        poll_seconds: how long to wait while workers work.

    Returns:
        The progress as plain values.
    """
    loaded = load_campaign(Path(campaign))
    campaign = str(loaded.path)
    with market_place(loaded, endpoint, live=live):
        while (reached := one_pass(campaign)).waiting_for in GOES_ON:
            if reached.waiting_for != "the next pass":
                time.sleep(poll_seconds)
        return _finish_pass(campaign, reached).as_dict()


def _finish_pass(campaign: str, reached: Progress) -> Progress:
    report = write_results(campaign) if reached.is_finished else None
    publish_artifacts(campaign, reached, report)
    return reached
