"""Decisions, which are made once and carried out; proposals, which wait for people."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from piecework.domain.ids import AssignmentId, WorkerId
from piecework.domain.verdicts import Decision, SubjectKind, Verdict
from piecework.store.database import Row, Store, from_text, insert, to_text

_KEEP = """
    INSERT INTO decisions
        (subject_kind, subject_id, verdict, decided_by, decided_at, because)
    SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'),
        json_extract(value, '$[2]'), json_extract(value, '$[3]'),
        json_extract(value, '$[4]'), json_extract(value, '$[5]')
    FROM json_each(?) AS listed WHERE NOT EXISTS (
        SELECT 1 FROM decisions WHERE subject_kind = json_extract(value, '$[0]')
        AND subject_id = json_extract(value, '$[1]')
        AND NOT (subject_kind = 'worker' AND verdict = 'keep')
    ) ORDER BY key
"""
_LATEST_OF_WORKERS = """
    SELECT *, (
        SELECT count(*) FROM decisions AS alike
        WHERE alike.subject_kind = 'worker' AND alike.subject_id = decisions.subject_id
        AND alike.verdict = decisions.verdict
    ) AS times FROM decisions WHERE decision_id IN (
        SELECT max(decision_id) FROM decisions
        WHERE subject_kind = 'worker' GROUP BY subject_id)
"""
_JOIN_INTENTS = """
    LEFT JOIN intents ON intents.operation = latest.verdict
    AND intents.subject_kind = 'worker' AND intents.subject_id = latest.subject_id
    AND intents.times = latest.times
"""
"""The acts that carry out the latest decisions about workers."""


def keep_decisions(store: Store, decisions: Iterable[Decision]) -> int:
    """Store decisions about undecided subjects; return how many were new.

    Only a worker's `keep_decisions` may be followed by another decision: it was about one batch.
    """
    decided = set()
    rows = []
    for decision in decisions:
        subject = (decision.subject_kind, decision.subject_id)
        if subject not in decided:
            rows.append(list(row_of(decision).values()))
        if (decision.subject_kind, decision.verdict) != ("worker", "keep"):
            decided.add(subject)
    if not rows:
        return 0
    # One statement, because triggers of PostgreSQL work once for each.
    return store.db.execute(_KEEP, [json.dumps(rows)]).rowcount


def overrule(store: Store, decisions: Iterable[Decision]) -> None:
    """Store decisions about decided subjects; the later holds, both stay stored.

    Part of the caller's transaction.
    """
    insert(store, "decisions", map(row_of, decisions))


def load_decisions(
    store: Store, *kinds: SubjectKind, verdicts: Sequence[Verdict] = ()
) -> list[Decision]:
    """Return decisions in force, in the order in which subjects were first decided.

    Args:
        store: the campaign's memory.
        kinds: kinds of subjects; all by default.
        verdicts: only these; all by default.
    """
    conditions = []
    if kinds:
        conditions.append(f"subject_kind IN ({', '.join('?' * len(kinds))})")
    if verdicts:
        conditions.append(f"verdict IN ({', '.join('?' * len(verdicts))})")
    chosen = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    rows = store.db.query(
        "SELECT decisions.* FROM (SELECT max(decision_id) AS latest, "
        "min(decision_id) AS first FROM decisions "
        "GROUP BY subject_kind, subject_id) AS ends "
        f"JOIN decisions ON decision_id = latest {chosen} ORDER BY first",
        [*kinds, *verdicts],
    )
    return [_decision(row) for row in rows]


def latest_decisions(store: Store, subjects: Iterable[tuple[SubjectKind, str]]) -> list[Decision]:
    """Return the decisions in force about these subjects, in their order."""
    rows = store.db.query(
        "SELECT decisions.* FROM (SELECT chosen.key AS number, ("
        "SELECT max(decision_id) FROM decisions "
        "WHERE subject_kind = json_extract(chosen.value, '$[0]') "
        "AND subject_id = json_extract(chosen.value, '$[1]')) AS latest "
        "FROM json_each(?) AS chosen) AS ends JOIN decisions ON decision_id = latest "
        "ORDER BY number",
        [json.dumps(list(subjects))],
    )
    return [_decision(row) for row in rows]


def marks(
    store: Store, assignment_ids: Iterable[AssignmentId], *workers: WorkerId
) -> list[tuple[int, str]]:
    """Return number and time of all decisions about assignments, answers and workers.

    The result changes with every decision and every undo.
    """
    whole = json.dumps(list(assignment_ids))
    rows = store.db.execute(
        "SELECT decision_id, decided_at FROM decisions WHERE subject_kind = 'answer' "
        "AND subject_id IN (SELECT answer_id FROM answers "
        "WHERE assignment_id IN (SELECT value FROM json_each(?))) "
        "UNION ALL SELECT decision_id, decided_at FROM decisions "
        "WHERE subject_kind = 'assignment' "
        "AND subject_id IN (SELECT value FROM json_each(?)) "
        "UNION ALL SELECT decision_id, decided_at FROM decisions "
        "WHERE subject_kind = 'worker' "
        "AND subject_id IN (SELECT value FROM json_each(?)) ORDER BY 1",
        [whole, whole, json.dumps(workers)],
    )
    return list(rows)


def alike(
    store: Store, subjects: Mapping[SubjectKind, Iterable[str]]
) -> list[tuple[Decision, int]]:
    """Return the decisions in force about these subjects, grouped if they are equal.

    Args:
        store: the campaign's memory.
        subjects: ids by kind.

    Returns:
        The newest decision of each group with the same verdict, reason, person and kind
        of subject, and the group's size; in the order in which they were first made.
    """
    groups: list[tuple[Decision, int]] = []
    for kind, names in subjects.items():
        rows = store.db.query(
            "SELECT decisions.*, times FROM (SELECT max(decision_id) AS newest, "
            "min(decision_id) AS oldest, count(*) AS times FROM decisions "
            "WHERE decision_id IN (SELECT max(decision_id) FROM decisions "
            "WHERE subject_kind = ? AND subject_id IN (SELECT value FROM json_each(?)) "
            "GROUP BY subject_id) GROUP BY verdict, decided_by, because) AS alike "
            "JOIN decisions ON decision_id = newest ORDER BY oldest",
            [kind, json.dumps(list(names))],
        )
        groups += [(_decision(row), int(row["times"])) for row in rows]
    return groups


def by_people(store: Store, *kinds: SubjectKind) -> dict[tuple[SubjectKind, str], Verdict]:
    """Return the last verdict of a person about each subject of these kinds, if any."""
    marks = ", ".join("?" * len(kinds))
    rows = store.db.execute(
        f"SELECT subject_kind, subject_id, verdict FROM decisions WHERE subject_kind IN ({marks}) "
        "AND substr(decided_by, 1, 7) <> 'policy:' ORDER BY decision_id",
        kinds,
    )
    return {(kind, name): verdict for kind, name, verdict in rows}


def all_by_people(store: Store) -> list[Decision]:
    """Return every decision that a person made and did not take back, oldest first."""
    rows = store.db.query(
        "SELECT * FROM decisions WHERE substr(decided_by, 1, 7) <> 'policy:' ORDER BY decision_id"
    )
    return [_decision(row) for row in rows]


def times_of_policy(store: Store) -> dict[str, datetime]:
    """Return when the policy decided about each assignment that it decided about."""
    rows = store.db.execute(
        "SELECT subject_id, max(decided_at) FROM decisions WHERE subject_kind = 'assignment' "
        "AND substr(decided_by, 1, 7) = 'policy:' GROUP BY subject_id"
    )
    return {name: from_text(decided_at) for name, decided_at in rows}


def unsettled(store: Store, *verdicts: Verdict) -> list[Decision]:
    """Return decisions with these verdicts that were not carried out, in their order."""
    rows = store.db.query(
        "SELECT decisions.* FROM ("
        "SELECT (SELECT max(decision_id) FROM decisions WHERE subject_kind = 'assignment' "
        "AND subject_id = assignment_id) AS open_id FROM assignments "
        "WHERE verdict IS NOT NULL AND outcome IS NULL UNION ALL "
        f"SELECT decision_id FROM ({_LATEST_OF_WORKERS}) AS latest {_JOIN_INTENTS} "
        "WHERE latest.verdict <> 'keep' AND done_at IS NULL) AS open "
        "JOIN decisions ON decision_id = open_id "
        "WHERE verdict IN (SELECT value FROM json_each(?)) ORDER BY decision_id",
        [json.dumps(verdicts)],
    )
    return [_decision(row) for row in rows]


def count_unsettled(store: Store) -> int:
    """Return how many decisions are not carried out yet."""
    (number,) = store.db.execute(
        "SELECT (SELECT coalesce(sum(subjects), 0) FROM verdict_counts "
        "WHERE subject_kind = 'assignment' AND verdict <> '' AND outcome = '') + "
        f"(SELECT count(*) FROM ({_LATEST_OF_WORKERS}) AS latest {_JOIN_INTENTS} WHERE "
        "latest.verdict IN ('exclude', 'block', 'include') AND done_at IS NULL)"
    ).fetchone()
    return int(number)


def about_workers(store: Store) -> dict[WorkerId, list[Decision]]:
    """Return all decisions ever made about each worker, with the one in force last."""
    history: dict[WorkerId, list[Decision]] = {}
    for row in store.db.query(
        "SELECT * FROM decisions WHERE subject_kind = 'worker' ORDER BY decision_id"
    ):
        history.setdefault(WorkerId(row["subject_id"]), []).append(_decision(row))
    return history


def times(store: Store, worker_ids: Iterable[WorkerId]) -> dict[tuple[str, Verdict], int]:
    """Return how often each of these workers had each verdict, if ever."""
    rows = store.db.execute(
        "SELECT subject_id, verdict, count(*) FROM decisions WHERE subject_kind = 'worker' "
        "AND subject_id IN (SELECT value FROM json_each(?)) GROUP BY 1, 2",
        [json.dumps(list(worker_ids))],
    )
    return {(worker_id, verdict): number for worker_id, verdict, number in rows}


def decided_workers(store: Store, batch: int) -> set[str]:
    """Return workers who need no further decision in a batch.

    A worker who was kept before its last HIT was collected may get another decision.
    """
    rows = store.db.execute(
        f"SELECT subject_id FROM ({_LATEST_OF_WORKERS}) AS latest WHERE verdict <> 'keep' "
        "OR decided_at >= coalesce((SELECT max(collected_at) FROM hits WHERE batch = ?), '')",
        [batch],
    )
    return {str(worker_id) for (worker_id,) in rows}


def keep_proposals(store: Store, proposals: Iterable[Decision]) -> None:
    """Store what the policy proposes to a person, and delete older proposals.

    Subjects that a person has decided since then are left out. Part of the caller's
    transaction.
    """
    store.db.execute("DELETE FROM proposals")
    store.db.executemany(
        "INSERT INTO proposals (subject_kind, subject_id, verdict, because) "
        "SELECT :subject_kind, :subject_id, :verdict, :because "
        "WHERE NOT EXISTS (SELECT 1 FROM decisions "
        "WHERE subject_kind = :subject_kind AND subject_id = :subject_id "
        "AND (subject_kind <> 'worker' OR decided_at >= :decided_at))",
        map(row_of, proposals),
    )


def proposals(store: Store, *, decided_by: str, at: datetime) -> list[Decision]:
    """Return what waits for a person, as decisions that the policy would make.

    Args:
        store: the campaign's memory.
        decided_by: the value of `decided_by` in each of them.
        at: the value of `decided_at` in each of them.
    """
    return [
        Decision(
            subject_kind=row["subject_kind"],
            subject_id=row["subject_id"],
            verdict=row["verdict"],
            decided_by=decided_by,
            decided_at=at,
            because=row["because"],
        )
        for row in store.db.query("SELECT * FROM proposals ORDER BY 1, 2")
    ]


def proposed(
    store: Store, subjects: Iterable[tuple[SubjectKind, str]] | None = None
) -> dict[tuple[SubjectKind, str], tuple[Verdict, str]]:
    """Return verdict and reason of proposals: of these subjects, or of all."""
    columns = "SELECT subject_kind, subject_id, verdict, because FROM"
    if subjects is None:
        rows = store.db.execute(f"{columns} proposals ORDER BY 1, 2")
    else:
        rows = store.db.execute(
            f"{columns} json_each(?) AS chosen JOIN proposals "
            "ON subject_kind = json_extract(chosen.value, '$[0]') "
            "AND subject_id = json_extract(chosen.value, '$[1]')",
            [json.dumps(list(subjects))],
        )
    return {(kind, name): (verdict, because) for kind, name, verdict, because in rows}


def count_proposals(store: Store) -> int:
    """Return how many subjects wait for a person."""
    (number,) = store.db.execute("SELECT count(*) FROM proposals").fetchone()
    return int(number)


def count_cards(store: Store) -> int:
    """Return how many cards wait for a person: an assignment goes with its answers."""
    (number,) = store.db.execute(
        "SELECT count(*) FROM proposals WHERE subject_kind <> 'assignment' OR "
        "NOT EXISTS (SELECT 1 FROM answers WHERE assignment_id = subject_id "
        "AND verdict IS NULL)"
    ).fetchone()
    return int(number)


def proposed_assignments(store: Store) -> frozenset[AssignmentId]:
    """Return assignments that wait for a person, or that have an answer that waits."""
    rows = store.db.execute(
        "SELECT subject_id FROM proposals WHERE subject_kind = 'assignment' UNION "
        "SELECT assignment_id FROM proposals JOIN answers ON answer_id = subject_id "
        "WHERE subject_kind = 'answer'"
    )
    return frozenset(AssignmentId(assignment_id) for (assignment_id,) in rows)


def row_of(decision: Decision) -> Row:
    """Return the cells of a decision, as the table has them."""
    return {
        "subject_kind": decision.subject_kind,
        "subject_id": decision.subject_id,
        "verdict": decision.verdict,
        "decided_by": decision.decided_by,
        "decided_at": to_text(decision.decided_at),
        "because": decision.because,
    }


def _decision(row: Row) -> Decision:
    return Decision(
        subject_kind=row["subject_kind"],  # type: ignore[arg-type]
        subject_id=str(row["subject_id"]),
        verdict=row["verdict"],  # type: ignore[arg-type]
        decided_by=str(row["decided_by"]),
        decided_at=from_text(str(row["decided_at"])),
        because=str(row["because"]),
    )


def edition(store: Store) -> str:
    """Return a text that changes with every decision about answers, and every undo.

    It is "" before any decision. The number of a deleted decision may be used again.
    """
    latest = store.db.execute(
        "SELECT decision_id, decided_at FROM decisions ORDER BY decision_id DESC LIMIT 1"
    ).fetchone()
    if latest is None:
        return ""
    counts = store.db.execute(
        "SELECT verdict, subjects FROM verdict_counts WHERE subject_kind = 'answer' "
        "ORDER BY verdict"
    )
    return json.dumps([*latest, *counts])
