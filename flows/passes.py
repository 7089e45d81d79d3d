"""One pass over a campaign as Prefect tasks: whatever is due, in the one order.

A task is a stage, never a HIT, and takes the campaign's path, never frames or answers.
Only `collect` is retried by Prefect, because it only reads; the acts that spend lean on
the store's intents, and simply run again with the next pass.
"""

from pathlib import Path

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.runtime import flow_run

from domain.progress import Progress
from flows.steps import assess, collect, decide, launch, settle
from flows.steps.progress import progress
from flows.wiring import place_of, tell


@task(name="collect", retries=2, retry_delay_seconds=5, cache_policy=NO_CACHE)
def collect_answers(campaign: str, *, harvest: bool = False) -> int:
    """Fetch the answers that are due; how many assignments came."""
    return collect.collect(place_of(campaign), harvest=harvest)


@task(name="assess", cache_policy=NO_CACHE)
def assess_answers(campaign: str) -> int:
    """Run the heuristics over what came of the batch; how many findings flag."""
    return assess.assess(place_of(campaign))


@task(name="decide", cache_policy=NO_CACHE)
def decide_answers(campaign: str) -> int:
    """Decide by the stated policy; how many decisions are new."""
    return decide.decide(place_of(campaign))


@task(name="settle", retries=0, cache_policy=NO_CACHE)
def settle_decisions(campaign: str) -> int:
    """Pay, reject and exclude as decided; how many decisions were carried out."""
    return settle.settle(place_of(campaign))


@task(name="launch", retries=0, cache_policy=NO_CACHE)
def launch_hits(campaign: str) -> int:
    """Post what comes next; how many HITs were posted."""
    return launch.launch(place_of(campaign))


def run_name() -> str:
    """What Prefect's pages call a flow run: the flow and the campaign file's stem."""
    campaign = Path(str(flow_run.parameters["campaign"])).stem
    return f"{flow_run.flow_name} {campaign}"


def one_pass(campaign: str, *, harvest: bool = False) -> Progress:
    """Do whatever is due, in order, and say how far the campaign is.

    Args:
        campaign: path of the campaign file.
        harvest: ask open HITs for what they have got, however lately that was done.
    """
    collected = collect_answers(campaign, harvest=harvest)
    if collected or _has_work(campaign):
        assess_answers(campaign)
        decide_answers(campaign)
        settle_decisions(campaign)
        launch_hits(campaign)
    reached = progress(place_of(campaign))
    tell(reached)
    return reached


def _has_work(campaign: str) -> bool:
    return progress(place_of(campaign)).waiting_for == "the next pass"
