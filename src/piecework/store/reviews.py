"""What reviewers did, act by act; each act can be undone until it has effects."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from piecework.domain.review import Review
from piecework.domain.verdicts import Decision, Subject
from piecework.store.columns import Row, from_text, insert, to_text
from piecework.store.database import Store
from piecework.store.decisions import row_of


def add(store: Store, decisions: Iterable[Decision], *, along: Iterable[Decision]) -> int:
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


def add_second(store: Store, opinions: Iterable[Decision]) -> int:
    """Store a second person's opinions, which do not decide; return the act's number.

    Part of the caller's transaction.
    """
    act = _next_act(store)
    rows = [{**_row(act, opinion), "is_along": 0, "is_second": 1} for opinion in opinions]
    insert(store, "reviews", rows)
    return act


def of_act(store: Store, act: int) -> list[Review]:
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
    undone = of_act(store, act)
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


def in_force(store: Store) -> list[Review]:
    """Return all reviews that were not undone, in order."""
    return _select(store, "1 = 1")


def moments(store: Store) -> Mapping[str, Sequence[datetime]]:
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
