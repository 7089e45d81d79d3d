"""Who signed in to a review, who was refused, and what each person did there.

Decisions are in `reviews` and `decisions` already; the trail joins them with the events
of `review_events`. Triggers keep rows of both tables from being changed or deleted.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from piecework.store.columns import from_text, insert, to_text
from piecework.store.database import Store

EventName = Literal[
    "signed in",
    "signed out",
    "refused",
    "word decided",
    "word reopened",
    "label settled",
    "label reopened",
]

# An undone review has the id of a decision that is deleted, and ids are used again.
_TRAIL = """
SELECT at, event, name, role, issuer, subject, about
FROM review_events
UNION ALL
SELECT min(reviewed_at), CASE min(is_second) WHEN 1 THEN 'second opinion'
    ELSE 'decided' END, min(reviewer), '', '', '',
    'act ' || act || ': ' || verdict || ' ' || subject_kind || ' '
    || CASE count(*) WHEN 1 THEN min(subject_id) ELSE '(' || count(*) || ')' END
FROM reviews GROUP BY act, verdict, subject_kind
UNION ALL
SELECT min(undone_at), 'undone', min(coalesce(undone_by, reviewer)), '', '', '',
    'act ' || act || ' of ' || min(reviewer)
FROM reviews WHERE undone_at IS NOT NULL GROUP BY act
UNION ALL
SELECT decided_at, 'decided by a command', decided_by, '', '', '',
    verdict || ' ' || subject_kind || ' ' || subject_id
FROM decisions
WHERE substr(decided_by, 1, 7) <> 'policy:' AND NOT EXISTS
    (SELECT 1 FROM reviews WHERE reviews.decision_id = decisions.decision_id
     AND reviews.undone_at IS NULL)
ORDER BY 1, 2, 7
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A person at the review's page.

    Attributes:
        name: the name that is stored with decisions.
        role: what they may do; "" if nothing.
        issuer: the provider where they signed in; "" for a link.
        subject: the provider's id of the person; "" for a link.
    """

    name: str
    role: str = ""
    issuer: str = ""
    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailEntry:
    """An entry of the audit trail.

    Attributes:
        at: when it happened, in UTC.
        event: what happened.
        identity: who did it; a decision has only the name.
        about: what it is about, such as an act and its verdict.
    """

    at: datetime
    event: str
    identity: Identity
    about: str


def add(
    store: Store, event: EventName, identity: Identity, *, at: datetime, about: str = ""
) -> None:
    """Store an event; part of the caller's transaction."""
    insert(
        store,
        "review_events",
        [
            {
                "at": to_text(at),
                "event": event,
                "name": identity.name,
                "role": identity.role,
                "issuer": identity.issuer,
                "subject": identity.subject,
                "about": about,
            }
        ],
    )


def trail(store: Store) -> Iterator[TrailEntry]:
    """Yield the audit trail, the oldest entry first.

    A decision has the identity under which its author had signed in before it.
    """
    known: dict[str, Identity] = {}
    for at, event, name, role, issuer, subject, about in store.db.execute(_TRAIL):
        identity = Identity(name=name, role=role, issuer=issuer, subject=subject)
        if event == "signed in":
            known[name] = identity
        elif not role and not issuer:
            identity = known.get(name, identity)
        yield TrailEntry(at=from_text(at), event=event, identity=identity, about=about)


def name_of(
    store: Store, issuer: str, subject: str, *, wanted: str, taken: Collection[str] = ()
) -> str:
    """Return a person's name in this store, which no other person has.

    Names from providers are not unique, and people choose them. The first person keeps
    the name, and the second is called "Ada (2)". Part of the caller's transaction.

    Args:
        store: the campaign's memory.
        issuer: the provider.
        subject: the provider's id of the person.
        wanted: the name that the provider states.
        taken: names of people who have links.
    """
    row = store.db.execute(
        "SELECT name FROM reviewers WHERE issuer = ? AND subject = ?", [issuer, subject]
    ).fetchone()
    if row is not None:
        return str(row[0])
    number, name = 1, wanted
    while name in taken or _is_taken(store, name):
        number += 1
        name = f"{wanted} ({number})"
    insert(store, "reviewers", [{"name": name, "issuer": issuer, "subject": subject}])
    return name


def belongs_to_a_person(store: Store, name: str) -> bool:
    """Return whether a person who signs in at a provider has this name."""
    row = store.db.execute("SELECT 1 FROM reviewers WHERE name = ?", [name])
    return row.fetchone() is not None


def _is_taken(store: Store, name: str) -> bool:
    row = store.db.execute(
        "SELECT 1 FROM reviewers WHERE name = ? "
        "UNION ALL SELECT 1 FROM reviews WHERE reviewer = ? "
        "UNION ALL SELECT 1 FROM review_events WHERE name = ? AND issuer = '' LIMIT 1",
        [name, name, name],
    )
    return row.fetchone() is not None
