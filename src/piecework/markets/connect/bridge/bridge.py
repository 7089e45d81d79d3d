"""One round of the bridge to Connect, and the messages between workers and requester.

A message that may have been sent is not sent again, because a duplicate is worse. A
file restored from a copy does not know what was sent, and how Connect lists messages
was not read. So messages that were waiting when the server started are left to a
person; `piecework market connect status` counts them.
"""

import logging
import sqlite3
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

from piecework.foundation.client.errors import Lost, Refused
from piecework.marketplace.state import lineage
from piecework.markets.bridging import accounts
from piecework.markets.bridging.studies import waiting_messages
from piecework.markets.connect.client import Assignment, Connect, Device, Project, Statistics

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
        bonuses: cents by project and assignment, as this step read them.
    """

    name: ClassVar[str] = NAME
    market: ClassVar[str] = "Connect"
    connect: Connect
    terms: Terms
    assignments: dict[int, tuple[Assignment, ...]] = field(default_factory=dict)
    statistics: dict[int, Statistics] = field(default_factory=dict)
    asked: dict[tuple[str, str], int] = field(default_factory=dict)
    listed: dict[str, Project] | None = None
    bonuses: dict[str, dict[str, int]] = field(default_factory=dict)


def send(bridge: Bridge) -> None:
    """Send all waiting messages."""
    with bridge.backend.transaction() as transaction:
        began_ms = lineage.began_ms(transaction)
        waiting = waiting_messages(transaction, NAME, from_ms=began_ms)
    for message in waiting:
        bridge.tried(partial(_send, bridge, message))


def _send(bridge: Bridge, message: sqlite3.Row) -> None:
    if message["study_id"] is None:
        bridge.mark([message], "Refused")  # They never visited this requester.
        return
    bridge.mark([message], "Sending")
    bridge.changes += 1
    try:
        bridge.connect.messages.send(
            message["participant_id"],
            project_id=message["study_id"],
            subject=message["subject"],
            text=message["text"],
        )
    except Lost:
        bridge.mark([message], "Unknown")
        raise
    except Refused as refusal:
        bridge.mark([message], None if refusal.may_pass else "Refused")
        raise
    bridge.mark([message], "Sent")
