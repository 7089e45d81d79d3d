"""The terms on which a marketplace recruits at Connect."""

from dataclasses import dataclass

from piecework.markets.connect.resources.projects import Device

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


NAME = "connect"
"""How the marketplace's tables name this market."""


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
