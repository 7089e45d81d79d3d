"""`advance`: one pass, for a schedule; `run`: passes until no work is left.

Neither process has to stay alive for the days that a campaign takes: a pass that dies
is run again.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from prefect import Flow, flow, get_client
from prefect.blocks.system import Secret
from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas.objects import State
from prefect.client.schemas.responses import SetStateStatus
from prefect.exceptions import ObjectNotFound
from prefect.states import Completed

from piecework.campaign.assembling import load_campaign
from piecework.campaign.growing_source import see_source
from piecework.campaign.opened import CampaignRun, OpenedCampaign
from piecework.campaign.price_list import ask_prices
from piecework.config.campaign_file import parse
from piecework.config.trust import read_deployment
from piecework.domain.clock import SystemClock
from piecework.domain.errors import CampaignBusy, ConfigError
from piecework.domain.money import Currency
from piecework.domain.progress import GOES_ON, Progress
from piecework.domain.text import plural
from piecework.engine.begun import as_begun, has_posted, is_begun
from piecework.engine.opening import (
    open_environment,
    open_on_marketplace,
    open_to_look,
    refuse_other_workers,
    refuse_unsafe,
)
from piecework.engine.pass_request import CampaignPath, PassRequest, amount_cents
from piecework.engine.payments.outside_prices import say_unsettled
from piecework.engine.progress import read_progress
from piecework.engine.quick_check import cached_progress
from piecework.engine.run_pass import run_pass
from piecework.engine.snapshot import Call, Reader, timed
from piecework.engine.take_in import count_new
from piecework.engine.waits import WATCHED_HITS, next_wait
from piecework.engine.watching.pass_watcher import Watch, pass_span, watch_passes
from piecework.flows.prefect_pages import (
    LiveProgress,
    publish_artifacts,
    tell_of_end,
    tell_of_failure,
    tell_of_pass,
    tell_of_release,
)
from piecework.flows.prefect_tasks import (
    end_dead_runs,
    label_run,
    logged_in_run,
    materializing,
    message_of,
    run_as_task,
    run_name,
    says_what_helps,
)
from piecework.platforms.calling import LONG_PATIENCE_SECONDS
from piecework.platforms.endpoint import REHEARSAL, Credentials, normal_endpoint, use_key_of
from piecework.platforms.mturk import MTurk
from piecework.results import item_labels
from piecework.results.whole_pass import finish_pass, remember_pass
from piecework.store import waiting_runs

_LOG = logging.getLogger(__name__)

BUSY = "AnotherPassIsAtWork"
"""Name of the state of a run that found another process at work on the campaign."""


@flow(
    name="advance",
    flow_run_name=run_name,
    validate_parameters=True,
    on_failure=[tell_of_failure],
    on_crashed=[tell_of_failure],
)
@says_what_helps
def advance(
    campaign: CampaignPath, *, poll_open_hits: bool = False, dry_run: bool = False
) -> State[dict[str, object]]:
    """Do what is due on a campaign and end. A deployment runs this flow.

    It never waits: if workers or people have to act first, the run ends and its state
    says so. Any caller of Prefect's API can choose a flow's parameters. So the
    endpoint, live work, amounts and a second store are not parameters: they are set in
    the deployment file beside the campaign file (`piecework.config.trust`).

    Args:
        campaign: absolute path of the campaign file.
        poll_open_hits: check open HITs for new answers, even if that was done recently.
        dry_run: check the campaign, its source and the marketplace, and say what the
            next pass would do; nothing is written, posted or paid.

    Returns:
        The progress as plain values (`domain.progress.Progress`), also if another pass
        is at work; an empty dictionary before a campaign has begun.
    """
    path = Path(campaign)
    if dry_run:
        request, credentials = _deployed(path)
        return _dry_run(request.to_look(), credentials)
    with watch_passes(path) as watch, pass_span(path):
        request, credentials = _deployed(path)
        return _advance(request, credentials, watch, poll_open_hits=poll_open_hits)


def _deployed(path: Path) -> tuple[PassRequest, Credentials | None]:
    """Return what the deployment file beside a campaign file lets a pass do.

    Raises:
        ConfigError: one of the two files has faults.
    """
    use_key_of(path)
    currency = parse(path).tables.currency
    deployment = read_deployment(path)
    request = PassRequest(
        campaign=path,
        endpoint=deployment.endpoint,
        live=deployment.live,
        rehearsal=deployment.rehearsal,
        allow_second_store=deployment.allow_second_store,
        by_schedule=True,
    )
    request = request.spending(_cents(deployment.spend_at_most, currency))
    return request, credentials_from_block(deployment.credentials_block)


def flow_of(
    request: PassRequest, watch: Watch, *, poll_open_hits: bool
) -> Flow[[str], State[dict[str, object]]]:
    """Return the flow `advance` for a command, which states itself what it may do."""

    @says_what_helps
    def as_requested(campaign: str) -> State[dict[str, object]]:  # noqa: ARG001 - names the run
        return _advance(request, None, watch, poll_open_hits=poll_open_hits)

    return Flow(
        as_requested,
        name="advance",
        flow_run_name=run_name,
        on_failure=[tell_of_failure],
        on_crashed=[tell_of_failure],
    )


@flow(name="run", flow_run_name=run_name, validate_parameters=True)
@says_what_helps
def run(
    campaign: CampaignPath,
    endpoint: str,
    *,
    live: bool = False,
    poll_seconds: float = 60,
    spend_at_most: str = "",
    credentials_block: str = "",
) -> dict[str, object]:
    """Make passes until the campaign is finished or waits for people.

    Args:
        campaign: absolute path of the campaign file.
        endpoint: URL of the marketplace.
        live: real people work; needed for a marketplace on another machine.
        poll_seconds: how long to wait between two checks for new answers, including
            answers to HITs that other workers still work on. While no answer arrives,
            the wait grows up to sixty times as long.
        spend_at_most: what the whole campaign may spend; as for `advance`.
        credentials_block: name of a Prefect `Secret` block; as for `advance`.

    Returns:
        The progress as plain values.
    """
    loaded = load_campaign(Path(campaign))
    with (
        logged_in_run(),
        watch_passes(loaded.path) as watch,
        open_on_marketplace(
            loaded,
            endpoint,
            live=live,
            spend_at_most_cents=_cents(spend_at_most, loaded.rewards.currency),
            credentials=credentials_from_block(credentials_block),
            # No schedule starts another pass.
            patience_seconds=LONG_PATIENCE_SECONDS,
        ) as opened,
    ):
        least = timedelta(seconds=poll_seconds)
        wait, submitted, call = least, 0, timed(run_as_task, watch)
        shown = LiveProgress()
        polls = False  # The first pass decides itself which open HITs it checks.
        while (progress := _one_pass(opened, call, poll_open_hits=polls)).waiting_for in GOES_ON:
            watch.end(progress)
            with _only_warned_of("runs"):
                _resume_answered(opened, forgets_unknown=False)
            polls = progress.hits_posted <= WATCHED_HITS
            has_come = progress.submitted > submitted
            left = progress.hits_open
            wait = least if has_come else next_wait(wait, came=0, left=left, least=least)
            submitted = progress.submitted
            label_run(progress)
            shown.show(progress)
            if progress.waiting_for != "the next pass":
                _say_wait(opened, progress, wait)
                time.sleep(wait.total_seconds())
            watch.begin()
        progress = _finish_pass(opened, progress, shown)
        watch.end(progress)
        with _only_warned_of("runs"):
            _resume_answered(opened, forgets_unknown=False)
        say_unsettled(opened.store)
        return progress.as_dict()


def _advance(
    request: PassRequest, credentials: Credentials | None, watch: Watch, *, poll_open_hits: bool
) -> State[dict[str, object]]:
    with logged_in_run(), _then_resuming(request):
        try:
            progress = None
            if not poll_open_hits:
                progress = cached_progress(request, credentials=credentials)
            if progress is None:
                progress = _whole_pass(request, credentials, watch, poll_open_hits=poll_open_hits)
        except CampaignBusy as busy:
            watch.stop("busy")
            return Completed(name=BUSY, message=message_of(busy), data=_so_far_known(request))
        watch.end(progress)
        label_run(progress)
        end_dead_runs()
        _LOG.info("%s", _so_far(progress))
        tell_of_end(str(request.campaign), progress, request.file.store)
    return _ended(progress)


def _so_far_known(request: PassRequest) -> dict[str, object]:
    """Return the progress that the store holds while another pass is at work.

    Empty before the first pass of a campaign has begun it.
    """
    campaign = as_begun(request.assembled)
    if not is_begun(campaign):
        return {}
    with open_to_look(campaign) as opened:
        return read_progress(opened).as_dict()


def _dry_run(request: PassRequest, credentials: Credentials | None) -> State[dict[str, object]]:
    """Return what a pass would do, from what can be read without changing anything.

    Raises:
        ConfigError: every error in the campaign's files.
        RefusedForSafety: a pass would be refused, or the marketplace has another
            currency.
        PlatformError: the marketplace does not answer, or refuses the keys.
    """
    with logged_in_run():
        campaign = as_begun(request.assembled)
        refuse_unsafe(request)
        refuse_other_workers(campaign, request.endpoint, rehearsal=request.rehearsal)
        keys = REHEARSAL if request.rehearsal else credentials
        platform = MTurk.with_keys(normal_endpoint(request.endpoint), keys)
        ask_prices(
            campaign, platform, today=SystemClock().now().date(), has_posted=has_posted(campaign)
        )
        for warning in see_source(campaign, None).warnings:
            _LOG.warning("%s", warning)
        if not is_begun(campaign):
            return Completed(name="DryRun", message="would begin the campaign", data={})
        with open_to_look(campaign) as opened:
            is_stopped = Reader(opened).snapshot().stopped
            rows = 0 if is_stopped else count_new(opened)
            progress = read_progress(opened, Reader(opened, new_rows=rows))
        steps = [f"take in {plural(rows, 'row')}"] if rows else []
        if progress.step == "plan":
            steps.append("post HITs")
        elif progress.step:
            steps.append(progress.step)
        elif progress.waiting_for == "workers":
            steps.append("look for answers")
        would = ", then ".join(steps) or "do nothing"
        message = f"would {would} ({progress.reason}); {_so_far(progress)}"
        _LOG.info("%s", message)
    return Completed(name="DryRun", message=message, data=progress.as_dict())


@contextmanager
def _then_resuming(request: PassRequest) -> Iterator[None]:
    """Let runs that wait for answers continue after a pass, however it ends.

    Their time may be over although the marketplace does not answer, or another pass works.
    """
    try:
        yield
    finally:
        with _only_warned_of("runs"):
            if waiting_runs.ids(request.file.out):
                with open_to_look(request.assembled) as opened:
                    _resume_answered(opened)


@contextmanager
def _only_warned_of(runs: str) -> Iterator[None]:
    try:
        yield
    except Exception as fault:  # noqa: BLE001 - the pass counts, and the next resumes them
        _LOG.warning("%s waiting for answers could not be resumed: %s", runs, fault)


def _resume_answered(opened: OpenedCampaign, *, forgets_unknown: bool = True) -> None:
    """Let runs continue that `piecework.flows.asking` suspended for answers.

    Each is tried by itself: one that cannot be resumed keeps no other waiting.

    Args:
        opened: the campaign.
        forgets_unknown: whether a run that the server does not know was deleted; a server
            that a command started for itself knows none.
    """
    out, now = opened.campaign.out, SystemClock().now()
    ready = []
    for run_id in waiting_runs.ids(out):
        with _only_warned_of(f"run {run_id}"):
            if item_labels.may_continue(opened, run_id, now=now):
                ready.append(run_id)
    if not ready:
        return
    with get_client(sync_client=True) as client:
        for run_id in ready:
            with _only_warned_of(f"run {run_id}"):
                if _is_done(client, UUID(run_id), forgets_unknown=forgets_unknown):
                    waiting_runs.forget(out, run_id)


def _is_done(client: SyncPrefectClient, run_id: UUID, *, forgets_unknown: bool) -> bool:
    """Resume a run if it is suspended; return whether it waits no more.

    Raises:
        RuntimeError: the server refuses; the run may be suspended still.
    """
    try:
        state = client.read_flow_run(run_id).state
    except ObjectNotFound:
        return forgets_unknown
    if state is not None and state.is_paused():
        reply = client.resume_flow_run(run_id)
        if reply.status is not SetStateStatus.ACCEPT:
            raise RuntimeError(f"Prefect answers {reply.status.value}: {reply.details}")
        return True
    # One at work will be suspended in a moment; the next pass resumes it.
    return state is None or state.is_final()


def _say_wait(run: CampaignRun, progress: Progress, wait: timedelta) -> None:
    """Log what has come so far, who has to act, and when the next check is."""
    next_look = run.clock.now() + wait
    _LOG.info(
        "%s; next look at %s",
        _so_far(progress),
        next_look.astimezone().strftime("%H:%M:%S"),
        extra={"facts": {"progress": progress.as_dict(), "next_look": next_look}},
    )


def _so_far(progress: Progress) -> str:
    waited_for = {
        "nobody": "finished",
        "workers": f"waiting for workers, {plural(progress.hits_open, 'HIT')} open",
        "people": f"waiting for people, {plural(progress.to_decide, 'decision')}",
        "the next pass": "waiting for the next pass",
        "the next day": f"waiting for the next day, by {progress.stopped_by}",
        "the next month": f"waiting for the next month, by {progress.stopped_by}",
        "new rows": f"waiting for new rows, {progress.reason}",
    }[progress.waiting_for]
    here = f"{progress.accepted} accepted"
    if progress.undecided:
        here += f", {progress.undecided} not judged yet"
    return (
        f"batch {progress.batch_shown}: "
        f"{plural(progress.answers, 'answer')} came, {here}, "
        f"{progress.missing} still to be accepted; "
        f"{progress.shown(progress.spent_cents)} spent; {waited_for}"
    )


def _cents(spend_at_most: str, currency: Currency) -> int | None:
    return amount_cents(spend_at_most, currency) if spend_at_most else None


def _whole_pass(
    request: PassRequest, credentials: Credentials | None, watch: Watch, *, poll_open_hits: bool
) -> Progress:
    call = timed(run_as_task, watch)
    with open_environment(request, credentials=credentials) as opened_run:
        before = read_progress(opened_run)
        label_run(before)  # so that a failed pass can be found, too
        progress = run_pass(opened_run, call=call, poll_open_hits=poll_open_hits)
        tell_of_pass(str(request.campaign), before, progress)
        progress = _finish_pass(opened_run, progress)
        remember_pass(opened_run, progress, request)
    return progress


def _one_pass(opened: CampaignRun, call: Call, *, poll_open_hits: bool) -> Progress:
    with pass_span(opened.campaign.path):
        return run_pass(opened, call=call, poll_open_hits=poll_open_hits)


def _finish_pass(
    opened_run: CampaignRun, progress: Progress, shown: LiveProgress | None = None
) -> Progress:
    campaign = opened_run.campaign
    progress, report = finish_pass(opened_run, progress, call=materializing(campaign))
    publish_artifacts(opened_run, progress, report, shown)
    if report and campaign.has_releases:
        # It loads pandas and pyarrow, and most passes release nothing.
        from piecework.results.releases import FOLDER, latest_release  # noqa: PLC0415

        folder = campaign.out / FOLDER
        tell_of_release(str(campaign.path), number=latest_release(folder), folder=folder)
    return progress


def _ended(progress: Progress) -> State[dict[str, object]]:
    """Return the run's final state, which says who has to act."""
    name, message = "Completed", f"waiting for {progress.waiting_for}"
    if progress.waiting_for == "people":
        name = "WaitsForPeople"
        message = (
            f"{progress.to_decide} decisions wait for a person: run `piecework "
            "review CAMPAIGN --csv decisions.csv`"
        )
    elif progress.source is not None and progress.source.fault:
        name, message = "SourceNotRead", progress.source.fault
    elif progress.is_finished:
        name, message = "Finished", "finished; dataset and report are ready"
    return Completed(name=name, message=message, data=progress.as_dict())


def credentials_from_block(name: str) -> Credentials | None:
    """Return the keys in a `Secret` block; `None` without a name.

    The block holds `{"access_key_id": "...", "secret_access_key": "..."}`.

    Raises:
        ConfigError: there is no such block, or it holds something else.
    """
    if not name:
        return None
    try:
        # In a flow that is not a coroutine, `load` returns the block, not an awaitable.
        held = cast("Secret[Any]", Secret.load(name)).get()
    except ValueError as fault:
        raise ConfigError(
            [f"there is no Prefect block secret/{name}"],
            next_step=f"make it: Secret(value={{...}}).save({name!r}), see docs/how-to/schedule.md",
        ) from fault
    if not isinstance(held, dict) or not {"access_key_id", "secret_access_key"} <= set(held):
        # Do not show the value: it may be a secret even in the wrong shape.
        raise ConfigError(
            [f"the block secret/{name} lacks access_key_id or secret_access_key"],
            next_step="save it again with both keys, see docs/how-to/schedule.md",
        )
    return Credentials(
        access_key=str(held["access_key_id"]),
        secret_key=str(held["secret_access_key"]),
        source=f"the Prefect block secret/{name}",
    )
