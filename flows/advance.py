"""`advance`: one pass, for a schedule; `run`: passes until nothing is left to do.

Neither has to live for the days that a campaign takes. A pass that dies is run again.
"""

import time
from datetime import timedelta
from pathlib import Path

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.states import Completed

from domain.errors import CampaignBusy
from domain.progress import GOES_ON, Progress
from flows.artifacts import publish_artifacts
from flows.credentials import from_block
from flows.events import tell_of_end, tell_of_failure
from flows.looking import look
from flows.orders import Orders, amount_cents, campaign_path
from flows.passes import one_pass, run_name
from flows.wiring import load_campaign, market_place
from flows.worlds import world
from flows.writing import write_results
from platforms.credentials import Credentials
from store import standing
from store.polls import next_wait


@flow(
    name="advance",
    flow_run_name=run_name,
    validate_parameters=True,
    on_failure=[tell_of_failure],
    on_crashed=[tell_of_failure],
)
def advance(
    campaign: str,
    endpoint: str,
    *,
    live: bool = False,
    spend_at_most: str = "",
    credentials_block: str = "",
    rehearsal: bool = False,
    anew: bool = False,
    harvest: bool = False,
) -> State[dict[str, object]]:
    """Do what is due on a campaign and end.

    It never waits: where workers or people have to act first, the run ends and its
    state says so.

    Args:
        campaign: path of the campaign file; a relative one begins at the checkout.
        endpoint: URL of the marketplace.
        live: real people work; needed for a marketplace on another machine.
        spend_at_most: dollars that the whole campaign may take, e.g. `120.00`; without
            it, what was agreed before.
        credentials_block: name of a Prefect `Secret` block with keys; without it,
            boto3's own chain.
        rehearsal: the marketplace is a rehearsal's (`piecework crowd`).
        anew: begin although HITs of a campaign of this name are there already.
        harvest: ask open HITs for what they have got, however lately that was done.

    Returns:
        The progress as plain values (`domain.progress.Progress`).
    """
    orders = Orders(
        campaign=campaign_path(campaign),
        endpoint=endpoint,
        live=live,
        spend_at_most_cents=_cents(spend_at_most),
        rehearsal=rehearsal,
        anew=anew,
    )
    credentials = from_block(credentials_block)
    try:
        reached = None if harvest else look(orders, credentials=credentials)
        reached = reached or _whole_pass(orders, credentials, harvest=harvest)
    except CampaignBusy as busy:
        return Completed(name="AnotherPassIsAtWork", message=str(busy), data={})
    tell_of_end(campaign, reached)
    return _ended(reached)


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
        poll_seconds: how long to wait while workers work; longer, up to sixty times
            that, the less comes, and up to twice as long while a batch is far from
            done.
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
        least = timedelta(seconds=poll_seconds)
        wait, known = least, 0
        while (reached := one_pass(campaign)).waiting_for in GOES_ON:
            left, done = reached.hits_open, reached.hits_posted - reached.hits_open
            wait = next_wait(wait, came=done - known, left=left, least=least)
            known = done
            if reached.waiting_for != "the next pass":
                time.sleep(wait.total_seconds())
        return _finish_pass(campaign, reached).as_dict()


def _cents(spend_at_most: str) -> int | None:
    return amount_cents(spend_at_most) if spend_at_most else None


def _whole_pass(
    orders: Orders, credentials: Credentials | None, *, harvest: bool
) -> Progress:
    with world(orders, credentials=credentials) as place:
        campaign = str(place.campaign.path)
        reached = _finish_pass(campaign, one_pass(campaign, harvest=harvest))
        standing.remember(place.store, reached.as_dict(), asked=orders.digest())
    return reached


def _finish_pass(campaign: str, reached: Progress) -> Progress:
    report = write_results(campaign) if reached.is_finished else None
    publish_artifacts(campaign, reached, report)
    return reached


def _ended(reached: Progress) -> State[dict[str, object]]:
    """The run's last state: done, and who is waited for."""
    name, message = "Completed", f"waiting for {reached.waiting_for}"
    if reached.waiting_for == "people":
        name = "WaitsForPeople"
        message = (
            f"{reached.to_decide} decisions wait for a person: piecework decisions "
            "CAMPAIGN --write decisions.csv"
        )
    elif reached.is_finished:
        name, message = "Finished", "finished; dataset and report lie ready"
    return Completed(name=name, message=message, data=reached.as_dict())
