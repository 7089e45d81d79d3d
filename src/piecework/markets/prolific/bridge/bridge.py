"""One round of the bridge to Prolific, and the messages between workers and requester.

A message that may have been sent is not sent again, because a duplicate is worse;
`piecework market prolific status` counts such messages. A message that was waiting when the
server started is first looked for among the participant's messages, because a file
restored from a copy does not know that it was sent.
"""

import logging
import sqlite3
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

from piecework.foundation.client.calls import Money
from piecework.foundation.client.errors import Lost, NoAccess, Refused
from piecework.marketplace.state import lineage
from piecework.markets.bridging import accounts
from piecework.markets.bridging.studies import waiting_messages
from piecework.markets.prolific.client import Prolific
from piecework.markets.prolific.resources.recruiting import FilterKind
from piecework.markets.prolific.resources.studies import Device
from piecework.markets.prolific.resources.submissions import Submission

MINUTE = 60_000
DAY = 24 * 60 * MINUTE


NAME = "prolific"
"""How the marketplace's tables name this market."""

FEW_ELIGIBLE = (
    "fewer than 25 participants at Prolific meet the requirements, so the study may "
    "not fill; see `piecework check --reach`"
)
"""What people read about a study whose eligible participants Prolific counts as 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How studies are set up, and how much may be spent on them.

    Attributes:
        workspace_id: the workspace that pays.
        project_id: the project of the studies.
        site_url: the marketplace's site, as participants' browsers reach it.
        currency: the workspace's currency.
        is_live: whether studies are published; otherwise they stay drafts.
        spend_at_most_cents: the cap for all studies and bonuses, including fees and
            tax.
        least_per_hour_cents: the minimum hourly pay at Prolific.
        recommended_per_hour_cents: the recommended hourly pay, used to estimate a HIT's
            time until enough HITs are done.
        hits_per_visit: HITs in a place; 0 derives it from the time they take.
        visit_seconds: the target length of a visit if `hits_per_visit` is 0.
        hit_seconds: how long a HIT takes; 0 if unknown.
        visits_per_participant: visits allowed per participant and study.
        screening_cents: the pay for taking a test; 0 offers no tests.
        screen_out_cents: the pay for participants who arrive but find no work; 0 pays
            nothing.
        screening_places: participants who take a test before the results are checked.
        return_days: days a participant has to return a submission rejected here.
        settle_seconds: posts less than this far apart share one study.
        bonus_pause_seconds: how long no bonus is paid after the server's start, because
            a bonus paid before it may show at Prolific this much later.
        grace_seconds: how long a participant has to enter the code themselves.
        devices: the devices allowed; an empty list allows any.
    """

    workspace_id: str
    project_id: str
    site_url: str
    currency: str
    is_live: bool = False
    spend_at_most_cents: int = 0
    least_per_hour_cents: int = 0
    recommended_per_hour_cents: int = 0
    hits_per_visit: int = 0
    visit_seconds: int = 180
    hit_seconds: int = 0
    visits_per_participant: int = 10
    screening_cents: int = 0
    screen_out_cents: int = 0
    screening_places: int = 20
    return_days: int = 7
    settle_seconds: int = 20
    bonus_pause_seconds: int = 600
    grace_seconds: int = 180
    devices: tuple[Device, ...] = ()

    def money(self, cents: int) -> Money:
        """Return an amount in the workspace's currency."""
        return Money(minor=cents, currency=self.currency)


LOG = logging.getLogger("piecework.markets.prolific.bridge")


@dataclass(slots=True)
class Bridge(accounts.Bridge):
    """A marketplace and Prolific together.

    Attributes:
        prolific: the client; it makes one call at a time.
        terms: what the bridge may do.
        submissions: as last read, by study (row id) and submission.
        counts: by status and study, as read with `submissions`.
        unclear: studies that stopped recruiting, and whose list did not yet show why.
        approving: when Prolific was asked to approve a submission, in milliseconds; it
            approves some time after its answer.
        members: of participant groups, as last read or changed.
        filter_kinds: the filters Prolific offers, read once.
        is_throttled: whether Prolific refused a study in this step because of too many
            calls.
        rests_until_ms: until when it asked to wait, by the monotonic clock.
        listed: studies of the project by internal name, as this step read them.
        suspects_before_ms: a submission begun before this time, ended by its code and
            without answers here may have lost them; None is the server's start.
        began_ms: when the comparison began, by the monotonic clock.
        paying_ms: likewise, when each batch of bonuses was paid or first checked.
    """

    name: ClassVar[str] = NAME
    market: ClassVar[str] = "Prolific"
    prolific: Prolific
    terms: Terms
    submissions: dict[int, dict[str, Submission]] = field(default_factory=dict)
    counts: dict[int, dict[str, int]] = field(default_factory=dict)
    unclear: set[int] = field(default_factory=set)
    approving: dict[str, int] = field(default_factory=dict)
    members: dict[str, set[str]] = field(default_factory=dict)
    filter_kinds: dict[str, FilterKind] = field(default_factory=dict)
    is_throttled: bool = False
    rests_until_ms: int = 0
    listed: dict[str, str] | None = None
    suspects_before_ms: int | None = None
    began_ms: int = 0
    paying_ms: dict[int, int] = field(default_factory=dict)


_MOST_AT_ONCE = 100
"""As many as a requester can write to in one call; Prolific documents no limit."""

_SAME = ("worker", "subject", "text")
_SENT = (
    "SELECT count(*) FROM messages WHERE worker = ? AND subject = ? AND text = ? "
    "AND sent_there IN ('Sent', 'Unknown')"
)


def send(bridge: Bridge) -> None:
    """Send all waiting messages; the same text to many goes out in one call."""
    with bridge.backend.transaction() as transaction:
        waiting = waiting_messages(transaction, NAME)
        began_ms = lineage.began_ms(transaction)
    waiting = [each for each in waiting if not _was_sent(bridge, each, began_ms)]
    alike: dict[tuple[str, str], list[sqlite3.Row]] = {}
    for message in waiting:
        if message["study_id"] is None:
            bridge.mark([message], "Refused")  # They never visited this requester.
            continue
        body = f"{message['subject']}\n\n{message['text']}"
        alike.setdefault((message["study_id"], body), []).append(message)
    for (study_id, body), same in alike.items():
        for first in range(0, len(same), _MOST_AT_ONCE):
            some = same[first : first + _MOST_AT_ONCE]
            bridge.tried(partial(_send, bridge, study_id, body, some))


def _was_sent(bridge: Bridge, message: sqlite3.Row, began_ms: int) -> bool:
    """Return whether a waiting message was sent after the file was copied."""
    if message["sent_ms"] >= began_ms:
        return False
    participant = message["participant_id"]
    body = _words(f"{message['subject']}\n\n{message['text']}")
    try:
        there = sum(
            each.sender_id != participant and _words(each.body) == body
            for each in bridge.prolific.messages.with_participant(participant)
        )
    except NoAccess:
        bridge.mark([message], "Unknown")
        return True
    with bridge.backend.reading() as transaction:
        known = transaction.first_row(_SENT, *(message[name] for name in _SAME))
    if known is None or there <= known[0]:
        return False
    bridge.mark([message], "Sent")
    return True


def _words(text: str) -> list[str]:
    return text.split()


def _send(bridge: Bridge, study_id: str, body: str, same: list[sqlite3.Row]) -> None:
    bridge.mark(same, "Sending")
    bridge.changes += 1
    recipients = [message["participant_id"] for message in same]
    try:
        if len(recipients) == 1:
            bridge.prolific.messages.send(recipients[0], body, study_id=study_id)
        else:
            bridge.prolific.messages.send_bulk(recipients, body, study_id=study_id)
    except Lost:
        bridge.mark(same, "Unknown")
        raise
    except Refused as refusal:
        bridge.mark(same, None if refusal.may_pass else "Refused")
        raise
    bridge.mark(same, "Sent")
