"""`ask` and `ask_table` for flows: the run is suspended until people have answered.

No process waits meanwhile. A pass of the deployment `advance` that finds the answers
lets the run continue; Prefect then runs the flow again from its beginning, and `ask`
returns. A run that cannot be suspended (without a deployment, or inside a task) waits
as a program does.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from os import PathLike
from typing import TypeVar

import pandas as pd
from prefect.client.schemas.objects import FlowRun
from prefect.context import FlowRunContext, TaskRunContext
from prefect.flow_runs import suspend_flow_run

from piecework.domain.clock import SystemClock
from piecework.flows.prefect_tasks import logged_in_run, next_step_in_text
from piecework.library import asking
from piecework.library.asking import RAISE, Answer

_T = TypeVar("_T")


def ask(
    item: Mapping[str, object],
    *,
    campaign: str | PathLike[str],
    key: str | int,
    field: str | None = None,
    timeout: float | None = None,
    on_timeout: object = RAISE,
    poll_seconds: float = 60,
    rehearse: bool = False,
) -> Answer:
    """Ask people about one item; see `piecework.ask` for arguments and errors.

    `timeout` counts from the start of the flow run.
    """

    def asked(seconds: float | None, otherwise: object) -> Answer:
        with logged_in_run(), next_step_in_text():
            return asking.ask(
                item,
                campaign=campaign,
                key=key,
                field=field,
                timeout=seconds,
                on_timeout=otherwise,
                poll_seconds=poll_seconds,
                rehearse=rehearse,
            )

    flow_run = None if rehearse else _run_to_suspend()
    if flow_run is None:
        return asked(timeout, on_timeout)
    answer = asked(0, None)
    if answer.is_final:
        return answer
    return _suspended(flow_run, asked, campaign, [answer.task], timeout, on_timeout)


def ask_table(
    table: pd.DataFrame,
    *,
    campaign: str | PathLike[str],
    key: str | None = None,
    field: str | None = None,
    timeout: float | None = None,
    on_timeout: object = RAISE,
    poll_seconds: float = 60,
    rehearse: bool = False,
) -> pd.DataFrame:
    """Ask people about each row; see `piecework.ask_table` for arguments and errors.

    `timeout` counts from the start of the flow run.
    """

    def asked(seconds: float | None, otherwise: object) -> pd.DataFrame:
        with logged_in_run(), next_step_in_text():
            return asking.ask_table(
                table,
                campaign=campaign,
                key=key,
                field=field,
                timeout=seconds,
                on_timeout=otherwise,
                poll_seconds=poll_seconds,
                rehearse=rehearse,
            )

    flow_run = None if rehearse else _run_to_suspend()
    if flow_run is None:
        return asked(timeout, on_timeout)
    labels = asked(0, None)
    if labels["is_final"].all():
        return labels
    keys = labels["task"].tolist()
    return _suspended(flow_run, asked, campaign, keys, timeout, on_timeout)


def _run_to_suspend() -> FlowRun | None:
    context = FlowRunContext.get()
    if context is None or TaskRunContext.get() is not None:
        return None
    flow_run = context.flow_run
    if flow_run is None or flow_run.deployment_id is None:
        return None
    return flow_run


def _suspended(
    flow_run: FlowRun,
    asked: Callable[[float | None, object], _T],
    campaign: str | PathLike[str],
    keys: Sequence[str],
    timeout: float | None,
    on_timeout: object,
) -> _T:
    """Suspend the run until its questions or its time are over, unless they are."""
    now = SystemClock().now()
    deadline = _deadline(flow_run.start_time or now, timeout)
    if deadline is not None and deadline <= now:
        return asked(0, on_timeout)
    if not asking.begin_to_wait(campaign, str(flow_run.id), keys, deadline=deadline):
        return asked(0, on_timeout)
    # Prefect lets a run continue at a suspension with a key that it has seen.
    suspensions = len(flow_run.empirical_policy.pause_keys or ())
    # Also in an asynchronous flow, where Prefect would return a coroutine otherwise.
    suspend_flow_run(key=f"answers {suspensions}", _sync=True)  # type: ignore[call-overload]
    left = None if deadline is None else (deadline - now).total_seconds()
    return asked(left, on_timeout)


def _deadline(begun: datetime, timeout: float | None) -> datetime | None:
    """Return when a time in seconds is over; `None`: never, or after the calendar's end."""
    if timeout is None:
        return None
    try:
        return begun + timedelta(seconds=timeout)
    except OverflowError:
        return None
