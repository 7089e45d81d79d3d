"""`serve`: the marketplace as a process of its own."""

import logging
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from piecework.cli import logs
from piecework.cli.consent_text import read_consent
from piecework.cli.options import WholeNumber
from piecework.domain.clock import SystemClock
from piecework.domain.errors import ConfigError, RefusedForSafety, StoreError
from piecework.domain.money import cents_from_text

if TYPE_CHECKING:
    from piecework.marketplace.aws_proxy.settings import AwsProxy
    from piecework.marketplace.http.server import Marketplace
    from piecework.webserver.server import Certificate


class _Given(TypedDict):
    database: Path
    port: int
    frames_port: int
    host: str
    pictures: Path | None
    rehearsal: bool
    seed: int
    start: str
    trust_local: bool
    tls: tuple[Path, Path] | None
    site_url: str
    frames_url: str
    as_aws: bool
    aws_port: int
    proxy_port: int
    notify_url: str
    crowd: str
    public_url: str
    prolific_url: str
    token_file: Path | None
    workspace: str
    project: str
    live: bool
    spend_at_most: str
    hits_per_visit: int
    hit_seconds: int
    visits_per_participant: int
    settle_seconds: int
    screening_pay: str
    screen_out_pay: str
    webhooks: bool
    consent: Path | None
    clock_is_right: bool


_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command()
@click.option(
    "--database",
    type=click.Path(path_type=Path),
    default=Path("marketplace.db"),
    show_default=True,
    help="The marketplace's one file.",
)
@click.option("--port", default=8080, show_default=True, help="Site and requester API.")
@click.option("--frames-port", default=8081, show_default=True, help="Question pages.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to bind; 0.0.0.0 is all, and wants --site-url and --frames-url.",
)
@click.option(
    "--pictures",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Folder of pictures to serve under /pictures/.",
)
@click.option(
    "--rehearsal", is_flag=True, help="Any key works; a clock and workers to control."
)
@click.option("--seed", default=1, show_default=True, help="For ids in a rehearsal.")
@click.option(
    "--start",
    default="",
    metavar="ISO-TIME",
    help="When a new rehearsal's clock begins to run; now, if not given.",
)
@click.option(
    "--trust-local",
    is_flag=True,
    help="Check no signatures; then only this machine may connect.",
)
@click.option(
    "--tls",
    nargs=2,
    type=_FILE,
    metavar="CERTIFICATE KEY",
    help="PEM files; site and question pages then speak HTTPS.",
)
@click.option("--site-url", default="", help="Of the site, as browsers reach it.")
@click.option(
    "--frames-url",
    default="",
    help="Of question pages, as browsers do; https://*.NAME keeps requesters apart. "
    "On 127.0.0.1, http://localhost and their port.",
)
@click.option(
    "--as-aws",
    is_flag=True,
    help="Answer old programs as Amazon's two hosts, through a proxy on this machine.",
)
@click.option("--aws-port", default=8443, show_default=True, help="With --as-aws: TLS.")
@click.option(
    "--proxy-port", default=8082, show_default=True, help="With --as-aws: the proxy."
)
@click.option(
    "--notify-url",
    default="",
    help="Queue or topic server on this machine that gets event notifications.",
)
@click.option(
    "--crowd",
    type=click.Choice(["invited", "prolific"]),
    default="invited",
    show_default=True,
    help="Who works: people whom you invite, or Prolific's participants.",
)
@click.option(
    "--public-url",
    default="",
    help="With --crowd prolific: where participants are sent; the same as --site-url.",
)
@click.option(
    "--prolific-url",
    envvar="PROLIFIC_URL",
    default="https://api.prolific.com",
    show_default=True,
    help="Of the API (or PROLIFIC_URL); http on this machine only.",
)
@click.option("--token-file", type=_FILE, help="Instead of PROLIFIC_TOKEN; mode 600.")
@click.option(
    "--workspace", default="", help="Whose money it is; needless if just one."
)
@click.option("--project", default="", help="Where studies lie; else one is made.")
@click.option(
    "--live", is_flag=True, help="Publish studies and pay; without, they stay drafts."
)
@click.option(
    "--spend-at-most",
    default="",
    metavar="AMOUNT",
    help="With --live: all studies and bonuses together, fees and tax included.",
)
@click.option(
    "--hits-per-visit",
    type=WholeNumber(0, 100),
    default=0,
    help="HITs of one place; left out, as many as fill some minutes.",
)
@click.option(
    "--hit-seconds",
    type=WholeNumber(0, 86_400),
    default=0,
    help="How long a HIT takes; left out, guessed from its reward, then measured.",
)
@click.option(
    "--visits-per-participant",
    type=WholeNumber(1, 1000),
    default=10,
    show_default=True,
    help="How often a participant may come to the same study.",
)
@click.option(
    "--settle-seconds",
    type=WholeNumber(0, 3600),
    default=20,
    show_default=True,
    help="HITs that are posted closer together than this become one study.",
)
@click.option(
    "--screening-pay",
    default="",
    metavar="AMOUNT",
    help="What taking a qualification test is paid; left out, none is offered there.",
)
@click.option(
    "--screen-out-pay",
    default="",
    metavar="AMOUNT",
    help="What who comes and finds no work is paid; where the workspace may do that.",
)
@click.option(
    "--webhooks",
    is_flag=True,
    help="Have Prolific say when something happens, besides asking it now and then.",
)
@click.option("--consent", type=_FILE, help="Text that workers agree to first.")
@click.option(
    "--clock-is-right",
    is_flag=True,
    help="Say so once, after `date -u`, where serving says that the clock has jumped.",
)
def serve(**given: Unpack[_Given]) -> None:
    """Run the MTurk-compatible marketplace on this machine.

    Amazon Mechanical Turk itself closed on 2026-09-30; nothing here reaches it, and
    no money of Amazon's moves. A rehearsal takes any access key. Otherwise each call
    must be signed with a key that `piecework requester add` gave.

    A program with Amazon's address built in runs unchanged with --as-aws: the command
    prints the lines to paste before it is started.

    \b
    Example:  piecework serve --rehearsal --port 8080
              piecework serve --rehearsal --start 2026-11-20T08:30:00+01:00
              piecework serve --rehearsal --as-aws
              piecework serve --crowd prolific --public-url https://hits.example.org
              --frames-url https://frames.example.org
    """  # noqa: D301 - click's mark for lines that stay lines
    from piecework.marketplace.http.exposure import UnsafeBindError
    from piecework.marketplace.http.notification_sender import NotifyAddressError
    from piecework.marketplace.http.server import serve_forever
    from piecework.marketplace.state.database_file import WrongDatabaseError

    logs.say_from(logging.INFO)
    try:
        if given["crowd"] == "prolific":
            _serve_with_prolific(given)
        else:
            serve_forever(_marketplace(given))
    except SystemExit:
        # A person pressed Ctrl-C, or a supervisor ended it; the server is down by now.
        click.echo(
            f"ended; all that came is in {given['database']}, and the same command "
            "goes on there",
            err=True,
        )
        raise
    except UnsafeBindError as refusal:
        raise RefusedForSafety(
            str(refusal), next_step="piecework serve --help"
        ) from refusal
    except NotifyAddressError as wrong:
        raise ConfigError([f"--notify-url: {wrong}"]) from wrong
    except WrongDatabaseError as wrong:
        raise StoreError(str(wrong), next_step="piecework serve --help") from wrong


def _marketplace(given: _Given) -> "Marketplace":
    from piecework.marketplace.http.server import Marketplace

    if given["rehearsal"] and given["trust_local"]:
        raise ConfigError(["--trust-local says nothing in a rehearsal: any key works"])
    return Marketplace(
        database=given["database"],
        rehearsal=given["rehearsal"],
        seed=given["seed"],
        start=_start(given),
        clock_runs=given["rehearsal"],
        pictures=given["pictures"],
        host=given["host"],
        port=given["port"],
        frames_port=given["frames_port"],
        trust_local=given["trust_local"],
        certificate=_certificate(given),
        site_url=given["site_url"].rstrip("/"),
        frames_url=given["frames_url"].rstrip("/") or _frames_on_this_machine(given),
        aws_proxy=_aws_proxy(given) if given["as_aws"] else None,
        notify_url=given["notify_url"],
        consent=_consent(given),
        clock_is_right=given["clock_is_right"],
    )


def _frames_on_this_machine(given: _Given) -> str:
    """A second name of this machine, where nothing was said of how it is reached.

    Cookies know hosts and no ports: by the site's own name, a question could put
    another's session into a worker's browser.
    """
    is_named = given["site_url"] or given["tls"] or given["crowd"] != "invited"
    if given["host"] != "127.0.0.1" or is_named or not given["frames_port"]:
        return ""
    return f"http://localhost:{given['frames_port']}"


def _consent(given: _Given) -> tuple[str, ...]:
    """What invited people agree to; Prolific's participants do as they arrive."""
    if given["consent"] is None or given["crowd"] != "invited":
        return ()
    return read_consent(given["consent"])


def _serve_with_prolific(given: _Given) -> None:
    from piecework.cli.work.serve_prolific import Recruiting, serve_with_prolific

    if given["rehearsal"]:
        raise ConfigError(
            ["--crowd prolific is no rehearsal; `piecework rehearse` has one"],
            next_step="piecework rehearse CAMPAIGN --crowd prolific",
        )
    if given["public_url"] and given["site_url"]:
        raise ConfigError(["--public-url and --site-url are the same; give one"])
    if given["live"] != bool(given["spend_at_most"]):
        raise ConfigError(
            ["--live and --spend-at-most go together: how much may all of it cost?"]
        )
    most = _amount("--spend-at-most", given["spend_at_most"])
    site_url = given["public_url"] or given["site_url"]
    serve_with_prolific(
        _marketplace({**given, "site_url": site_url}),
        Recruiting(
            url=given["prolific_url"],
            token_file=given["token_file"],
            workspace_id=given["workspace"],
            project_id=given["project"],
            is_live=given["live"],
            spend_at_most_cents=most,
            hits_per_visit=given["hits_per_visit"],
            hit_seconds=given["hit_seconds"],
            visits_per_participant=given["visits_per_participant"],
            settle_seconds=given["settle_seconds"],
            screening_cents=_amount("--screening-pay", given["screening_pay"]),
            screen_out_cents=_amount("--screen-out-pay", given["screen_out_pay"]),
            has_webhooks=given["webhooks"],
            consent=given["consent"],
        ),
    )


def _amount(option: str, text: str) -> int:
    try:
        return cents_from_text(text or "0")
    except ValueError as fault:
        raise ConfigError([f"{option}: {fault}"]) from fault


def _start(given: _Given) -> datetime | None:
    from piecework.marketplace.state import clock
    from piecework.marketplace.state.backend import is_begun

    if not given["start"]:
        return None
    if not given["rehearsal"]:
        raise ConfigError(["--start is for a rehearsal; live, time is the machine's"])
    if is_begun(given["database"]):
        raise ConfigError(
            [f"--start is for a new file; {given['database']} has its own time"],
            next_step="PUT /rehearsal/clock moves it on; or take another --database",
        )
    try:
        return clock.moment_of(given["start"])
    except (ValueError, OverflowError) as fault:
        raise ConfigError([f"--start: {fault}"]) from fault


def _certificate(given: _Given) -> "Certificate | None":
    from piecework.webserver.server import Certificate

    if given["tls"] is None:
        return None
    chain, key = given["tls"]
    return Certificate(chain=chain, key=key)


def _aws_proxy(given: _Given) -> "AwsProxy":
    from piecework.marketplace.aws_proxy import authority

    database = given["database"]
    return authority.establish(
        database.with_name(f"{database.stem}-aws"),
        now=SystemClock().now(),
        port=given["aws_port"],
        proxy_port=given["proxy_port"],
    )
