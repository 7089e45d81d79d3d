"""What a marketplace is started with, and where it is once it answers."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypedDict

from piecework.marketplace.aws_proxy.settings import AwsProxy, RunningAwsProxy
from piecework.marketplace.outside_crowd import OutsideCrowd
from piecework.marketplace.state import accounts
from piecework.marketplace.state.money import MTURK, PriceList
from piecework.webserver.connections import Limits
from piecework.webserver.server import Certificate


class Options(TypedDict, total=False):
    """Keyword arguments of `Marketplace`."""

    rehearsal: bool
    seed: int
    start: datetime | None
    clock_runs: bool
    balance_cents: int
    prices: PriceList
    pictures: Path | None
    host: str
    port: int
    frames_port: int
    trust_local: bool
    certificate: Certificate | None
    site_url: str
    frames_url: str
    aws_proxy: AwsProxy | None
    notify_url: str
    limits: Limits
    crowd: OutsideCrowd | None
    consent: tuple[str, ...]
    spend_at_most_cents: int | None
    clock_is_right: bool


@dataclass(frozen=True, slots=True)
class Marketplace:
    """What a marketplace is started with.

    Attributes:
        database: its file; made if it is not there.
        rehearsal: virtual time, deterministic ids, controls, accounts on first sight.
        seed: where a rehearsal's ids come from.
        start: virtual time at the very beginning; later the database knows better.
        clock_runs: a rehearsal's time runs by itself, from today if no start is given.
        balance_cents: what a requester has when a rehearsal first sees the access key.
        prices: its currency and fees; the currency stays once money is in it.
        pictures: a folder served under `/pictures/` of both origins.
        host: address to bind.
        port: of the site and the requester API; 0 takes a free one.
        frames_port: of the frames; 0 takes a free one.
        trust_local: signatures are not checked; loopback only.
        certificate: of the site and the frames, which then speak TLS.
        site_url: the site's origin as browsers reach it, if that is another.
        frames_url: the same of the frames; `https://*.NAME` gives the questions
            of each requester an origin of their own.
        stand_in: what it takes to answer as Amazon's hosts, if it shall.
        notify_url: where on this machine notifications go; "" keeps them waiting.
        limits: how patient it is with clients that say nothing.
        crowd: the market that its workers come from by visits, if there is one.
        consent: what workers who are no participants agree to before their first HIT, a
            paragraph each.
        spend_at_most_cents: of all requesters together; None is no limit.
        clock_is_right: a person says that the machine's clock is right, though it is
            far ahead of the last moment that the database knows.
    """

    database: Path
    rehearsal: bool = False
    seed: int = 0
    start: datetime | None = None
    clock_runs: bool = False
    balance_cents: int = accounts.REHEARSAL_BALANCE_CENTS
    prices: PriceList = MTURK
    pictures: Path | None = None
    host: str = "127.0.0.1"
    port: int = 0
    frames_port: int = 0
    trust_local: bool = False
    certificate: Certificate | None = None
    site_url: str = ""
    frames_url: str = ""
    aws_proxy: AwsProxy | None = None
    notify_url: str = ""
    limits: Limits = Limits()  # noqa: RUF009 - frozen
    crowd: OutsideCrowd | None = None
    consent: tuple[str, ...] = ()
    spend_at_most_cents: int | None = None
    clock_is_right: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A marketplace that answers.

    Attributes:
        endpoint_url: the site's origin; also where boto3 sends its calls.
        frames_url: the frames' origin.
        standing_in: where it answers as Amazon's hosts, if it does.
    """

    endpoint_url: str
    frames_url: str
    aws_proxy: RunningAwsProxy | None = None
