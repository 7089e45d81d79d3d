"""A bridge: a marketplace's database, an account at Connect, and the terms of its work."""

import logging
from dataclasses import dataclass, field
from typing import ClassVar

from piecework.markets.bridging import accounts
from piecework.markets.connect.client import Connect
from piecework.markets.connect.resources.assignments import Assignment
from piecework.markets.connect.resources.projects import Device, Project, Statistics

LEAST_PER_HOUR_CENTS = 750
"""Connect's least pay, as its users report it."""

RECOMMENDED_PER_HOUR_CENTS = 1000
"""The pay that Connect recommends, as its users report it."""

MOST_APPROVAL_SECONDS = 13 * 24 * 3600
"""Connect approves by itself after 14 days, so requesters decide before."""


NAME = "connect"
"""How the marketplace's tables name this market."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkNames:
    """The query parameters of a participant's link.

    They were not read in Connect's document, so an operator can name others.
    """

    participant: str = "participantId"
    assignment: str = "assignmentId"
    project: str = "projectId"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How projects are set up, and how much may be spent on them.

    Attributes:
        site_url: the marketplace's site, as participants' browsers reach it.
        is_live: whether projects are published; otherwise they stay unpublished.
        spend_at_most_cents: the cap for all projects and bonuses, with fees.
        hits_per_visit: HITs in a place; 0 derives it from the time they take.
        visit_seconds: the target length of a visit if `hits_per_visit` is 0.
        hit_seconds: how long a HIT takes; 0 if unknown.
        settle_seconds: posts less than this far apart share one project.
        link_names: the query parameters of a participant's link.
        devices: the devices allowed; () allows any.
    """

    site_url: str
    is_live: bool = False
    spend_at_most_cents: int = 0
    hits_per_visit: int = 0
    visit_seconds: int = 300
    hit_seconds: int = 0
    settle_seconds: int = 20
    link_names: LinkNames = LinkNames()
    devices: tuple[Device, ...] = ()


def money(cents: int) -> str:
    """Return an amount for people.

    >>> money(1250)
    '$12.50'
    """
    return f"${cents // 100:,}.{cents % 100:02d}"


LOG = logging.getLogger("piecework.markets.connect.bridge")


@dataclass(slots=True)
class Bridge(accounts.Bridge):
    """A marketplace and Connect together.

    Attributes:
        connect: the client; it makes one call at a time.
        terms: what the bridge may do.
        assignments: finished assignments as last read, by study (row id).
        statistics: counts as read with them, by study.
        asked: when a decision was asked for, in milliseconds, by assignment and act;
            lists may lag behind it.
        listed: projects of the account by internal name, as this step read them.
    """

    name: ClassVar[str] = NAME
    market: ClassVar[str] = "Connect"
    connect: Connect
    terms: Terms
    assignments: dict[int, tuple[Assignment, ...]] = field(default_factory=dict)
    statistics: dict[int, Statistics] = field(default_factory=dict)
    asked: dict[tuple[str, str], int] = field(default_factory=dict)
    listed: dict[str, Project] | None = None
