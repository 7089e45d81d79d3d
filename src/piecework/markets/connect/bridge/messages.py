"""Send requesters' messages to participants, each at most once.

A message that may have been sent is not sent again, because a duplicate is worse. A
file restored from a copy does not know what was sent, and how Connect lists messages
was not read. So messages that were waiting when the server started are left to a
person; `piecework market connect status` counts them.
"""

import sqlite3
from functools import partial

from piecework.foundation.client.errors import Lost, Refused
from piecework.marketplace.state import lineage
from piecework.markets.bridging.studies import of_own_person
from piecework.markets.connect.bridge.bridge import NAME, Bridge

_WAITING = (
    "SELECT messages.*, participants.participant_id, (SELECT studies.study_id "
    "FROM visits JOIN studies ON studies.id = visits.study "
    "JOIN hit_types ON hit_types.id = studies.hit_type "
    "WHERE visits.worker = messages.worker "
    "AND hit_types.requester = messages.requester "
    "ORDER BY visits.id DESC LIMIT 1) AS study_id FROM messages "
    "JOIN participants ON participants.worker = messages.worker "
    f"WHERE sent_there IS NULL AND market = '{NAME}' ORDER BY messages.id"
)


def send(bridge: Bridge) -> None:
    """Send all waiting messages."""
    with bridge.backend.transaction() as transaction:
        # The process ended while sending, so their state is unknown.
        transaction.execute(
            "UPDATE messages SET sent_there = 'Unknown' "
            f"WHERE sent_there = 'Sending' AND {of_own_person(NAME)}"
        )
        transaction.execute(
            "UPDATE messages SET sent_there = 'Unknown' "
            f"WHERE sent_there IS NULL AND sent_ms < ? AND {of_own_person(NAME)}",
            lineage.began_ms(transaction),
        )
        waiting = transaction.all(_WAITING)
    for message in waiting:
        bridge.tried(partial(_send, bridge, message))


def _send(bridge: Bridge, message: sqlite3.Row) -> None:
    if message["study_id"] is None:
        _mark(bridge, message, "Refused")  # They never visited this requester.
        return
    _mark(bridge, message, "Sending")
    bridge.changes += 1
    try:
        bridge.connect.messages.send(
            message["participant_id"],
            project_id=message["study_id"],
            subject=message["subject"],
            text=message["text"],
        )
    except Lost:
        _mark(bridge, message, "Unknown")
        raise
    except Refused as refusal:
        _mark(bridge, message, None if refusal.may_pass else "Refused")
        raise
    _mark(bridge, message, "Sent")


def _mark(bridge: Bridge, message: sqlite3.Row, mark: str | None) -> None:
    with bridge.backend.transaction() as transaction:
        transaction.execute("UPDATE messages SET sent_there = ? WHERE id = ?", mark, message["id"])
