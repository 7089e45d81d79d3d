"""Let a person approve the price of a campaign, then start its schedule."""

from pathlib import Path

from prefect import flow, get_client
from prefect.deployments import run_deployment
from prefect.flow_runs import suspend_flow_run
from prefect.input import RunInput

import piecework


class Approval(RunInput):
    """What the person fills in on the page of the run, to resume it."""

    approved_by: str


@flow(persist_result=True, log_prints=True)
def start_campaign(campaign: Path, deployment: str) -> str:
    """Return the state of the first pass.

    Args:
        campaign: absolute path of the campaign file.
        deployment: its deployment, such as "advance/birds", whose schedule is paused.
    """
    price = piecework.price(campaign)
    question = (
        f"{campaign.stem}: {price.hits} HITs, {price.assignments} assignments so far; "
        f"expected {price.expected / 100:.2f}. The campaign may spend {price.cap / 100:.2f}."
    )
    # No process waits: Prefect starts the flow again when the person has resumed it.
    approval = suspend_flow_run(
        wait_for_input=Approval.with_initial_data(description=question), timeout=7 * 86_400
    )
    print(f"{approval.approved_by} approved {campaign.stem}")
    with get_client(sync_client=True) as client:
        client.resume_deployment(client.read_deployment_by_name(deployment).id)
    first_pass = run_deployment(deployment, timeout=600)
    return first_pass.state.name
