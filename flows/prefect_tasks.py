"""Steps as Prefect tasks, and their log lines.

A task is one step of a pass, not one HIT. Prefect retries only `collect`, because it
only reads. Steps that spend money rely on the store's intents and run again with the
next pass.

Prefect sends only its own loggers' lines to its server, so the flow adds the handler
itself, and a deployment needs no setting for it. The lines hold counts, names and
addresses, but no answers and no worker ids. A run's console is a pipe to its worker.
When the worker is killed, the next line would end the run, so runs can go on without a
console.
"""

import logging
import os
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from functools import partial, wraps
from pathlib import Path
from typing import ParamSpec, TypeVar, cast

from prefect import Task, get_client
from prefect.cache_policies import NO_CACHE
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterDeploymentId,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.context import FlowRunContext
from prefect.events.filters import EventFilter
from prefect.exceptions import PrefectHTTPStatusError
from prefect.logging.handlers import APILogHandler, PrefectConsoleHandler
from prefect.runtime import flow_run
from prefect.states import Crashed, Failed
from prefect.tasks import MaterializingTask

from piecework.domain.campaign import Campaign
from piecework.domain.clock import SystemClock
from piecework.domain.errors import ConfigError, PieceworkError
from piecework.domain.progress import Progress
from piecework.domain.text import without_secrets
from piecework.engine.snapshot import Call

_LOG = logging.getLogger(__name__)

_T = TypeVar("_T")
_P = ParamSpec("_P")
_SILENCE = timedelta(minutes=10)
"""How long a run may be silent; it sends a heartbeat every three minutes."""

_MOST_FAULTS = 10
"""In the message of a run's state."""

_RETRIES = {"collect": 2}
_NOT_IN_KEY = re.compile(r"[^A-Za-z0-9._~:/=+,-]")
_MOST = 512
"""Prefect's limits of an asset's key."""


def run_as_task(name: str, step: Callable[[], _T], /) -> _T:
    """Run a step as a task of the current flow."""
    # The step is a closure: Prefect would traverse a campaign passed as an argument.
    return Task(
        step, name=name, retries=_RETRIES.get(name, 0), retry_delay_seconds=5, cache_policy=NO_CACHE
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
        protocol, rest = ("file", f"{socket.gethostname()}{(folder / address).as_posix()}")
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


def says_what_helps(flow_body: Callable[_P, _T]) -> Callable[_P, _T]:
    """Let a flow that fails say in its final state why, and what to do next.

    Prefect's lists show the message on one line, without the error's `next_step`. A
    caller in this process gets the error itself; a flow that calls this one gets it with
    the next step in its text (`next_step_in_text`).
    """

    @wraps(flow_body)
    def body(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        context = FlowRunContext.get()
        this_run = None if context is None else context.flow_run
        is_called = this_run is not None and this_run.parent_task_run_id is not None
        try:
            with next_step_in_text() if is_called else nullcontext():
                return flow_body(*args, **kwargs)
        except PieceworkError as fault:
            # To Prefect a returned state is the outcome of the run.
            return cast("_T", Failed(message=message_of(fault), data=cast("None", fault)))

    return body


@contextmanager
def next_step_in_text() -> Iterator[None]:
    """Let an error of a block end with its next step, on one line.

    Prefect makes the state of a requester's own flow from the error's text alone.
    """
    try:
        yield
    except PieceworkError as fault:
        fault.args = (message_of(fault),)
        raise


def message_of(fault: PieceworkError) -> str:
    """Return an error and its next step on one line; several faults are counted.

    >>> message_of(ConfigError(["no reward", "no items"], next_step="piecework check"))
    '2 faults: (1) no reward; (2) no items; next: piecework check'
    """
    if fault.next_step and str(fault).endswith(f"; next: {fault.next_step}"):
        return str(fault)
    faults = fault.faults if isinstance(fault, ConfigError) else [str(fault)]
    lines = [" ".join(text.split()) for text in faults]
    message = "; ".join(lines)
    if len(lines) > 1:
        listed = [f"({number}) {line}" for number, line in enumerate(lines, start=1)]
        more = ["…"] if len(listed) > _MOST_FAULTS else []
        message = f"{len(lines)} faults: " + "; ".join(listed[:_MOST_FAULTS] + more)
    return f"{message.removesuffix('.')}; next: {fault.next_step}" if fault.next_step else message


def _on_one_line(record: logging.LogRecord) -> bool:
    """Let Prefect log an expected error of a task as its message, without a traceback."""
    fault = record.exc_info[1] if record.exc_info else None
    if isinstance(fault, PieceworkError):
        record.msg, record.args, record.exc_info = f"Failed: {message_of(fault)}", (), None
    return True


logging.getLogger("prefect.task_runs").addFilter(_on_one_line)


def end_dead_runs() -> None:
    """Set runs of this deployment whose process or machine is gone to Crashed.

    Called after a pass that had the campaign's lock, so no other pass was at work. A
    run that has sent no event for ten minutes is dead, also if it died before an
    automation for that was created.
    """
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        return
    deployment, mine = context.flow_run.deployment_id, context.flow_run.id
    if deployment is None:
        return
    with get_client(sync_client=True) as client:
        live = FlowRunFilterStateType(any_=[StateType.PENDING, StateType.RUNNING])
        runs = client.read_flow_runs(
            flow_run_filter=FlowRunFilter(
                deployment_id=FlowRunFilterDeploymentId(any_=[deployment]),
                state=FlowRunFilterState(type=live),
            )
        )
        for listed in runs:
            if listed.id != mine and _is_silent(client, listed):
                words = "No sign of life for ten minutes. Later passes continue its work."
                client.set_flow_run_state(listed.id, Crashed(message=words), force=True)
                _LOG.info("run %s had died; it is Crashed now", listed.name)


def _is_silent(client: SyncPrefectClient, listed: FlowRun) -> bool:
    since = SystemClock().now() - _SILENCE
    if listed.state is None or listed.state.timestamp > since:
        return False
    sent = EventFilter.model_validate(
        {"occurred": {"since": since}, "resource": {"id": [f"prefect.flow-run.{listed.id}"]}}
    )
    try:
        return not client.read_events(filter=sent, limit=1).events
    except PrefectHTTPStatusError as refusal:
        _LOG.warning("cannot tell whether run %s is dead: %s", listed.name, refusal)
        return False


ROOMS = (
    *("piecework.flows", "piecework.engine", "piecework.results"),
    *("piecework.platforms", "piecework.store"),
)


class _ToRun(APILogHandler):
    """Sends log lines from any thread as those of one run."""

    def __init__(self, flow_run_id: str) -> None:
        super().__init__(logging.INFO)
        self._flow_run_id = flow_run_id

    def emit(self, record: logging.LogRecord) -> None:
        # The threads that call the marketplace have no run context.
        record.flow_run_id = self._flow_run_id
        super().emit(record)

    def format(self, record: logging.LogRecord) -> str:
        return without_secrets(super().format(record))


@contextmanager
def logged_in_run() -> Iterator[None]:
    """Show the block's log lines, from INFO on, in the current flow run.

    On a worker's console its own handler shows them once; a command shows them as its
    options say.
    """
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        yield
        return
    handler = _ToRun(str(context.flow_run.id))
    # PREFECT_LOGGING_EXTRA_LOGGERS may name some: those send already.
    loggers = [
        logger
        for logger in map(logging.getLogger, ROOMS)
        if not any(isinstance(attached, APILogHandler) for attached in logger.handlers)
    ]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        if not logger.isEnabledFor(logging.INFO):
            logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)
        handler.close()


def outlive_console() -> None:
    """Let the process go on, with its log on the server, if its console is closed."""
    for handler in logging.root.handlers:
        if isinstance(handler, PrefectConsoleHandler):
            console = handler.console
            # rich's own method ends the process.
            console.on_broken_pipe = partial(_to_nowhere, handler)  # type: ignore[method-assign]


def _to_nowhere(handler: PrefectConsoleHandler) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, handler.stream.fileno())
    os.close(nowhere)


# On import, because Prefect logs before it calls the flow.
outlive_console()
