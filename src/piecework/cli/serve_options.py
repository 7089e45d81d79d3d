"""The options of `serve`, in groups, and what it opens for an operator who watches."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.options import (
    HOST,
    PORT,
    SITE_ADDRESS,
    TLS,
    CampaignFile,
    WholeNumber,
    grouped,
    is_typed,
)
from piecework.domain.crowds import MARKETS
from piecework.domain.errors import ConfigError
from piecework.markets.registry import markets

if TYPE_CHECKING:
    from piecework.marketplace.watching.access_log import AccessLog
    from piecework.marketplace.watching.metrics import MetricsPort, Replica

_TOKENS = " or ".join(filter(None, (market.token_variable for market in markets())))
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteOptions:
    """Where the marketplace is, what it serves, and who may call it."""

    database: Path
    port: int
    frames_port: int
    host: str
    pictures: str | None
    trust_local: bool
    tls: tuple[Path, Path] | None
    site_url: str
    frames_url: str
    notify_url: str
    consent: Path | None
    clock_is_right: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchingOptions:
    """What an operator watches."""

    metrics_port: int | None
    access_log: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RehearsalOptions:
    """A rehearsal, with a clock of its own."""

    rehearsal: bool
    seed: int
    start: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsOptions:
    """How to answer programs that have Amazon's hosts built in."""

    as_aws: bool
    aws_port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdOptions:
    """Who works: invited people or people from markets, and what holds for every market."""

    crowd: tuple[str, ...]
    public_url: str
    token_file: tuple[str, ...]
    live: bool
    spend_at_most: tuple[str, ...]
    hits_per_visit: int
    hit_seconds: int
    settle_seconds: int

    @property
    def crowds(self) -> tuple[str, ...]:
        """The markets that send people, each once; none for invited people."""
        return tuple(dict.fromkeys(each for each in self.crowd if each != "invited"))


SIMULATED = click.option(
    "--simulate",
    metavar="CAMPAIGN",
    type=CampaignFile(path_type=Path, dir_okay=False),
    help="Let simulated workers do this campaign's HITs; only --port and --frames-port go with it.",
)
_OF_SIMULATED = {"simulate", "port", "frames_port", "log_file", "verbose", "config"}


def simulated(campaign: Path, site: SiteOptions) -> None:
    """Run a marketplace with simulated workers until the campaign is finished.

    Args:
        campaign: the campaign's file.
        site: its ports.

    Raises:
        click.UsageError: an option would have no effect.
    """
    from piecework.simulation.rehearsals.rehearsal import work_between_passes

    stated = {
        each.name: max(each.opts, key=len)
        for each in click.get_current_context().command.params
        if is_typed(str(each.name))
    }
    if strange := [text for name, text in stated.items() if name not in _OF_SIMULATED]:
        raise click.UsageError(f"{', '.join(strange)}: no use with --simulate")
    frames_port = site.frames_port if "frames_port" in stated else 0
    work_between_passes(campaign, port=site.port, frames_port=frames_port, say=click.echo)


SITE = grouped(
    "site",
    SiteOptions,
    click.option(
        "--database",
        type=click.Path(path_type=Path),
        default=Path("marketplace.db"),
        show_default=True,
        help="The marketplace's file.",
    ),
    click.option(
        "--port",
        type=PORT,
        default=8080,
        show_default=True,
        help="Port of the worker site and the API.",
    ),
    click.option(
        "--frames-port",
        type=PORT,
        default=8081,
        show_default=True,
        help="Port of the question pages.",
    ),
    HOST,
    click.option(
        "--pictures",
        metavar="FOLDER|ADDRESS",
        help="Folder, or private bucket such as s3://bucket/photos, to serve under /pictures/.",
    ),
    click.option(
        "--trust-local",
        is_flag=True,
        help="Check no signatures; only this machine may connect.",
    ),
    TLS,
    SITE_ADDRESS,
    click.option(
        "--frames-url",
        default="",
        help="URL at which browsers reach the question pages; https://*.NAME gives "
        "each requester a host.",
    ),
    click.option(
        "--notify-url",
        default="",
        help="Queue or topic server on this machine for notifications.",
    ),
    click.option("--consent", type=_FILE, help="File with the text that workers must agree to."),
    click.option(
        "--clock-is-right",
        is_flag=True,
        help="Confirm once that the time is right (`date -u`), after the clock had jumped.",
    ),
)
WATCHING = grouped(
    "watching",
    WatchingOptions,
    click.option(
        "--metrics-port",
        type=PORT,
        help="Port on 127.0.0.1 for Prometheus; 0 takes a free one.",
    ),
    click.option(
        "--access-log",
        metavar="FILE|-",
        help="File for a line of JSON for each request; - is stdout.",
    ),
)
REHEARSAL = grouped(
    "rehearsing",
    RehearsalOptions,
    click.option(
        "--rehearsal",
        is_flag=True,
        help="Accept any key; programs control the clock and the workers.",
    ),
    click.option("--seed", default=1, show_default=True, help="With --rehearsal: seed of the ids."),
    click.option(
        "--start",
        default="",
        metavar="ISO-TIME",
        help="With --rehearsal and a new file: the first time.",
    ),
)
AWS = grouped(
    "aws",
    AwsOptions,
    click.option(
        "--as-aws",
        is_flag=True,
        help="Answer as Amazon's two hosts, through a proxy on this machine.",
    ),
    click.option(
        "--aws-port",
        type=WholeNumber(0, 65_534),
        default=8443,
        show_default=True,
        help="With --as-aws: port of the HTTPS server; the proxy uses the next.",
    ),
)
CROWDS = grouped(
    "recruiting",
    CrowdOptions,
    click.option(
        "--crowd",
        type=click.Choice(["invited", *MARKETS]),
        multiple=True,
        default=["invited"],
        show_default="invited",
        help="Who works: people whom you invite, or of a market; repeat it for several markets.",
    ),
    click.option(
        "--public-url",
        default="",
        help="With --crowd: URL to which people are sent; the same as --site-url.",
    ),
    click.option(
        "--token-file",
        multiple=True,
        metavar="[CROWD=]FILE",
        help=f"File with the token or key (mode 600), instead of {_TOKENS}.",
    ),
    click.option(
        "--live",
        is_flag=True,
        help="Publish studies and pay participants; without it, studies stay drafts.",
    ),
    click.option(
        "--spend-at-most",
        multiple=True,
        metavar="[CROWD=]AMOUNT",
        help="With --live: cap on studies and bonuses, with fees and tax; one for each crowd.",
    ),
    click.option(
        "--hits-per-visit",
        type=WholeNumber(0, 100),
        default=0,
        help="HITs for each place; default: enough for a few minutes.",
    ),
    click.option(
        "--hit-seconds",
        type=WholeNumber(0, 86_400),
        default=0,
        help="Seconds for a HIT; default: estimated from the reward, then measured.",
    ),
    click.option(
        "--settle-seconds",
        type=WholeNumber(0, 3600),
        default=20,
        show_default=True,
        help="HITs that are posted within this time of each other become one study.",
    ),
)


_FILES_OF_DATABASE = ("", "-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class Watched:
    """The metrics, the access log and the backup, as far as they are wanted."""

    metrics: "MetricsPort | None" = None
    access_log: "AccessLog | None" = None
    replica: "Replica | None" = None


def watched_parts(
    options: WatchingOptions,
    database: Path,
    *,
    has_bridge: bool,
    replica: "Replica | None" = None,
) -> Watched:
    """Return what the operator watches.

    Args:
        options: what is wanted.
        database: the marketplace's file.
        has_bridge: whether a bridge to another market runs in this process.
        replica: the continuous backup of the database, if there is one.

    Raises:
        ConfigError: the access log would be written into the database.
    """
    metrics = access_log = count_lost = None
    if options.metrics_port is not None:
        from piecework.marketplace.watching.metrics import Metrics, MetricsPort

        metrics = MetricsPort(Metrics(has_bridge=has_bridge, replica=replica), options.metrics_port)
        count_lost = metrics.metrics.count_lost_lines
    if options.access_log is not None:
        from piecework.marketplace.watching.access_log import AccessLog

        path = None if options.access_log == "-" else Path(options.access_log)
        if path is not None and _is_of_database(path, database):
            raise ConfigError([f"--access-log: {path} belongs to the marketplace's database"])
        access_log = AccessLog(path, count_lost)
    return Watched(metrics, access_log, replica)


def _is_of_database(path: Path, database: Path) -> bool:
    files = [database.with_name(f"{database.name}{end}").resolve() for end in _FILES_OF_DATABASE]
    return path.resolve() in files
