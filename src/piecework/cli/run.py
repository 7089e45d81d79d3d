"""`run` and `stop`: passes of a campaign, and its end.

`run` makes passes until the campaign is finished or waits for a person; `run --once` makes
one, for a schedule. `stop` ends a campaign early without losing an answer; --undo continues
it.
"""

import logging
import os
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli import logs
from piecework.cli.consent import consent_to_spend, refuse_unseen_pictures
from piecework.cli.options import (
    ALTHOUGH,
    CAMPAIGN,
    ENDPOINT,
    JSON,
    LIVE,
    POLL_SECONDS,
    SECOND_STORE,
    SPEND_AT_MOST,
    grouped,
    is_typed,
    load_results,
)
from piecework.cli.output import next_command, run_command, say_live_changes, say_progress
from piecework.cli.prefect_server import TemporaryServer
from piecework.cli.schedules import Interval, known_amount, schedule
from piecework.config.user_files import whole_path
from piecework.domain.errors import CampaignBusy, ConfigError
from piecework.domain.progress import Progress
from piecework.domain.text import plural, shell_word

if TYPE_CHECKING:
    from collections.abc import Callable

    from piecework.campaign.opened import CampaignRun
    from piecework.config.trust import Deployment
    from piecework.domain.campaign import Campaign
    from piecework.engine.pass_request import PassRequest
    from piecework.engine.watching.pass_watcher import Watch

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PassOptions:
    """Whether to make a single pass, and how."""

    once: bool
    every: timedelta | None
    rehearsal: bool
    poll_open_hits: bool

    def check(self) -> None:
        """Refuse options that have no effect.

        Raises:
            click.UsageError: an option needs others, or makes no sense beside them.
        """
        is_single = self.once or self.every is not None
        if self.once and self.every:
            raise click.UsageError("give either --once or --every")
        if self.rehearsal and not is_single:
            raise click.UsageError("--rehearsal goes with --once or --every")
        if self.poll_open_hits and not self.once:
            raise click.UsageError("--poll-open-hits goes with --once")
        if is_single and is_typed("poll_seconds"):
            raise click.UsageError("--poll-seconds: no use with --once or --every")
        for name, option in (("live", "--live"), ("spend_at_most", "--spend-at-most")):
            if self.rehearsal and is_typed(name):
                raise click.UsageError(f"{option}: no use with --rehearsal, which costs nothing")


@click.command()
@CAMPAIGN
@ENDPOINT
@LIVE
@SPEND_AT_MOST
@ALTHOUGH
@click.option(
    "--metrics-folder",
    metavar="FOLDER",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    envvar="PIECEWORK_METRICS_FOLDER",
    help="Write metrics of each pass here, for node_exporter (or PIECEWORK_METRICS_FOLDER).",
)
@click.option(
    "--poll-seconds",
    type=POLL_SECONDS,
    default=60.0,
    show_default=True,
    help="Seconds between passes while work comes in; else up to 60 times that.",
)
@grouped(
    "options",
    _PassOptions,
    click.option("--once", is_flag=True, help="Make one pass, and end."),
    click.option(
        "--every",
        type=Interval(),
        help="Make passes every 5m, 2h or 1d: register a deployment at the server of "
        "PREFECT_API_URL or Prefect's profile, or else print lines for cron and systemd.",
    ),
    click.option(
        "--rehearsal",
        is_flag=True,
        help="With --once or --every: the marketplace has simulated workers.",
    ),
    click.option(
        "--poll-open-hits",
        is_flag=True,
        help="With --once: ask for the work on open HITs now, not every 6 hours.",
    ),
)
@JSON
def run(  # noqa: PLR0913 - an argument for each option
    campaign: Path,
    *,
    endpoint: str,
    live: bool,
    spend_at_most: str | None,
    although: tuple[str, ...],
    metrics_folder: Path | None,
    poll_seconds: float,
    options: _PassOptions,
    as_json: bool,
) -> None:
    """Make passes until the campaign ends.

    The command also ends when the campaign waits for a person. The same command continues
    it.

    --once makes one pass, for a schedule; if PREFECT_API_URL is set, as a flow run on
    that Prefect server. The exit code is 4 if a source that grows could not be read, or
    lost too many rows; all other work is then done.

    The marketplace records what workers are owed, and moves no money: you pay them, or a
    market does.

    Examples:
      piecework run birds.toml --endpoint https://hits.example.org --live
      piecework run birds.toml --endpoint http://127.0.0.1:8080 --every 5m
    """
    options.check()
    allow_second_store = SECOND_STORE in although
    if options.every is not None:
        stated, agree = _schedulable(
            campaign,
            endpoint,
            options,
            live=live,
            spend_at_most=spend_at_most,
            allow_second_store=allow_second_store,
            as_json=as_json,
        )
        schedule(campaign, options.every, stated, metrics_folder=metrics_folder, as_json=as_json)
        agree()
        return
    if options.once:
        _make_one_pass(
            campaign,
            endpoint,
            options,
            live=live,
            spend_at_most=spend_at_most,
            allow_second_store=allow_second_store,
            metrics_folder=metrics_folder,
            as_json=as_json,
        )
        return
    logs.say_from(logging.INFO)
    # The server starts while this process imports Prefect and the flows.
    server = click.get_current_context().with_resource(closing(TemporaryServer()))
    from prefect import tags

    from piecework.campaign.assembling import load_campaign
    from piecework.engine.opening import open_to_look
    from piecework.engine.progress import read_progress
    from piecework.engine.watching.pass_watcher import METRICS_FOLDER as WATCHED
    from piecework.flows.advance import run as flow

    loaded = _opened(
        campaign,
        endpoint,
        live=live,
        spend_at_most=spend_at_most,
        allow_second_store=allow_second_store,
        as_json=as_json,
    )
    _LOG.info(
        "campaign %s: %s in %s on %s; store, dataset and report: %s",
        loaded.name,
        plural(len(loaded.items), "item"),
        plural(loaded.posting.batches, "batch"),
        endpoint,
        loaded.out,
    )
    with server.in_use(), tags("piecework", loaded.name):
        if metrics_folder is not None:
            os.environ[WATCHED] = str(metrics_folder)  # for the flow
        flow(str(whole_path(campaign)), endpoint, live=live, poll_seconds=poll_seconds)
    with open_to_look(load_campaign(campaign)) as store:
        progress = read_progress(store)
    say_progress(progress, as_json=as_json)
    if as_json:
        return
    report = loaded.out / "report.html"
    if command := next_command(progress, campaign, report=report, endpoint=endpoint, live=live):
        click.echo(f"next: {command}")


def _opened(
    campaign: Path,
    endpoint: str,
    *,
    live: bool,
    spend_at_most: str | None,
    allow_second_store: bool,
    as_json: bool,
) -> "Campaign":
    """Check the campaign and ask for consent before a flow begins; return it.

    This stores what the person agreed to, so that the flow finds it.
    """
    from piecework.campaign.assembling import load_campaign
    from piecework.campaign.caps import check_caps
    from piecework.campaign.live_changes import live_changes
    from piecework.engine.begun import known_store
    from piecework.engine.opening import open_on_marketplace
    from piecework.engine.pass_request import amount_cents
    from piecework.store import hits

    loaded = load_campaign(campaign)
    with known_store(loaded) as store:
        if store is not None:
            say_live_changes(live_changes(store, loaded), err=True)
    stated_cents = (
        None if spend_at_most is None else amount_cents(spend_at_most, loaded.rewards.currency)
    )
    allowed = consent_to_spend(
        loaded, endpoint, live=live, stated_cents=stated_cents, as_json=as_json
    )
    if live:
        refuse_unseen_pictures(loaded, endpoint)
    with open_on_marketplace(
        loaded,
        endpoint,
        live=live,
        spend_at_most_cents=allowed,
        by_schedule=_is_repeated(spend_at_most),
        allow_second_store=allow_second_store,
    ) as opened:
        if not hits.ids(opened.store):
            check_caps(opened.campaign, at=opened.clock.now())
        return opened.campaign


def _is_repeated(spend_at_most: str | None) -> bool:
    """Whether a schedule's variable or a file of options states the amount at each pass."""
    return spend_at_most is not None and not is_typed("spend_at_most")


SOURCE_FAULT = 4
"""Exit code of a pass that did all its work except reading its source."""


def _schedulable(
    campaign: Path,
    endpoint: str,
    options: _PassOptions,
    *,
    live: bool,
    spend_at_most: str | None,
    allow_second_store: bool,
    as_json: bool,
) -> "tuple[Deployment, Callable[[], None]]":
    """Check what scheduled passes shall do, and ask for consent.

    Returns:
        What they may do, and a function that records the consent in a store that exists.
    """
    from piecework.campaign.assembling import load_campaign, read_anywhere
    from piecework.config.trust import Deployment
    from piecework.domain.money import cents_to_wire
    from piecework.engine.begun import agree_for_schedule, check_amount_beforehand
    from piecework.engine.opening import refuse_other_workers
    from piecework.engine.pass_request import amount_cents

    loaded = read_anywhere(campaign) if options.rehearsal else load_campaign(campaign)
    refuse_other_workers(loaded, endpoint, rehearsal=options.rehearsal)
    allowed, is_stated = None, False
    if not options.rehearsal:
        known = known_amount(campaign) if spend_at_most is None else None
        stated = known if spend_at_most is None else spend_at_most
        cents = None if stated is None else amount_cents(stated, loaded.rewards.currency)
        allowed = consent_to_spend(loaded, endpoint, live=live, stated_cents=cents, as_json=as_json)
        is_stated = is_typed("spend_at_most") or (spend_at_most is None and known is None)
        check_amount_beforehand(loaded, endpoint, allowed, by_schedule=not is_stated)
        if live:
            refuse_unseen_pictures(loaded, endpoint)
    deployment = Deployment(
        endpoint=endpoint,
        rehearsal=options.rehearsal,
        live=live,
        spend_at_most="" if allowed is None else cents_to_wire(allowed),
        allow_second_store=allow_second_store,
    )

    def agree() -> None:
        if allowed is not None and is_stated:
            agree_for_schedule(loaded, allowed)

    return deployment, agree


def _make_one_pass(
    campaign: Path,
    endpoint: str,
    options: _PassOptions,
    *,
    live: bool,
    spend_at_most: str | None,
    allow_second_store: bool,
    metrics_folder: Path | None,
    as_json: bool,
) -> None:
    """Make one pass, if something is due."""
    from piecework.engine.pass_request import PassRequest
    from piecework.engine.watching.pass_watcher import pass_span, watch_passes

    request = PassRequest(
        campaign=campaign,
        endpoint=endpoint,
        live=live,
        rehearsal=options.rehearsal,
        allow_second_store=allow_second_store,
        by_schedule=_is_repeated(spend_at_most),
    )
    with watch_passes(campaign, metrics_folder) as watch, pass_span(campaign):
        request = _spending(request, spend_at_most)
        progress = _advance(request, watch, poll_open_hits=options.poll_open_hits, as_json=as_json)
        watch.end(progress)
    say_progress(progress, as_json=as_json)
    if progress.source is not None and progress.source.fault:
        raise click.exceptions.Exit(SOURCE_FAULT)


def _spending(request: "PassRequest", spend_at_most: str | None) -> "PassRequest":
    """Return the request with the amount of the command line, if it has one."""
    from piecework.engine.pass_request import amount_cents

    if spend_at_most is None:
        return request
    currency = request.file.tables.currency
    return request.spending(amount_cents(spend_at_most, currency))


def _advance(
    request: "PassRequest", watch: "Watch", *, poll_open_hits: bool, as_json: bool
) -> Progress:
    """Make the pass; ask a person for consent only if something is due."""
    from piecework.engine.quick_check import cached_progress
    from piecework.store import waiting_runs

    progress = None if poll_open_hits else cached_progress(request)
    in_prefect = bool(os.environ.get("PREFECT_API_URL"))
    # The flow lets runs that wait for answers continue, also when nothing else is due.
    if progress is not None and not (in_prefect and waiting_runs.ids(request.file.out)):
        return progress
    if not request.rehearsal:
        request = _with_consent(request, as_json=as_json)
    if in_prefect:
        return _advance_in_prefect(request, watch, poll_open_hits=poll_open_hits)
    from piecework.results.whole_pass import advance_without_prefect

    return advance_without_prefect(request, watch, poll_open_hits=poll_open_hits)


def _with_consent(request: "PassRequest", *, as_json: bool) -> "PassRequest":
    return request.spending(
        consent_to_spend(
            request.assembled,
            request.endpoint,
            live=request.live,
            stated_cents=request.spend_at_most_cents,
            as_json=as_json,
        )
    )


def _advance_in_prefect(
    request: "PassRequest", watch: "Watch", *, poll_open_hits: bool
) -> Progress:
    """Run the flow `advance` in this process; the Prefect server in use records it."""
    from prefect import tags

    from piecework.engine.opening import open_to_look
    from piecework.engine.progress import read_progress
    from piecework.flows.advance import BUSY, flow_of

    with tags("piecework", request.campaign.stem):
        flow = flow_of(request, watch, poll_open_hits=poll_open_hits)
        state = flow(str(whole_path(request.campaign)), return_state=True)
    if state.name == BUSY:
        sentence, _, next_step = str(state.message).partition("; next: ")
        raise CampaignBusy(sentence, next_step=next_step)
    if not state.is_completed():
        state.result()  # raises what made it fail
    with open_to_look(request.assembled) as opened:
        return read_progress(opened)


@click.command()
@CAMPAIGN
@click.option("--undo", is_flag=True, help="Let the next pass continue the campaign.")
@JSON
def stop(campaign: Path, *, undo: bool, as_json: bool) -> None:
    """Stop posting and close open HITs.

    Accepted HITs may still be submitted. Later passes collect, judge and pay them, then
    write the dataset.

    Examples:
      piecework stop birds.toml
      piecework stop birds.toml --undo
    """
    from piecework.campaign.binding import refuse_imported
    from piecework.engine.opening import on_its_platform, open_to_look
    from piecework.engine.progress import read_progress
    from piecework.store import campaign_facts

    with open_to_look(load_results(campaign)) as opened:
        refuse_imported(opened.campaign)
        if opened.is_rehearsal:
            raise ConfigError(
                [f"{campaign}: only rehearsed, so there is nothing to stop"],
                next_step=f"piecework status {shell_word(campaign)}",
            )
        if undo:
            was_stopped = campaign_facts.undo_stop(opened.store, at=opened.clock.now())
            outcome = "continues" if was_stopped else "was not stopped"
        elif read_progress(opened).is_finished:
            outcome = "finished already; it has no open HITs"
        else:
            campaign_facts.record_stop(opened.store, at=opened.clock.now())
            outcome = f"stopped; {_expire(on_its_platform(opened))}"
        progress = read_progress(opened)
        live = campaign_facts.agreed_cents(opened.store) is not None
    if not as_json:
        click.echo(f"{campaign}: {outcome}")
    say_progress(progress, as_json=as_json)
    if not as_json and not progress.is_finished:
        click.echo(f"next: {run_command(campaign, opened.endpoint, live=live)}")


def _expire(run: "CampaignRun") -> str:
    """Expire the open HITs now, unless a pass is at work, which does it itself."""
    from piecework.engine.run_pass import in_full, recover
    from piecework.engine.wind_down import wind_down
    from piecework.store import intents
    from piecework.store.campaign_facts import read_notes
    from piecework.store.lock import only_pass

    before = intents.done(run.store, "expire")
    try:
        with only_pass(run.campaign.store, by="piecework stop"):
            # What is known ends even if what a newer copy posted cannot be adopted.
            wind_down(run)
            unknown = recover(run, read_notes(run.store))
            wind_down(run)
    except CampaignBusy as busy:
        return f"{busy}, and its next pass expires the open HITs"
    expired = len(intents.done(run.store, "expire") - before)
    outcome = f"expired {expired} HITs; no more are posted"
    return outcome if unknown is None else f"{outcome}; {in_full(unknown)}"
