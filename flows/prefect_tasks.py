"""Steps as Prefect tasks: a task is one step of a pass, not one HIT.

Prefect retries only `collect`, because it only reads. Steps that spend money rely on
the store's intents and run again with the next pass.
"""

import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from prefect import Task, get_client
from prefect.cache_policies import NO_CACHE
from prefect.context import FlowRunContext
from prefect.runtime import flow_run
from prefect.tasks import MaterializingTask

from piecework.domain.campaign import Campaign
from piecework.domain.progress import Progress
from piecework.engine.step import Call

_T = TypeVar("_T")
_RETRIES = {"collect": 2}
_NOT_IN_KEY = re.compile(r"[^A-Za-z0-9._~:/=+,-]")
_MOST = 512
"""Prefect's limits of an asset's key."""


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


def materializing(campaign: Campaign) -> Call:
    """Return `run_as_task`, whose task `export` materializes the dataset.

    Prefect then knows the dataset and its sinks as assets that come from the source.
    """
    folder = campaign.path.parent
    source = campaign.growth.source.name if campaign.growth else str(campaign.path)
    written = [str(campaign.out / "dataset"), *(sink.to for sink in campaign.sinks)]

    def call(name: str, step: Callable[[], _T], /) -> _T:
        if name != "export":
            return run_as_task(name, step)
        return MaterializingTask(
            step,
            name=name,
            cache_policy=NO_CACHE,
            assets=[asset_key(address, folder) for address in written],
            asset_deps=[asset_key(source, folder)],
            materialized_by="piecework",
        )()

    return call


def asset_key(address: str, folder: Path) -> str:
    """Return the key of a path or an address, with signs that Prefect allows.

    What may be secret is left out: user, password and options. A path has its machine.

    >>> asset_key("s3://bucket/arrivals", Path("/srv"))
    's3://bucket/arrivals'
    >>> asset_key("postgresql+psycopg://me:${PASSWORD}@host/shop?x=y", Path("/srv"))
    'postgresql://host/shop'
    """
    protocol, separator, rest = address.partition("://")
    if not separator:
        protocol, rest = (
            "file",
            f"{socket.gethostname()}{(folder / address).as_posix()}",
        )
    host, slash, path = re.split("[?#]", rest)[0].partition("/")
    key = f"{host.rpartition('@')[2]}{slash}{path}"
    return f"{protocol.partition('+')[0].lower()}://{_NOT_IN_KEY.sub('_', key)}"[:_MOST]


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
        name += f", batch {progress.batch_shown}"
        labels.append(f"batch:{progress.batch}")
    if name == flow_run.name and {*labels} <= {*flow_run.tags}:
        return
    flow_run.name, flow_run.tags = name, sorted({*flow_run.tags, *labels})
    with get_client(sync_client=True) as client:
        client.update_flow_run(flow_run.id, name=flow_run.name, tags=flow_run.tags)
