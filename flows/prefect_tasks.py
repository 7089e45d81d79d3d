"""Steps as Prefect tasks: a task is one step of a pass, not one HIT.

Prefect retries only `collect`, because it only reads. Steps that spend money rely on
the store's intents and run again with the next pass.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from prefect import Task, get_client
from prefect.cache_policies import NO_CACHE
from prefect.context import FlowRunContext
from prefect.runtime import flow_run

from piecework.domain.progress import Progress

_T = TypeVar("_T")
_RETRIES = {"collect": 2}


def run_as_task(name: str, step: Callable[[], _T], /) -> _T:
    """Run a step as a task of the current flow."""
    # The step is a closure: Prefect would traverse a campaign passed as an argument.
    return Task(
        step,
        name=name,
        retries=_RETRIES.get(name, 0),
        retry_delay_seconds=5,
        cache_policy=NO_CACHE,
    )()


def run_name() -> str:
    """Name a flow run for Prefect's pages: the flow and the campaign file's stem."""
    campaign = Path(str(flow_run.parameters["campaign"])).stem
    return f"{flow_run.flow_name} {campaign}"


def label_run(progress: Progress) -> None:
    """Label the current flow run with the campaign and its batch.

    Its name has the current batch, its tags have every batch that it worked on.
    """
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        return
    flow_run = context.flow_run
    name = flow_run.name.partition(", batch ")[0]
    labels = [f"campaign:{progress.campaign}"]
    if progress.batch:
        name += f", batch {progress.batch} of {progress.batches}"
        labels.append(f"batch:{progress.batch}")
    if name == flow_run.name and {*labels} <= {*flow_run.tags}:
        return
    flow_run.name, flow_run.tags = name, sorted({*flow_run.tags, *labels})
    with get_client(sync_client=True) as client:
        client.update_flow_run(flow_run.id, name=flow_run.name, tags=flow_run.tags)
