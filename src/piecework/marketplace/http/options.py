"""The options of a marketplace, and its addresses once it runs."""

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from piecework.foundation.server.limits import Limits
from piecework.foundation.server.server import Certificate
from piecework.foundation.server.stand_in.relay import RunningStandIn, StandIn
from piecework.marketplace.state.backend import Rules
from piecework.marketplace.state.outside_crowd import OutsideCrowd
from piecework.marketplace.watching.access_log import AccessLog

if TYPE_CHECKING:
    from collections.abc import Callable

    from piecework.foundation.signin.provider import Provider

    # Loads prometheus_client, which most processes do not need.
    from piecework.marketplace.watching.metrics import MetricsPort, Replica


@dataclass(frozen=True, slots=True)
class Marketplace(Rules):
    """A marketplace to serve: its rules, its addresses and who watches it.

    Attributes:
        database: its file; created if missing.
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
        aws_proxy: settings for answering as Amazon's hosts, if wanted.
        notify_url: the address on this machine for notifications; "" keeps them
            waiting.
        limits: time limits for silent clients.
        crowds: the markets that send workers as visitors.
        recruits: whether a bridge publishes studies and pays their people.
        consent: the text, one string per paragraph, to which workers who are not
            participants agree before their first HIT.
        metrics: the port for metrics, if wanted.
        access_log: the log of requests, if wanted.
        replica: the continuous backup of the database, if there is one.
        replica_limit_seconds: how far it may be behind before `/readyz` says so.
        provider_at: makes the provider of OpenID Connect at which invited workers may
            sign in, from the address to which it sends them back.
    """

    database: Path
    _: KW_ONLY
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
    recruits: bool = False
    consent: tuple[str, ...] = ()
    metrics: "MetricsPort | None" = None
    access_log: AccessLog | None = None
    replica: "Replica | None" = None
    replica_limit_seconds: int = 300
    provider_at: "Callable[[str], Provider] | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A running marketplace.

    Attributes:
        endpoint_url: the site's origin, which is also boto3's endpoint.
        frames_url: the frames' origin.
        aws_proxy: the running AWS proxy, if any.
        metrics_url: the address of the metrics; "" if they are not served.
    """

    endpoint_url: str
    frames_url: str
    aws_proxy: RunningStandIn | None = None
    metrics_url: str = ""
