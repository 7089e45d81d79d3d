"""What requesters write to workers goes to participants, once or not at all.

A message that may have been sent is not sent again: twice is worse than unknown, and
`piecework prolific status` shows which are.
"""

import sqlite3
from functools import partial

from prolific.bridge.bridge import Bridge
from prolific.http.errors import Lost, Refused

_MOST_AT_ONCE = 100
"""As many as a requester writes to in one call; Prolific states no number."""

_WAITING = (
    "SELECT messages.*, participants.participant_id, (SELECT studies.study_id "
    "FROM visits JOIN studies ON studies.id = visits.study "
    "JOIN hit_types ON hit_types.id = studies.hit_type "
    "WHERE visits.worker = messages.worker "
    "AND hit_types.requester = messages.requester "
    "ORDER BY visits.id DESC LIMIT 1) AS study_id FROM messages "
    "JOIN participants ON participants.worker = messages.worker "
    "WHERE sent_there IS NULL ORDER BY messages.id"
)


def send(bridge: Bridge) -> None:
    """Send all messages that wait; the same text to many in one call."""
    with bridge.backend.transaction() as transaction:
        # A process that ended while it sent leaves them so: not known.
        transaction.execute(
            "UPDATE messages SET sent_there = 'Unknown' WHERE sent_there = 'Sending'"
        )
        waiting = transaction.all(_WAITING)
    alike: dict[tuple[str, str], list[sqlite3.Row]] = {}
    for message in waiting:
        if message["study_id"] is None:
            _mark(bridge, [message], "Refused")  # He never came for this requester.
            continue
        body = f"{message['subject']}\n\n{message['text']}"
        alike.setdefault((message["study_id"], body), []).append(message)
    for (study_id, body), same in alike.items():
        for first in range(0, len(same), _MOST_AT_ONCE):
            some = same[first : first + _MOST_AT_ONCE]
            bridge.tried(partial(_send, bridge, study_id, body, some))


def _send(bridge: Bridge, study_id: str, body: str, same: list[sqlite3.Row]) -> None:
    _mark(bridge, same, "Sending")
    bridge.changes += 1
    recipients = [message["participant_id"] for message in same]
    try:
        if len(recipients) == 1:
            bridge.prolific.messages.send(recipients[0], body, study_id=study_id)
        else:
            bridge.prolific.messages.send_bulk(recipients, body, study_id=study_id)
    except Lost:
        _mark(bridge, same, "Unknown")
        raise
    except Refused as refusal:
        _mark(bridge, same, None if refusal.may_pass else "Refused")
        raise
    _mark(bridge, same, "Sent")


def _mark(bridge: Bridge, messages: list[sqlite3.Row], mark: str | None) -> None:
    with bridge.backend.transaction() as transaction:
        transaction.conn.executemany(
            "UPDATE messages SET sent_there = ? WHERE id = ?",
            [(mark, message["id"]) for message in messages],
        )
