"""Send requesters' messages to participants, each at most once.

A message that may have been sent is not sent again, because a duplicate is worse;
`piecework market prolific status` counts such messages. A message that was waiting when the
server started is first looked for among the participant's messages, because a file
restored from a copy does not know that it was sent.
"""

import sqlite3
from functools import partial

from piecework.foundation.client.errors import Lost, NoAccess, Refused
from piecework.marketplace.state import lineage
from piecework.markets.bridging.studies import of_own_person
from piecework.markets.prolific.bridge.bridge import NAME, Bridge

_MOST_AT_ONCE = 100
"""As many as a requester can write to in one call; Prolific documents no limit."""

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

_SAME = ("worker", "subject", "text")
_SENT = (
    "SELECT count(*) FROM messages WHERE worker = ? AND subject = ? AND text = ? "
    "AND sent_there IN ('Sent', 'Unknown')"
)


def send(bridge: Bridge) -> None:
    """Send all waiting messages; the same text to many goes out in one call."""
    with bridge.backend.transaction() as transaction:
        # The process ended while sending, so their state is unknown.
        transaction.execute(
            "UPDATE messages SET sent_there = 'Unknown' "
            f"WHERE sent_there = 'Sending' AND {of_own_person(NAME)}"
        )
        waiting = transaction.all(_WAITING)
        began_ms = lineage.began_ms(transaction)
    waiting = [each for each in waiting if not _was_sent(bridge, each, began_ms)]
    alike: dict[tuple[str, str], list[sqlite3.Row]] = {}
    for message in waiting:
        if message["study_id"] is None:
            _mark(bridge, [message], "Refused")  # They never visited this requester.
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
        _mark(bridge, [message], "Unknown")
        return True
    with bridge.backend.reading() as transaction:
        known = transaction.first_row(_SENT, *(message[name] for name in _SAME))
    if known is None or there <= known[0]:
        return False
    _mark(bridge, [message], "Sent")
    return True


def _words(text: str) -> list[str]:
    return text.split()


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
