"""Findings, which may be found again, and decisions, which are made once."""

from collections.abc import Iterable, Mapping

from domain.verdicts import Decision, Finding, SubjectKind
from store.database import Store
from store.times import from_text, to_text


def replace_findings(
    store: Store,
    findings: Iterable[Finding],
    *,
    subjects: Mapping[SubjectKind, Iterable[str]],
) -> None:
    """Keep these findings, and no older ones about the same subjects.

    Findings without any suspicion are not kept: they say nothing that a missing row
    does not say.

    Args:
        store: the campaign's memory.
        findings: what heuristics found, each about one of `subjects`.
        subjects: by kind, everything that was looked at.
    """
    rows = [
        (
            finding.subject_kind,
            finding.subject_id,
            finding.heuristic,
            finding.version,
            finding.suspicion,
            finding.flag,
            finding.evidence,
        )
        for finding in findings
        if finding.flag or finding.suspicion > 0
    ]
    looked_at = [(kind, subject) for kind, many in subjects.items() for subject in many]
    with store.db.atomic():
        store.db.conn.executemany(
            "DELETE FROM findings WHERE subject_kind = ? AND subject_id = ?", looked_at
        )
        store.db.conn.executemany(
            "INSERT INTO findings VALUES (?, ?, ?, ?, ?, ?, ?)", rows
        )


def findings(store: Store) -> list[Finding]:
    """All findings that are kept."""
    return [
        Finding(**{**row, "flag": bool(row["flag"])})
        for row in store.db.query(
            "SELECT * FROM findings ORDER BY subject_kind, subject_id, heuristic"
        )
    ]


def keep_decisions(store: Store, decisions: Iterable[Decision]) -> int:
    """Keep decisions about subjects that have none; how many were new.

    Only `keep` of a worker may be followed by another: it was about one batch.
    """
    rows = [
        (
            decision.subject_kind,
            decision.subject_id,
            decision.verdict,
            decision.decided_by,
            to_text(decision.decided_at),
            decision.because,
        )
        for decision in decisions
    ]
    before = _count(store)
    with store.db.atomic():
        store.db.conn.executemany(
            "INSERT INTO decisions "
            "(subject_kind, subject_id, verdict, decided_by, decided_at, because) "
            "SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE NOT EXISTS ("
            "SELECT 1 FROM decisions WHERE subject_kind = ?1 AND subject_id = ?2 "
            "AND NOT (subject_kind = 'worker' AND verdict = 'keep'))",
            rows,
        )
    return _count(store) - before


def overrule(store: Store, decisions: Iterable[Decision]) -> None:
    """Keep decisions about subjects that have one; the later holds, both are kept.

    Part of the caller's transaction.
    """
    store.db.conn.executemany(
        "INSERT INTO decisions "
        "(subject_kind, subject_id, verdict, decided_by, decided_at, because) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        [
            (
                decision.subject_kind,
                decision.subject_id,
                decision.verdict,
                decision.decided_by,
                to_text(decision.decided_at),
                decision.because,
            )
            for decision in decisions
        ],
    )


def decisions(store: Store) -> list[Decision]:
    """All decisions, in the order they were made."""
    return [
        Decision(
            subject_kind=row["subject_kind"],
            subject_id=row["subject_id"],
            verdict=row["verdict"],
            decided_by=row["decided_by"],
            decided_at=from_text(row["decided_at"]),
            because=row["because"],
        )
        for row in store.db.query("SELECT * FROM decisions ORDER BY decision_id")
    ]


def _count(store: Store) -> int:
    return int(store.db.execute("SELECT count(*) FROM decisions").fetchone()[0])
