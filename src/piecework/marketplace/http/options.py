"""The options of a marketplace, and its addresses once it runs."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from piecework.foundation.server.connections import Limits
from piecework.foundation.server.server import Certificate
from piecework.foundation.server.stand_in.settings import RunningStandIn, StandIn
from piecework.marketplace.state import accounts
from piecework.marketplace.state.money import MTURK, PriceList
from piecework.marketplace.state.outside_crowd import OutsideCrowd
from piecework.marketplace.watching.access_log import AccessLog
from piecework.marketplace.watching.replica import Replica

if TYPE_CHECKING:
    from collections.abc import Callable

    from piecework.foundation.signin.provider import Provider

    # Loads prometheus_client, which most processes do not need.
    from piecework.marketplace.watching.metrics import MetricsPort


class Options(TypedDict, total=False):
    """Keyword arguments of `Marketplace`."""

    rehearsal: bool
    seed: int
    start: datetime | None
    clock_runs: bool
    balance_cents: int
    prices: PriceList
    pictures: Path | str | None
    host: str
    port: int
    frames_port: int
    trust_local: bool
    certificate: Certificate | None
    site_url: str
    frames_url: str
    aws_proxy: StandIn | None
    notify_url: str
    limits: Limits
    crowds: tuple[OutsideCrowd, ...]
    consent: tuple[str, ...]
    spend_at_most_cents: int | None
    clock_is_right: bool
    metrics: "MetricsPort | None"
    access_log: AccessLog | None
    replica: Replica | None
    replica_limit_seconds: int
    provider_at: "Callable[[str], Provider] | None"


@dataclass(frozen=True, slots=True)
class Marketplace:
    """The options of a marketplace.

    Attributes:
        database: its file; created if missing.
        rehearsal: virtual time, deterministic ids, controls, accounts on first sight.
        seed: the seed of a rehearsal's ids.
        start: virtual time at the first start; later the database has the time.
        clock_runs: a rehearsal's time runs on its own, from today without a start.
        balance_cents: a requester's balance when a rehearsal first sees the access key.
        prices: its currency and fees; the currency is fixed once it holds money.
        pictures: a folder, or the address of a bucket, that both origins serve as
            `/pictures/`.
        host: address to bind.
        port: the port of the site and the requester API; 0 takes a free one.
        frames_port: the port of the frames; 0 takes a free one.
        trust_local: signatures are not checked; loopback only.
        certificate: the certificate of the site and the frames, which then use TLS.
        site_url: the site's origin for browsers, if different.
        frames_url: the same for the frames; `https://*.NAME` gives each requester's
            questions a separate origin.
        stand_in: settings for answering as Amazon's hosts, if wanted.
        notify_url: the address on this machine for notifications; "" keeps them
            waiting.
        limits: time limits for silent clients.
        crowds: the markets that send workers as visitors.
        consent: the text, one string per paragraph, to which workers who are not
            participants agree before their first HIT.
        spend_at_most_cents: the spending limit of all requesters together, if any.
        clock_is_right: the operator confirms that the machine's clock is right, though
            it is far ahead of the last time in the database.
        metrics: the port for metrics, if wanted.
        access_log: the log of requests, if wanted.
        replica: the continuous backup of the database, if there is one.
        replica_limit_seconds: how far it may be behind before `/readyz` says so.
        provider_at: makes the provider of OpenID Connect at which invited workers may
            sign in, from the address to which it sends them back.
    """

    database: Path
    rehearsal: bool = False
    seed: int = 0
    start: datetime | None = None
    clock_runs: bool = False
    balance_cents: int = accounts.REHEARSAL_BALANCE_CENTS
    prices: PriceList = MTURK
    pictures: Path | str | None = None
    host: str = "127.0.0.1"
    port: int = 0
    frames_port: int = 0
    trust_local: bool = False
    certificate: Certificate | None = None
    site_url: str = ""
    frames_url: str = ""
    aws_proxy: StandIn | None = None
    notify_url: str = ""
    limits: Limits = Limits()  # noqa: RUF009 - frozen
    crowds: tuple[OutsideCrowd, ...] = ()
    consent: tuple[str, ...] = ()
    spend_at_most_cents: int | None = None
    clock_is_right: bool = False
    metrics: "MetricsPort | None" = None
    access_log: AccessLog | None = None
    replica: Replica | None = None
    replica_limit_seconds: int = 300
    provider_at: "Callable[[str], Provider] | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A running marketplace.

    Attributes:
        endpoint_url: the site's origin, which is also boto3's endpoint.
        frames_url: the frames' origin.
        standing_in: the running AWS proxy, if any.
        metrics_url: the address of the metrics; "" if they are not served.
    """

    endpoint_url: str
    frames_url: str
    aws_proxy: RunningStandIn | None = None
    metrics_url: str = ""
