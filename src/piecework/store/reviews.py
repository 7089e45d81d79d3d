"""What reviewers did, act by act, and who signed in to a review or was refused.

Each act can be undone until it has effects. Decisions are in `reviews` and `decisions`;
the trail joins them with the events of `review_events`. Triggers keep rows of both tables
from being changed or deleted.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from piecework.domain.verdicts import Decision, Review, Subject, SubjectKind
from piecework.store.database import Row, Store, from_text, insert, to_text
from piecework.store.decisions import row_of


def add_reviews(store: Store, decisions: Iterable[Decision], *, along: Iterable[Decision]) -> int:
    """Store the decisions of one act together; return the act's number.

    Part of the caller's transaction.

    Args:
        store: the campaign's memory.
        decisions: what the reviewer decided.
        along: further decisions that follow from these.
    """
    act = _next_act(store)
    parts = (*((decision, 0) for decision in decisions), *((decision, 1) for decision in along))
    for decision, is_along in parts:
        subject = [decision.subject_kind, decision.subject_id]
        proposal = store.db.execute(
            "SELECT verdict, because FROM proposals WHERE subject_kind = ? AND subject_id = ?",
            subject,
        ).fetchone()
        proposed, proposed_because = proposal or (None, None)
        insert(store, "decisions", [row_of(decision)])
        (decision_id,) = store.db.execute(
            "SELECT max(decision_id) FROM decisions WHERE subject_kind = ? AND subject_id = ?",
            subject,
        ).fetchone()
        row = {
            **_row(act, decision),
            "is_along": is_along,
            "is_second": 0,
            "decision_id": decision_id,
            "proposed": proposed,
            "proposed_because": proposed_because,
        }
        insert(store, "reviews", [row])
    return act


def add_second_opinions(store: Store, opinions: Iterable[Decision]) -> int:
    """Store opinions that decide nothing, as a second person's; return the act's number.

    Part of the caller's transaction.
    """
    act = _next_act(store)
    rows = [{**_row(act, opinion), "is_along": 0, "is_second": 1} for opinion in opinions]
    insert(store, "reviews", rows)
    return act


def reviews_of_act(store: Store, act: int) -> list[Review]:
    """Return what was decided in an act; empty if the act was undone."""
    return _select(store, "act = ?", act)


def last_act(store: Store, reviewer: str) -> int | None:
    """Return the newest act of a reviewer that was not undone."""
    (act,) = store.db.execute(
        "SELECT max(act) FROM reviews WHERE reviewer = ? AND undone_at IS NULL", [reviewer]
    ).fetchone()
    return None if act is None else int(act)


def last_act_about(store: Store, subjects: Iterable[Subject]) -> int | None:
    """Return the newest act that decided one of these and was not undone."""
    acts = [
        store.db.execute(
            "SELECT max(act) FROM reviews WHERE subject_kind = ? AND subject_id = ? "
            "AND undone_at IS NULL AND is_second = 0",
            list(subject),
        ).fetchone()[0]
        for subject in subjects
    ]
    return max((int(act) for act in acts if act is not None), default=None)


def take_back(store: Store, act: int, *, at: datetime, by: str) -> None:
    """Delete the decisions of an act, and restore the proposals that it decided.

    Part of the caller's transaction.

    Args:
        store: the campaign's memory.
        act: the act's number.
        at: the time now.
        by: the person who undoes it.
    """
    undone = reviews_of_act(store, act)
    store.db.executemany(
        "DELETE FROM decisions WHERE decision_id = ?",
        [[review.decision_id] for review in undone if review.decision_id is not None],
    )
    insert(
        store,
        "proposals",
        [
            {
                "subject_kind": review.subject_kind,
                "subject_id": review.subject_id,
                "verdict": review.proposed,
                "because": review.proposed_because,
            }
            for review in undone
            if review.proposed is not None
        ],
        or_ignore=True,
    )
    store.db.execute(
        "UPDATE reviews SET undone_at = ?, undone_by = ? WHERE act = ?", [to_text(at), by, act]
    )


def subjects_since(store: Store, moment: datetime) -> set[Subject]:
    """Return subjects that were reviewed or undone at this time or later."""
    rows = store.db.execute(
        "SELECT subject_kind, subject_id FROM reviews WHERE reviewed_at >= ? OR undone_at >= ?",
        [to_text(moment), to_text(moment)],
    )
    return {(kind, subject_id) for kind, subject_id in rows}


def reviews_in_force(store: Store) -> list[Review]:
    """Return all reviews that were not undone, in order."""
    return _select(store, "1 = 1")


def number_reviewed(store: Store, kind: SubjectKind) -> int:
    """Return how many subjects of a kind people have decided one by one."""
    (number,) = store.db.execute(
        "SELECT count(DISTINCT subject_id) FROM reviews WHERE subject_kind = ? "
        "AND undone_at IS NULL AND is_second = 0 AND is_along = 0",
        [kind],
    ).fetchone()
    return int(number)


def review_times(store: Store) -> Mapping[str, Sequence[datetime]]:
    """Return when each reviewer acted, by name, including undone acts."""
    by_reviewer: dict[str, list[datetime]] = {}
    for reviewer, at in store.db.execute(
        "SELECT min(reviewer), min(reviewed_at) FROM reviews GROUP BY act ORDER BY act"
    ):
        by_reviewer.setdefault(reviewer, []).append(from_text(at))
    return by_reviewer


def _next_act(store: Store) -> int:
    (act,) = store.db.execute("SELECT max(act) FROM reviews").fetchone()
    return int(act or 0) + 1


def _row(act: int, decision: Decision) -> dict[str, object]:
    return {
        "act": act,
        "subject_kind": decision.subject_kind,
        "subject_id": decision.subject_id,
        "verdict": decision.verdict,
        "because": decision.because,
        "reviewer": decision.decided_by,
        "reviewed_at": to_text(decision.decided_at),
    }


def _select(store: Store, condition: str, *values: object) -> list[Review]:
    rows = store.db.query(
        f"SELECT * FROM reviews WHERE undone_at IS NULL AND {condition} ORDER BY review_id",
        list(values),
    )
    return [_review(row) for row in rows]


def _review(row: Row) -> Review:
    return Review(
        act=row["act"],  # type: ignore[arg-type]
        subject_kind=row["subject_kind"],  # type: ignore[arg-type]
        subject_id=str(row["subject_id"]),
        verdict=row["verdict"],  # type: ignore[arg-type]
        because=str(row["because"]),
        reviewer=str(row["reviewer"]),
        reviewed_at=from_text(str(row["reviewed_at"])),
        is_along=bool(row["is_along"]),
        is_second=bool(row["is_second"]),
        decision_id=row["decision_id"],  # type: ignore[arg-type]
        proposed=row["proposed"],  # type: ignore[arg-type]
        proposed_because=row["proposed_because"],  # type: ignore[arg-type]
    )


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


def add_event(
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
